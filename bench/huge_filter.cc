// Checks a classic filter of 8 GiB, with more than 2^36 bits: that the highest positions are
// written, found and distinguished. The filter is too large for a test.
//
// Usage: tamis_huge_filter [KEYS], by default 200 million into 2^36 + 2^30 bits.
// Exit status: 0 if all checks pass, 1 if not, 2 for bad arguments, 77 (skipped) if the machine has
// less memory than the filter and a margin need.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "bench/arguments.h"
#include "bench/workload.h"
#include "tamis/backends.h"
#include "tamis/engine/engine.h"
#include "tamis/filters/bloom_filter.h"
#include "tamis/filters/sizing.h"
#include "tamis/physical_memory.h"

namespace tamis::bench {
namespace {

constexpr uint64_t kBits = (uint64_t{1} << 36) + (uint64_t{1} << 30);

bool Report(const char* what, double value, double wanted, double tolerance) {
  const bool good = std::abs(value - wanted) <= tolerance;
  std::printf("%-44s %.6g, wanted %.6g +- %.3g  %s\n", what, value, wanted, tolerance,
              good ? "ok" : "WRONG");
  std::fflush(stdout);
  return good;
}

double BitsSet(std::span<const std::byte> bytes) {
  uint64_t sum = 0;
  for (size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, sizeof(word));
    sum += static_cast<uint64_t>(__builtin_popcountll(word));
  }
  return static_cast<double>(sum);
}

bool Check(uint64_t num_keys) {
  // The filter has two hashes, so that the rate of a nearly empty array is high enough to be
  // measured.
  BloomFilter filter({.capacity = kBits / 3, .bytes = kBits / 8});
  const auto keys = static_cast<double>(num_keys);
  const auto bits = static_cast<double>(filter.num_bits());
  const double k = filter.num_hashes();
  std::printf("%.6g bits (2^36 = %.6g), %u hashes, %.6g keys, backend %s\n", bits, 0x1p36,
              filter.num_hashes(), keys, filter.backend().name.data());
  Engine engine;
  ForEachBatch(0, num_keys, [&](const auto& batch) { engine.Insert(filter, batch); });
  uint64_t found = 0;
  ForEachBatch(0, num_keys, [&](const auto& batch) { found += engine.Count(filter, batch); });
  bool good = Report("keys found", static_cast<double>(found), keys, 0);

  // Bits are set in the whole array, including its end. If positions were cut to 32 or 36 bits, all
  // bits would be in a part of it.
  const double share = -std::expm1(-k * keys / bits);
  constexpr int kParts = 17;
  const std::span<const std::byte> payload = filter.payload();
  const size_t part = payload.size() / kParts;
  for (int i = 0; i < kParts; ++i) {
    const double n = 8.0 * static_cast<double>(part);
    char what[64];
    std::snprintf(what, sizeof(what), "share of bits set in part %d of %d", i + 1, kParts);
    good &= Report(what, BitsSet(payload.subspan(static_cast<size_t>(i) * part, part)) / n, share,
                   6 * std::sqrt(share * (1 - share) / n));
  }

  // On every backend, single calls and bulk calls have the same answers, and these agree with
  // positions that are computed here.
  std::vector<uint64_t> some;
  ForEachBatch(num_keys - 50'000, 100'000, [&](const auto& batch) { some = batch; });
  const detail::KeyHasher hasher(filter.hash());
  size_t want = 0;
  for (const uint64_t key : some) {
    want += bloom::Contains(reinterpret_cast<const uint64_t*>(payload.data()), filter.num_bits(),
                            filter.num_hashes(), hasher(key));
  }
  for (const Backend& backend : Backends()) {
    filter.set_backend(backend);
    size_t one = 0;
    for (const uint64_t key : some) one += filter.Contains(key);
    const auto wanted = static_cast<double>(want);
    good &= Report((std::string(backend.name) + ": hits, one by one").c_str(),
                   static_cast<double>(one), wanted, 0);
    good &= Report((std::string(backend.name) + ": hits, bulk").c_str(),
                   static_cast<double>(filter.Count(some)), wanted, 0);
  }
  filter.set_backend(DefaultBackend());
  good &= Report("estimated count", filter.estimated_count(), keys, 0.001 * keys);

  constexpr uint64_t kAbsent = 100'000'000;
  uint64_t hits = 0;
  ForEachBatch(num_keys, kAbsent, [&](const auto& batch) { hits += engine.Count(filter, batch); });
  const double rate = BloomFpr(keys, filter.num_bits(), filter.num_hashes());
  const double expected = rate * kAbsent;
  good &= Report("hits of 1e8 absent keys", static_cast<double>(hits), expected,
                 4 * std::sqrt(expected) + 0.03 * expected);
  return good;
}

}  // namespace
}  // namespace tamis::bench

int main(int argc, char** argv) {
  uint64_t num_keys = 200'000'000;
  if (argc > 2 || (argc > 1 && !tamis::bench::ParseCount(argv[1], num_keys, 100'000))) {
    std::fprintf(stderr, "usage: %s [KEYS], in [100000, 2^40]\n", argv[0]);
    return 2;
  }
  constexpr uint64_t kNeeded = tamis::bench::kBits / 8 + (uint64_t{2} << 30);
  if (tamis::PhysicalMemory() < kNeeded) {
    std::printf("skipped: the machine has %.1f GiB of memory, and %.1f are needed\n",
                static_cast<double>(tamis::PhysicalMemory()) / 0x1p30,
                static_cast<double>(kNeeded) / 0x1p30);
    return 77;
  }
  try {
    return tamis::bench::Check(num_keys) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  }
}
