// Scalable filters in files: the options they go on growing by, and the layers, each of which is
// laid out as a file of its own. core/FORMAT.md is the specification.
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

// Of the options, at the start of the payload, with a checksum at their end.
constexpr size_t OptionsBytes(uint32_t version) { return version == 1 ? 64 : 128; }

// Where the options are, in bytes from the start of the payload.
namespace offset {
inline constexpr size_t kInitialCapacity = 0;
inline constexpr size_t kFpr = 8;
inline constexpr size_t kGrowth = 16;
inline constexpr size_t kTightening = 24;
inline constexpr size_t kMaxBytes = 32;
// From here on, version 2: what is known of copies.
inline constexpr size_t kCopiesExamined = 40;
inline constexpr size_t kCopiesSeen = 48;
inline constexpr size_t kCopiesHeld = 56;
inline constexpr size_t kManyCopies = 64;
// These two differ.
constexpr size_t OptionsReserved(uint32_t version) { return version == 1 ? 40 : 72; }
constexpr size_t OptionsChecksum(uint32_t version) { return OptionsBytes(version) - 8; }
}  // namespace offset

// The bytes that a layer takes with its header, its checksums and the zeros after it.
constexpr uint64_t LayerFileBytes(uint32_t version, uint64_t payload_bytes) {
  FileHeader header;
  header.version = version;
  header.payload_bytes = payload_bytes;
  return Padded(Extent{header}.end());
}

// The keys of layer i = 0, 1, ... where max_bytes does not cut it.
double LayerCapacity(const ScalableOptions& options, size_t i);
// The rate that a layer is sized for where those before it leave so much of the bound.
double LayerFpr(const ScalableOptions& options, double error_left);
// A layer cut to less than its capacity by this is not made.
inline constexpr uint64_t kLeastShare = 16;

// What a scalable filter goes on growing by. Not the hash, which is in the header.
struct Growth {
  ScalableOptions options;
  ScalableCopies copies;
};

// The row of the table of kinds, as far as it is about files.
uint64_t CheckScalableGeometry(const FileHeader& header, const FieldCheck& check);
std::vector<Extent> ReadLayers(const InputFile& file);

struct LayeredFile {
  FileHeader header;
  Growth growth;
  Storage mapping;  // of the whole file, in which the layers are; none where they were loaded
  std::vector<OpenedFile> layers;
};

// As LoadFile and MapFile, for files of scalable filters with layers of that kind.
LayeredFile LoadLayers(const InputFile& file, FilterKind kind, const LoadOptions& options);
LayeredFile MapLayers(const InputFile& file, FilterKind kind, const MapOptions& options);
LayeredFile LoadLayers(const std::filesystem::path& path, FilterKind kind,
                       const LoadOptions& options);
LayeredFile MapLayers(const std::filesystem::path& path, FilterKind kind,
                      const MapOptions& options);

// `mapping` is that of a LayeredFile.
void WriteLayers(const FileHeader& header, const Growth& growth, const Storage& mapping,
                 std::span<const Filter* const> layers, const SaveOptions& save,
                 const PartsWriter& writer);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_KINDS_SCALABLE_SCALABLE_FILE_H_
