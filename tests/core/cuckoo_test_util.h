// Cuckoo filters for tests: the places of keys by core/FORMAT.md, computed without the library's
// arithmetic, and tables of any geometry.
#ifndef TAMIS_TESTS_CORE_CUCKOO_TEST_UTIL_H_
#define TAMIS_TESTS_CORE_CUCKOO_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "core/src/file/file_format.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tests/core/file_parts.h"
#include "tests/core/file_test_util.h"
#include "tests/core/reference_filter.h"

namespace tamis {

using CuckooFilters = testing::Types<CuckooFilter<8>, CuckooFilter<12>, CuckooFilter<16>>;

struct CuckooFilterName {
  template <typename Filter>
  static std::string GetName(int) {
    return std::to_string(Filter::kFingerprintBits) + "_bits";
  }
};

constexpr uint32_t ReferenceSlots(int bits) { return bits == 12 ? 5 : 4; }
constexpr uint32_t ReferenceBucketBytes(int bits) { return bits == 8 ? 4 : 8; }

constexpr uint32_t ReferencePartner(uint32_t bucket, uint32_t fingerprint, uint32_t chunk_buckets) {
  const auto square = static_cast<unsigned __int128>(fingerprint) * fingerprint;
  const auto mixed = static_cast<uint64_t>(square * 2654435761 % (uint64_t{1} << 32));
  uint64_t sum = mixed * chunk_buckets / (uint64_t{1} << 32);
  if (sum % 2 == 0) ++sum;
  return static_cast<uint32_t>((sum + chunk_buckets - bucket) % chunk_buckets);
}

struct ReferencePlace {
  uint32_t chunk, bucket, partner, fingerprint;
};

constexpr ReferencePlace ReferenceLocate(uint64_t hash, const cuckoo::Geometry& geometry,
                                         int bits) {
  const unsigned __int128 scaled =
      static_cast<unsigned __int128>(hash / 65536) * geometry.chunks;  // of 2^48
  const auto fraction = static_cast<uint32_t>(scaled / 65536 % (uint64_t{1} << 32));
  ReferencePlace place{};
  place.chunk = static_cast<uint32_t>(scaled / (uint64_t{1} << 48));
  place.bucket =
      static_cast<uint32_t>(uint64_t{fraction} * geometry.chunk_buckets / (uint64_t{1} << 32));
  place.fingerprint = static_cast<uint32_t>(1 + hash % 65536 * ((uint64_t{1} << bits) - 1) / 65536);
  place.partner = ReferencePartner(place.bucket, place.fingerprint, geometry.chunk_buckets);
  return place;
}

// Keys of the same class cannot be distinguished by a table.
struct CuckooClass {
  uint32_t chunk, lower_bucket, upper_bucket, fingerprint;

  auto operator<=>(const CuckooClass&) const = default;
};

constexpr CuckooClass ClassOf(const ReferencePlace& place) {
  return {place.chunk, std::min(place.bucket, place.partner), std::max(place.bucket, place.partner),
          place.fingerprint};
}

// The number of copies in each class.
using CuckooClasses = std::map<CuckooClass, uint64_t>;

// Returns the fingerprints of a table, slot by slot, bucket by bucket; 0 for an empty slot.
template <int kBits>
std::vector<uint32_t> Slots(const CuckooFilter<kBits>& filter) {
  std::vector<uint32_t> slots;
  const std::byte* const data = filter.payload().data();
  for (uint64_t at = 0; at < filter.bytes(); at += ReferenceBucketBytes(kBits)) {
    uint64_t word = 0;
    for (uint32_t i = 0; i < ReferenceBucketBytes(kBits); ++i) {
      word |= static_cast<uint64_t>(data[at + i]) << (8 * i);
    }
    for (uint32_t s = 0; s < ReferenceSlots(kBits); ++s) {
      slots.push_back(static_cast<uint32_t>(word % (uint64_t{1} << kBits)));
      word >>= kBits;
    }
    EXPECT_EQ(word, 0u) << "bits above the last slot";
  }
  return slots;
}

template <int kBits>
CuckooClasses ClassesIn(const CuckooFilter<kBits>& filter) {
  const uint32_t chunk_buckets = filter.geometry().chunk_buckets;
  CuckooClasses classes;
  const std::vector<uint32_t> slots = Slots(filter);
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] == 0) continue;
    const auto bucket = static_cast<uint32_t>(i / ReferenceSlots(kBits));
    const uint32_t in_chunk = bucket % chunk_buckets;
    ++classes[ClassOf({bucket / chunk_buckets, in_chunk,
                       ReferencePartner(in_chunk, slots[i], chunk_buckets), slots[i]})];
  }
  return classes;
}

template <int kBits>
uint64_t NumFingerprints(const CuckooFilter<kBits>& filter) {
  const std::vector<uint32_t> slots = Slots(filter);
  return slots.size() - static_cast<uint64_t>(std::count(slots.begin(), slots.end(), 0u));
}

// Returns a file of an empty filter of any geometry.
template <int kBits>
Bytes EmptyCuckooFile(const cuckoo::Geometry& geometry, const HashSpec& hash, uint64_t capacity) {
  FileHeader header;
  header.kind = CuckooFilter<kBits>::kKind;
  header.hash = hash;
  header.geometry = {geometry.chunks, geometry.chunk_buckets, 0};
  header.capacity = capacity;
  header.payload_bytes = geometry.buckets() * ReferenceBucketBytes(kBits);
  header.key_types = {};
  Bytes file(detail::Extent{header}.end());
  const std::vector<std::byte> start = detail::EncodeHeader(header);
  std::memcpy(file.data(), start.data(), start.size());
  SealAll(file);
  return file;
}

// Returns that filter. Constructors make several chunks only if one would be too large.
template <typename Filter>
Filter EmptyCuckooFilter(const cuckoo::Geometry& geometry, const HashSpec& hash = {},
                         const Backend* backend = nullptr, uint64_t capacity = 1) {
  const TemporaryFolder folder;
  WriteBytes(folder / "empty", EmptyCuckooFile<Filter::kFingerprintBits>(geometry, hash, capacity));
  return Filter::Load(folder / "empty", {.backend = backend});
}

}  // namespace tamis

#endif  // TAMIS_TESTS_CORE_CUCKOO_TEST_UTIL_H_
