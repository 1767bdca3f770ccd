// Scalable filters in files: the options they go on growing by, and the layers, each of which is
// laid out as a file of its own. core/FORMAT.md is the specification.
#ifndef TAMIS_CORE_SRC_FILTERS_SCALABLE_SCALABLE_FILE_H_
#define TAMIS_CORE_SRC_FILTERS_SCALABLE_SCALABLE_FILE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "core/src/file/file_format.h"
#include "core/src/file/file_kind.h"
#include "core/src/file/input_file.h"
#include "tamis/filter.h"
#include "tamis/scalable_filter.h"

namespace tamis::detail {

inline constexpr size_t kOptionsBytes = 64;  // at the start of the payload
using OptionsBytes = std::array<std::byte, kOptionsBytes>;

// Where the options are, in bytes from the start of the file.
namespace offset {
inline constexpr size_t kInitialCapacity = 128;
inline constexpr size_t kFpr = 136;
inline constexpr size_t kGrowth = 144;
inline constexpr size_t kTightening = 152;
inline constexpr size_t kMaxBytes = 160;
inline constexpr size_t kOptionsReserved = 168;  // two of 8 bytes
inline constexpr size_t kOptionsChecksum = 184;
inline constexpr size_t kLayers = 192;
}  // namespace offset

// The bytes that a layer takes in a file: header, payload, padding.
constexpr uint64_t LayerFileBytes(uint64_t payload_bytes) {
  return kHeaderBytes + PaddedBytes(payload_bytes);
}

// The keys of layer i = 0, 1, ... where max_bytes does not cut it.
double LayerCapacity(const ScalableOptions& options, size_t i);
// The rate that a layer is sized for where those before it leave so much of the bound.
double LayerFpr(const ScalableOptions& options, double error_left);
// A layer cut to less than its capacity by this is not made.
inline constexpr uint64_t kLeastShare = 16;

OptionsBytes EncodeOptions(const ScalableOptions& options);

// The options, checked in full. Throws FormatError; `path` is for the message only.
ScalableOptions DecodeOptions(std::span<const std::byte, kOptionsBytes> bytes,
                              const std::filesystem::path& path);

// The row of the table of kinds, as far as it is about files.
uint64_t CheckScalableGeometry(const FileHeader& header, const FieldCheck& check);
std::vector<Extent> ReadLayers(const InputFile& file);

struct LayeredFile {
  FileHeader header;
  ScalableOptions options;
  Storage mapping;  // of the whole file, in which the layers are; none where they were loaded
  std::vector<OpenedFile> layers;
};

// As LoadFile and MapFile, for files of scalable filters with layers of that kind.
LayeredFile LoadLayers(const std::filesystem::path& path, FilterKind kind,
                       const MemoryOptions& memory);
LayeredFile MapLayers(const std::filesystem::path& path, FilterKind kind, Verify verify);

// `mapping` is that of a LayeredFile.
void SaveLayers(const std::filesystem::path& path, const FileHeader& header,
                const ScalableOptions& options, const Storage& mapping,
                std::span<const Filter* const> layers, const SaveOptions& save);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_SCALABLE_SCALABLE_FILE_H_
