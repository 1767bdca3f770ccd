// Bulk calls of the C++ library. bulk.py times these calls and the calls of Python in one process.
#include <tamis/tamis.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace {

template <typename Call>
double Seconds(const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

tamis::SplitBlockBloomFilter& Filter(void* filter) {
  return *static_cast<tamis::SplitBlockBloomFilter*>(filter);
}

}  // namespace

extern "C" {

void* Make(uint64_t capacity, double fpr) {
  return new tamis::SplitBlockBloomFilter({.capacity = capacity, .fpr = fpr});
}

// These functions return the time of the call, in seconds.
double InsertIntegers(void* filter, const uint64_t* keys, size_t n) {
  return Seconds([&] { Filter(filter).Insert(std::span(keys, n)); });
}
double ContainsIntegers(void* filter, const uint64_t* keys, size_t n, uint8_t* out) {
  return Seconds([&] { Filter(filter).Contains(std::span(keys, n), std::span(out, n)); });
}
double InsertStrings(void* filter, const char* bytes, const int32_t* offsets, size_t n) {
  const tamis::StringColumn keys{bytes, std::span(offsets, n + 1)};
  return Seconds([&] { Filter(filter).Insert(keys); });
}
double ContainsStrings(void* filter, const char* bytes, const int32_t* offsets, size_t n,
                       uint8_t* out) {
  const tamis::StringColumn keys{bytes, std::span(offsets, n + 1)};
  return Seconds([&] { Filter(filter).Contains(keys, std::span(out, n)); });
}

}  // extern "C"
