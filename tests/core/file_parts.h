// Takes filter files of every version apart by core/FORMAT.md: finds their parts, and repairs
// checksums, as an attacker would.
#ifndef TAMIS_TESTS_CORE_FILE_PARTS_H_
#define TAMIS_TESTS_CORE_FILE_PARTS_H_

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/src/file/file_format.h"
#include "tests/core/file_test_util.h"

namespace tamis {

inline constexpr uint32_t kVersions[] = {1, 2};

inline size_t HeaderBytesOf(uint32_t version) { return version == 1 ? 128 : 192; }

// A filter without layers in a file.
struct FilterInFile {
  uint32_t version;
  size_t at;  // of its header
  size_t payload_bytes;

  size_t payload_at() const { return at + HeaderBytesOf(version); }
  size_t payload_end() const { return payload_at() + payload_bytes; }
  // Returns the offset of the checksums of pages, which version 1 does not have.
  size_t pages_at() const {
    return version == 1 ? payload_end() : payload_at() + (payload_bytes + 63) / 64 * 64;
  }
  size_t num_pages() const { return version == 1 ? 0 : (payload_bytes + 65535) / 65536; }
  size_t end() const { return pages_at() + 8 * num_pages(); }
};

inline uint32_t VersionOf(const Bytes& file) { return GetField<uint32_t>(file, 8); }
inline bool HasLayers(const Bytes& file) { return GetField<uint32_t>(file, 16) == 8; }
inline size_t OptionsAt(uint32_t version) { return HeaderBytesOf(version); }
inline size_t LayersAt(uint32_t version) { return OptionsAt(version) + (version == 1 ? 64 : 128); }

// Returns the filter, or its layers, oldest first.
inline std::vector<FilterInFile> FiltersIn(const Bytes& file) {
  const uint32_t version = VersionOf(file);
  const auto filter_at = [&](size_t at) {
    return FilterInFile{version, at, static_cast<size_t>(GetField<uint64_t>(file, at + 80))};
  };
  if (!HasLayers(file)) return {filter_at(0)};
  std::vector<FilterInFile> layers;
  size_t at = LayersAt(version);
  for (uint64_t i = 0; i < GetField<uint64_t>(file, 32); ++i) {
    layers.push_back(filter_at(at));
    at = (layers.back().end() + 63) / 64 * 64;
  }
  EXPECT_EQ(at, file.size());
  return layers;
}

namespace file_parts {

using Range = std::array<size_t, 2>;  // begin, end

inline void SetPayloadChecksum(Bytes& file, size_t at, const std::vector<Range>& ranges) {
  XXH3_state_t* const state = XXH3_createState();
  XXH3_128bits_reset(state);
  for (const auto& [begin, end] : ranges) {
    if (begin < std::min(end, file.size())) {
      XXH3_128bits_update(state, file.data() + begin, std::min(end, file.size()) - begin);
    }
  }
  const XXH128_hash_t checksum = XXH3_128bits_digest(state);
  XXH3_freeState(state);
  SetField(file, at + 88, uint64_t{checksum.low64});
  SetField(file, at + 96, uint64_t{checksum.high64});
}

}  // namespace file_parts

// Repairs the checksum of a header.
inline void SealHeader(Bytes& file, size_t at = 0) {
  const size_t bytes = HeaderBytesOf(GetField<uint32_t>(file, at + 8)) - 8;
  SetField(file, at + bytes, uint64_t{XXH3_64bits(file.data() + at, bytes)});
}

// Repairs all checksums of the file. `filters` are the positions of its filters before the change.
inline void SealAll(Bytes& file, const std::vector<FilterInFile>& filters) {
  using file_parts::Range;
  using file_parts::SetPayloadChecksum;
  std::vector<Range> headers;
  for (const FilterInFile& filter : filters) {
    for (size_t page = 0; page < filter.num_pages(); ++page) {
      const size_t begin = filter.payload_at() + 65536 * page;
      const size_t n = std::min<size_t>(65536, filter.payload_end() - begin);
      SetField(file, filter.pages_at() + 8 * page, uint64_t{XXH3_64bits(file.data() + begin, n)});
    }
    SetPayloadChecksum(file, filter.at,
                       {filter.version == 1 ? Range{filter.payload_at(), filter.payload_end()}
                                            : Range{filter.pages_at(), filter.end()}});
    SealHeader(file, filter.at);
    headers.push_back({filter.at, filter.payload_at()});
  }
  if (!HasLayers(file)) return;
  const uint32_t version = VersionOf(file);
  const size_t begin = OptionsAt(version), end = LayersAt(version);
  SetField(file, end - 8, uint64_t{XXH3_64bits(file.data() + begin, end - 8 - begin)});
  headers.insert(headers.begin(), {begin, end});
  SetPayloadChecksum(file, 0, version == 1 ? std::vector<Range>{{begin, file.size()}} : headers);
  SealHeader(file);
}
inline void SealAll(Bytes& file) { SealAll(file, FiltersIn(file)); }

// The check that detects one changed byte of a file.
struct Damage {
  std::string check;
  size_t at;
  bool by_headers;  // found by all functions that open the file, not only by readers of payloads
  ErrorCode code = ErrorCode::kCorrupt;
};

inline Damage DamageOfHeader(uint32_t version, size_t at, size_t byte, size_t bit) {
  const size_t field = byte - at;
  const bool version_3 = version == 2 && field == 8 && bit == 0;  // a version that exists
  if (field < 8) return {"magic", at, true};
  if (field < 12 && !version_3) return {"version", at + 8, true, ErrorCode::kUnsupported};
  if (field >= 12 && field < 16) return {"header length", at + 12, true};
  return {"header checksum", at + HeaderBytesOf(version) - 8, true};
}

// `bit` is the changed bit of the byte. If several bits are changed, any of them will do.
inline Damage DamageOf(const Bytes& good, size_t byte, size_t bit = 7) {
  const uint32_t version = VersionOf(good);
  const bool layered = HasLayers(good);
  if (byte < HeaderBytesOf(version)) return DamageOfHeader(version, 0, byte, bit);
  if (layered && byte < LayersAt(version)) {
    return {"options checksum", LayersAt(version) - 8, true};
  }
  const std::vector<FilterInFile> filters = FiltersIn(good);
  const FilterInFile& filter =
      *std::find_if(filters.begin(), filters.end(),
                    [&](const FilterInFile& f) { return byte < (f.end() + 63) / 64 * 64; });
  if (byte < filter.payload_at()) return DamageOfHeader(version, filter.at, byte, bit);
  if (byte < filter.payload_end()) {
    if (version == 1) return {"payload checksum", filter.at + 88, false};
    const size_t page = (byte - filter.payload_at()) / 65536;
    return {"page checksum", filter.payload_at() + 65536 * page, false};
  }
  if (byte < filter.pages_at() || byte >= filter.end()) return {"padding", byte, false};
  return {"payload checksum", filter.at + 88, false};
}

}  // namespace tamis

#endif  // TAMIS_TESTS_CORE_FILE_PARTS_H_
