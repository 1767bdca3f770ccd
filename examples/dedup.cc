// Removes repeated lines within a limit of memory: `example_dedup [LINES]`.
#include <sys/resource.h>
#include <tamis/tamis.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

constexpr uint64_t kMemory = uint64_t{256} << 20;

// Limits the memory for data of this process. Sanitizers take more for themselves.
bool LimitMemory() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#else
  const rlimit limit = {kMemory, kMemory};
  return setrlimit(RLIMIT_DATA, &limit) == 0;
#endif
}

// Returns the peak memory in KiB. It shows that the limit was kept even if the limit cannot be set,
// as in an emulator.
uint64_t PeakMemory() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss);
}

// Returns line i of a stream in which each of `different` lines comes again after all others.
std::string Line(uint64_t i, uint64_t different) {
  constexpr uint64_t kPrime = 2'654'435'761;
  return "https://shop.example/item/" + std::to_string(i % different * kPrime % different);
}

int main(int argc, char** argv) try {
  const uint64_t lines = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const uint64_t different = lines / 2;
  if (!LimitMemory()) return 1;

  // Bloom filters have the fewest bits: 28.8 per line at this rate, so 256 MiB are enough for 60
  // million lines.
  tamis::BloomFilter seen({.capacity = different, .fpr = 1e-6});
  std::vector<std::string> batch(10'000);
  std::vector<uint64_t> fresh(tamis::BitmapWords(batch.size()));
  uint64_t written = 0;
  for (uint64_t first = 0; first < lines; first += batch.size()) {
    if (lines - first < batch.size()) batch.resize(lines - first);
    for (size_t i = 0; i < batch.size(); ++i) batch[i] = Line(first + i, different);
    written += seen.InsertIfAbsent(batch, tamis::Bitmap(fresh));
  }
  const double mib = static_cast<double>(seen.bytes()) / (1 << 20);
  std::printf("%llu of %llu lines written, by a filter of %.1f MiB; peak memory %.1f MiB\n",
              static_cast<unsigned long long>(written), static_cast<unsigned long long>(lines), mib,
              static_cast<double>(PeakMemory()) / 1024);
  // No line is written twice. A few lines are lost, because they are false positives.
  const uint64_t lost = different - written;
  return written <= different && lost <= 10 && PeakMemory() <= kMemory / 1024 ? 0 : 1;
} catch (const std::exception& error) {  // std::bad_alloc or tamis::Error
  std::puts(error.what());
  return 1;
}
