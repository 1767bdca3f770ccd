// Files of scalable filters, taken apart by core/FORMAT.md.
#ifndef TAMIS_TESTS_CORE_SCALABLE_TEST_UTIL_H_
#define TAMIS_TESTS_CORE_SCALABLE_TEST_UTIL_H_

#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/src/file/file_format.h"
#include "tests/core/file_test_util.h"

namespace tamis {

struct LayerInFile {
  size_t at;  // of its header
  size_t payload_bytes;
};

inline std::vector<LayerInFile> LayersIn(const Bytes& file) {
  std::vector<LayerInFile> layers;
  size_t at = 192;
  for (uint64_t i = 0; i < GetField<uint64_t>(file, 32); ++i) {
    const auto bytes = static_cast<size_t>(GetField<uint64_t>(file, at + 80));
    layers.push_back({at, bytes});
    at += 128 + (bytes + 63) / 64 * 64;
  }
  EXPECT_EQ(at, file.size());
  return layers;
}

// Makes all checksums right again: of layers, options and the whole.
inline void SealLayers(Bytes& file, const std::vector<LayerInFile>& layers) {
  for (const LayerInFile& layer : layers) {
    const XXH128_hash_t payload = XXH3_128bits(file.data() + layer.at + 128, layer.payload_bytes);
    SetField(file, layer.at + 88, uint64_t{payload.low64});
    SetField(file, layer.at + 96, uint64_t{payload.high64});
    SetField(file, layer.at + 120, uint64_t{XXH3_64bits(file.data() + layer.at, 120)});
  }
  SetField(file, 184, uint64_t{XXH3_64bits(file.data() + 128, 56)});
  SealPayload(file);
}

}  // namespace tamis

#endif  // TAMIS_TESTS_CORE_SCALABLE_TEST_UTIL_H_
