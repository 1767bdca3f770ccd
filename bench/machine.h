// Facts about the machine and the date of a measurement, and the processor that the measuring
// thread runs on.
#ifndef TAMIS_BENCH_MACHINE_H_
#define TAMIS_BENCH_MACHINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tamis::bench {

// Returns names and values for readers: date, processor, caches, memory, kernel, compiler.
std::vector<std::pair<std::string, std::string>> MachineFacts();

// Bytes of the caches of the first processor. If the system does not report them, the values are
// those of a small machine: 32 KiB, 1 MiB, 8 MiB.
struct CacheSizes {
  uint64_t l1_data = 0;
  uint64_t l2 = 0;
  uint64_t last_level = 0;
};
CacheSizes MachineCaches();

// Keeps the calling thread on one processor while one thread is measured. While several threads are
// measured, lets the calling thread, and the threads that it starts, run on all allowed processors.
class Pinning {
 public:
  // `processor`: a number, or nothing to keep the thread where the system runs it. Throws
  // std::runtime_error if this process may not run there.
  explicit Pinning(std::optional<int> processor);

  void PinTo(unsigned threads) const;

  // Returns the number of processors that this process may run on.
  unsigned processors() const noexcept { return static_cast<unsigned>(allowed_.size()); }

 private:
  std::optional<int> processor_;
  std::vector<int> allowed_;
};

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_MACHINE_H_
