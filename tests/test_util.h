// Shared helpers of tests: random keys, sizes around the steps of vector code, memory that detects
// accesses past its ends, and backends as test parameters.
#ifndef TAMIS_TESTS_TEST_UTIL_H_
#define TAMIS_TESTS_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <ostream>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "tamis/backend.h"
#include "tamis/backends.h"
#include "tamis/hash.h"
#include "tamis/hash_kinds.h"
#include "tests/os/test_os.h"

namespace tamis {

// Number of randomly changed inputs that a test gives to a parser. The fuzz targets try millions.
inline constexpr size_t kMutations = 10'000;

// The output function of SplitMix64 (Steele, Lea and Flood, 2014), a bijection: different x give
// different keys. It is not one of the hashes under test.
constexpr uint64_t Mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

// A reproducible source of random numbers.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(Mix(seed)) {}

  uint64_t operator()() { return Mix(state_++); }
  // In [0, n); n > 0.
  uint64_t Below(uint64_t n) { return (*this)() % n; }
  // In [0, 1).
  double Unit() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

// Returns whether both spans have the same bytes. std::equal would compare one std::byte at a time,
// which takes long for megabytes under a sanitizer or in an emulator.
inline bool SameBytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

// Returns n random numbers, all different.
inline std::vector<uint64_t> RandomKeys(size_t n, uint64_t seed) {
  Random random(seed);
  std::vector<uint64_t> keys(n);
  std::generate(keys.begin(), keys.end(), random);
  return keys;
}

// Returns strings of 0 to 40 random bytes. Zero bytes occur.
inline std::vector<std::string> RandomStrings(size_t n, uint64_t seed) {
  Random random(seed);
  std::vector<std::string> strings(n);
  for (std::string& s : strings) {
    s.resize(random.Below(41));
    for (char& c : s) c = static_cast<char>(random());
  }
  return strings;
}

// Numbers of keys around every vector width, batch step, bitmap word and pipeline length.
inline const std::vector<size_t>& TestSizes() {
  static const std::vector<size_t> sizes = {
      0,   1,   2,   3,   7,   8,   9,   15,  16,  17,  31,  32,  33,  63,  64,  65,   127, 128,
      129, 191, 192, 193, 255, 256, 257, 258, 259, 260, 383, 384, 385, 511, 512, 1000, 4097};
  return sizes;
}

// Returns a hash of any kind. `number` is its seed or determines its secret.
constexpr HashSpec HashOf(HashKind kind, uint64_t number) {
  if (IsKeyed(kind)) return {kind, 0, {number, Mix(number)}};
  return {kind, number};
}

// Memory that ends before a page that cannot be accessed. Small mappings are kept for later arrays
// of the same size, because mapping and protecting pages takes more time than most tests.
class GuardedPages {
 public:
  // `bytes`: a multiple of the page size. The contents are arbitrary.
  static uint8_t* Take(size_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      std::vector<uint8_t*>& kept = kept_[bytes];
      kept.reserve(kMostKept);  // GiveBack must not allocate: destructors call it
      if (!kept.empty()) {
        uint8_t* const pages = kept.back();
        kept.pop_back();
        return pages;
      }
    }
    uint8_t* const pages = test_os::MapBeforeGuard(bytes);
    if (pages == nullptr) throw std::bad_alloc();
    return pages;
  }

  static void GiveBack(uint8_t* pages, size_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      std::vector<uint8_t*>& kept = kept_[bytes];
      if (bytes <= kMostKeptBytes && kept.size() < kMostKept) return kept.push_back(pages);
    }
    test_os::UnmapBeforeGuard(pages, bytes);
  }

 private:
#if defined(__SANITIZE_ADDRESS__)
  static constexpr size_t kMostKept = 0;  // so that an access to a freed array is detected
#else
  static constexpr size_t kMostKept = 32;
#endif
  static constexpr size_t kMostKeptBytes = size_t{1} << 20;
  inline static std::mutex mutex_;
  inline static std::map<size_t, std::vector<uint8_t*>> kept_;
};

// n elements, initially zero, that end `slack` elements before a page that cannot be accessed. With
// slack 0 the first access past the end crashes. The slack and everything before the array are
// canaries. Different slacks give different alignments.
template <typename T>
class GuardedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit GuardedArray(size_t n, size_t slack = 0) : GuardedArray(n, slack, 0) {}
  explicit GuardedArray(const std::vector<T>& values, size_t slack = 0)
      : GuardedArray(values.size(), slack) {
    std::copy(values.begin(), values.end(), data());
  }
  GuardedArray(const GuardedArray&) = delete;
  GuardedArray& operator=(const GuardedArray&) = delete;
  ~GuardedArray() { GuardedPages::GiveBack(begin_, accessible_); }

  // For an output. Starts with junk, so that an element that is not written is detected.
  static GuardedArray Output(size_t n, size_t slack) { return GuardedArray(n, slack, kJunk); }

  T* data() const { return reinterpret_cast<T*>(begin_ + front_bytes()); }
  size_t size() const { return n_; }
  std::span<T> span() const { return {data(), n_}; }
  std::vector<T> vector() const { return std::vector<T>(data(), data() + n_); }

  bool Intact() const {
    return AllCanaries(begin_, front_bytes()) &&
           AllCanaries(begin_ + accessible_ - slack_bytes_, slack_bytes_);
  }

 private:
  static constexpr uint8_t kCanary = 0xC5;
  static constexpr uint8_t kJunk = 0x5C;
  static constexpr size_t kMinFront = 256;

  static bool AllCanaries(const uint8_t* bytes, size_t n) {
    return n == 0 || (bytes[0] == kCanary && std::memcmp(bytes, bytes + 1, n - 1) == 0);
  }

  GuardedArray(size_t n, size_t slack, uint8_t fill) : n_(n), slack_bytes_(slack * sizeof(T)) {
    const size_t page = test_os::PageBytes();
    const size_t wanted = kMinFront + n * sizeof(T) + slack_bytes_;
    accessible_ = (wanted + page - 1) / page * page;
    begin_ = GuardedPages::Take(accessible_);
    std::memset(begin_, kCanary, front_bytes());
    std::memset(begin_ + front_bytes(), fill, n * sizeof(T));
    std::memset(begin_ + accessible_ - slack_bytes_, kCanary, slack_bytes_);
  }

  size_t front_bytes() const { return accessible_ - slack_bytes_ - n_ * sizeof(T); }

  size_t n_;
  size_t slack_bytes_;
  uint8_t* begin_ = nullptr;
  size_t accessible_ = 0;
};

// Prints a backend in messages of gtest and in the names of parameterized tests.
inline void PrintTo(const Backend& backend, std::ostream* out) { *out << backend.name; }

struct BackendName {
  std::string operator()(const testing::TestParamInfo<Backend>& test) const {
    return std::string(test.param.name);
  }
};

// Compares every backend that runs on this machine with the portable kernels.
class BackendTest : public testing::TestWithParam<Backend> {
 protected:
  const Backend& backend() const { return GetParam(); }
  const detail::Kernels& kernels() const { return *GetParam().kernels; }
  const detail::Kernels& portable() const { return *FindBackend("portable").kernels; }
};

}  // namespace tamis

#endif  // TAMIS_TESTS_TEST_UTIL_H_
