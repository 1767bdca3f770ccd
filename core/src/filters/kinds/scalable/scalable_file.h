// Scalable filters in files: the options by which they grow, and the layers, each of which is laid
// out as a file of its own. core/FORMAT.md is the specification.
#ifndef TAMIS_CORE_SRC_FILTERS_KINDS_SCALABLE_SCALABLE_FILE_H_
#define TAMIS_CORE_SRC_FILTERS_KINDS_SCALABLE_SCALABLE_FILE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "core/src/file/file_format.h"
#include "core/src/file/file_kind.h"
#include "core/src/file/input_file.h"
#include "tamis/filters/filter.h"
#include "tamis/filters/scalable_filter.h"

namespace tamis::detail {

// The length of the options, which begin the payload and end with a checksum.
constexpr size_t OptionsBytes(uint32_t version) { return version == 1 ? 64 : 128; }

// The offsets of the options, in bytes from the start of the payload.
namespace offset {
inline constexpr size_t kInitialCapacity = 0;
inline constexpr size_t kFpr = 8;
inline constexpr size_t kGrowth = 16;
inline constexpr size_t kTightening = 24;
inline constexpr size_t kMaxBytes = 32;
// The next four fields are in version 2 only: the counts of copies.
inline constexpr size_t kCopiesExamined = 40;
inline constexpr size_t kCopiesSeen = 48;
inline constexpr size_t kCopiesHeld = 56;
inline constexpr size_t kManyCopies = 64;
// These two fields are in both versions, at different offsets.
constexpr size_t OptionsReserved(uint32_t version) { return version == 1 ? 40 : 72; }
constexpr size_t OptionsChecksum(uint32_t version) { return OptionsBytes(version) - 8; }
}  // namespace offset

// Returns the bytes of a layer in a file, with its header, its checksums and the zeros after it.
constexpr uint64_t LayerFileBytes(uint32_t version, uint64_t payload_bytes) {
  FileHeader header;
  header.version = version;
  header.payload_bytes = payload_bytes;
  return Padded(Extent{header}.end());
}

// Returns the capacity of layer i = 0, 1, ... if max_bytes does not reduce it.
double LayerCapacity(const ScalableOptions& options, size_t i);
// Returns the rate that a layer is sized for if earlier layers leave `error_left` of the bound.
double LayerFpr(const ScalableOptions& options, double error_left);
// A layer is not made if a limit would reduce it to less than its capacity divided by this number.
inline constexpr uint64_t kLeastShare = 16;

// The data by which a scalable filter grows, except for the hash, which is in the header.
struct Growth {
  ScalableOptions options;
  ScalableCopies copies;
};

// The functions of the row of the table of kinds that concern files.
uint64_t CheckScalableGeometry(const FileHeader& header, const FieldCheck& check);
std::vector<Extent> ReadLayers(const InputFile& file);

struct LayeredFile {
  FileHeader header;
  Growth growth;
  Storage mapping;  // the whole file with the layers; empty if they were loaded
  std::vector<OpenedFile> layers;
};

// Like LoadFile and MapFile, for files of scalable filters with layers of this kind.
LayeredFile LoadLayers(const InputFile& file, FilterKind kind, const LoadOptions& options);
LayeredFile MapLayers(const InputFile& file, FilterKind kind, const MapOptions& options);
LayeredFile LoadLayers(const std::filesystem::path& path, FilterKind kind,
                       const LoadOptions& options);
LayeredFile MapLayers(const std::filesystem::path& path, FilterKind kind,
                      const MapOptions& options);

// `mapping` must be LayeredFile::mapping of the filter.
void WriteLayers(const FileHeader& header, const Growth& growth, const Storage& mapping,
                 std::span<const Filter* const> layers, const SaveOptions& save,
                 const PartsWriter& writer);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_KINDS_SCALABLE_SCALABLE_FILE_H_
