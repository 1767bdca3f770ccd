// Filters that are compared: all of them build from the same keys and answer the same queries, in
// the same memory, each in its own way.
#ifndef TAMIS_BENCH_CONTENDER_H_
#define TAMIS_BENCH_CONTENDER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/huge_memory.h"
#include "tamis/backend.h"

namespace tamis::bench {

// Where answers go: one bit for each query, or one byte (0 or 1).
struct Answers {
  explicit Answers(size_t queries) : bits((queries + 63) / 64), bytes(queries) {}

  HugeVector<uint64_t> bits;
  HugeVector<uint8_t> bytes;
};

class Contender {
 public:
  Contender(std::string name, unsigned threads, bool answers_in_bits)
      : name_(std::move(name)), threads_(threads), answers_in_bits_(answers_in_bits) {}
  virtual ~Contender() = default;

  const std::string& name() const noexcept { return name_; }
  unsigned threads() const noexcept { return threads_; }
  bool answers_in_bits() const noexcept { return answers_in_bits_; }

  // Makes an empty filter of about `bytes` for `num_keys` in the arena. Close gives the memory
  // back.
  virtual void Open(Arena& arena, uint64_t bytes, uint64_t num_keys) = 0;
  virtual void Close() = 0;
  virtual uint64_t bytes() const = 0;

  // Empties the filter and inserts the keys.
  virtual void Build(std::span<const uint64_t> keys) = 0;
  virtual void Lookup(std::span<const uint64_t> queries, Answers& answers) = 0;

 private:
  std::string name_;
  unsigned threads_;
  bool answers_in_bits_;
};

using Contenders = std::vector<std::unique_ptr<Contender>>;

// Names of the contenders that have a part in the figures that are asked for.
inline constexpr char kOneKey[] = "one key";
inline constexpr char kBulkBits[] = "bulk, bitmap";
inline constexpr char kBulkBytes[] = "bulk, bytes";
inline constexpr char kEngineOne[] = "engine, 1 thread";
inline constexpr char kEngineTwo[] = "engine, 2 threads";
inline constexpr char kBoostBulk[] = "boost bulk";
inline constexpr char kBoostOneKey[] = "boost one key";
inline constexpr char kBoostMurmurBulk[] = "boost bulk, murmur3";
inline constexpr char kBoostMurmurOneKey[] = "boost one key, murmur3";

// Our filters, with one backend. Those that use more threads than `processors` are left out.
Contenders TamisContenders(const Backend& backend, unsigned processors);

// Boost.Bloom's fast_multiblock32<8>, with its own hash and with the finalizer of MurmurHash3; none
// where its headers were not found.
Contenders PeerContenders();

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_CONTENDER_H_
