#include "core/src/filters/kinds/scalable/scalable_file.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>
#include <string>
#include <utility>

#include "core/src/file/checksum.h"
#include "core/src/file/input_file.h"
#include "core/src/file/key_tag.h"
#include "core/src/file/mapped_from.h"
#include "core/src/filters/base/filter_access.h"
#include "core/src/filters/base/kind.h"
#include "tamis/detail/str_cat.h"
#include "tamis/file/filter_kind_name.h"
#include "tamis/filters/sizing.h"

namespace tamis::detail {
namespace {

namespace fs = std::filesystem;

// `at` is the offset from the start of the options.
template <typename T>
T Get(std::span<const std::byte> bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

template <typename T>
void Put(std::span<std::byte> bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

// Returns the offset in the file of a field of the options.
uint64_t InFile(const FileHeader& whole, size_t at) { return HeaderBytes(whole.version) + at; }

[[noreturn]] void Fail(const fs::path& path, const std::string& check, uint64_t at,
                       const std::string& problem) {
  ThrowFormatError(path, ErrorCode::kCorrupt, check, at, problem);
}

void CheckRange(const fs::path& path, const char* check, uint64_t at, double value, double min,
                double max) {
  if (value >= min && value <= max) return;  // also false for NaN
  std::ostringstream problem;
  problem << "is " << value << ", out of range [" << min << ", " << max << "]";
  Fail(path, check, at, problem.str());
}

void RequireEqual(const fs::path& path, const char* check, uint64_t at, uint64_t value,
                  uint64_t wanted, const char* whose) {
  if (value != wanted) {
    Fail(path, check, at, StrCat("is ", value, ", and ", whose, " ", wanted));
  }
}

// Checks that a layer has the capacity that the options require. The limit on bytes may have
// reduced it, except for the first layer. A further layer may follow a reduced one, because the
// sizes of small tables are far apart. Because a loaded filter goes on growing by its options, a
// file with other capacities could make it request too much memory.
void CheckCapacity(const ScalableOptions& options, const Extent& layer, size_t i,
                   const fs::path& path) {
  const auto keys = static_cast<double>(layer.header.capacity);
  const double most = LayerCapacity(options, i);
  const bool can_be_cut = i > 0 && options.max_bytes != 0;
  const double least = can_be_cut ? std::floor(most / kLeastShare) : most;
  const double slack = 1 + 1e-12 * most;  // machines may round powers differently
  if (keys <= most + slack && keys >= least - slack) return;
  std::ostringstream problem;
  problem << "is " << layer.header.capacity << ", and the options call for " << least << " to "
          << most;
  Fail(path, "capacity", layer.header_at + offset::kCapacity, problem.str());
}

// Checks that earlier layers leave a rate for layer i that is not below the smallest one. So a file
// cannot have more layers than its error bound allows.
void CheckRateLeft(const FileHeader& whole, const ScalableOptions& options, double error_left,
                   size_t i, const fs::path& path) {
  const double fpr = LayerFpr(options, error_left);
  constexpr double kRounding = 0.5;  // machines may round a small difference of sums differently
  if (fpr >= kRounding * kMinFpr) return;
  std::ostringstream problem;
  problem << "is " << options.fpr << ", which leaves layer " << i + 1 << " a rate of " << fpr;
  Fail(path, "fpr", InFile(whole, offset::kFpr), problem.str());
}

bool CanBeLayer(uint64_t kind) {
  const auto is = [=](const FilterKindInfo& known) {
    return static_cast<uint64_t>(known.kind) == kind && known.can_be_layer;
  };
  return std::ranges::any_of(FilterKinds(), is);
}

void RequireLayerKind(const FileHeader& header, FilterKind kind, const fs::path& path) {
  RequireKind(header, FilterKind::kScalable, path);
  const auto found = static_cast<FilterKind>(header.geometry[1]);
  if (found != kind) {
    ThrowFormatError(path, ErrorCode::kUnsupported, "layer kind", offset::kGeometry + 8,
                     std::string("the file holds a scalable filter with ") + FilterKindName(found) +
                         " layers, not " + FilterKindName(kind) + " ones");
  }
}

// Checks that a layer fits the filter that it is part of, and the bytes left in its file.
void CheckLayer(const FileHeader& whole, const Extent& layer, uint64_t file_bytes,
                const fs::path& path) {
  const FileHeader& header = layer.header;
  const auto check = [&](const char* name, size_t at, uint64_t value, uint64_t wanted) {
    RequireEqual(path, name, layer.header_at + at, value, wanted, "that of the whole is");
  };
  check("version", offset::kVersion, header.version, VersionOf(header, whole.version));
  check("filter kind", offset::kFilterKind, static_cast<uint64_t>(header.kind), whole.geometry[1]);
  check("hash kind", offset::kHashKind, static_cast<uint64_t>(header.hash.kind),
        static_cast<uint64_t>(whole.hash.kind));
  check("seed", offset::kSeed, header.hash.seed, whole.hash.seed);
  check("key types", offset::kKeyTypes, header.key_types.bits(), whole.key_types.bits());
  check("flags", offset::kFlags, header.has_secret, whole.has_secret);
  if (header.key_tag != whole.key_tag) {
    Fail(path, "key tag", layer.header_at + offset::kKeyTag,
         "differs from the key tag of the whole");
  }
  if (header.inserted > header.capacity) {
    Fail(path, "inserted", layer.header_at + offset::kInserted,
         StrCat("is ", header.inserted, ", more than the capacity of the layer"));
  }
  if (Padded(layer.end()) > file_bytes) {
    Fail(path, "payload length", layer.header_at + offset::kPayloadLength,
         StrCat("is ", header.payload_bytes, ", and only ", file_bytes - layer.payload_at(),
                " bytes follow"));
  }
}

// Checks that the layers together match the header; each has passed its own checks.
void CheckLayers(const FileHeader& whole, const ScalableOptions& options,
                 std::span<const Extent> layers, uint64_t file_bytes, const fs::path& path) {
  const uint64_t payload_at = HeaderBytes(whole.version);
  uint64_t capacity = 0, inserted = 0, bytes = 0, end = 0;
  double fpr = 0;
  for (size_t i = 0; i < layers.size(); ++i) {
    const Extent& layer = layers[i];
    CheckCapacity(options, layer, i, path);
    CheckRateLeft(whole, options, options.fpr - fpr, i, path);
    if (layer.header.capacity > UINT64_MAX - capacity) {
      Fail(path, "capacity", layer.header_at + offset::kCapacity,
           StrCat("is ", layer.header.capacity, ": the sum of all layers overflows"));
    }
    capacity += layer.header.capacity;
    inserted += layer.header.inserted;  // at most the capacity, so no overflow
    bytes += layer.header.payload_bytes;
    // The writer sized the layer by one of two rates, depending on its version.
    fpr += std::min(FprAtCapacity(layer.header), OldFprAtCapacity(layer.header));
    end = Padded(layer.end());
  }
  const char* const whose = "by its layers";
  RequireEqual(path, "capacity", offset::kCapacity, whole.capacity, capacity, whose);
  RequireEqual(path, "inserted", offset::kInserted, whole.inserted, inserted, whose);
  RequireEqual(path, "payload length", offset::kPayloadLength, file_bytes - payload_at,
               end - payload_at, whose);
  constexpr double kRounding = 1e-6;
  if (fpr > options.fpr * (1 + kRounding)) {
    std::ostringstream problem;
    problem << "is " << options.fpr << ", and the layers have " << fpr << " when full";
    Fail(path, "fpr", InFile(whole, offset::kFpr), problem.str());
  }
  if (options.max_bytes != 0 && bytes > options.max_bytes) {
    Fail(path, "max bytes", InFile(whole, offset::kMaxBytes),
         StrCat("is ", options.max_bytes, ", and the layers have ", bytes));
  }
}

std::vector<std::byte> EncodeGrowth(const Growth& growth, uint32_t version) {
  const ScalableOptions& options = growth.options;
  std::vector<std::byte> bytes(OptionsBytes(version));
  Put(bytes, offset::kInitialCapacity, options.initial_capacity);
  Put(bytes, offset::kFpr, options.fpr);
  Put(bytes, offset::kGrowth, options.growth);
  Put(bytes, offset::kTightening, options.tightening);
  Put(bytes, offset::kMaxBytes, options.max_bytes);
  if (version != 1) {
    Put(bytes, offset::kCopiesExamined, growth.copies.examined);
    Put(bytes, offset::kCopiesSeen, growth.copies.seen);
    Put(bytes, offset::kCopiesHeld, growth.copies.held);
    Put(bytes, offset::kManyCopies, uint64_t{growth.copies.many});
  }
  const size_t checksum_at = offset::OptionsChecksum(version);
  Put(bytes, checksum_at, uint64_t{XXH3_64bits(bytes.data(), checksum_at)});
  return bytes;
}

void CheckCopies(const FileHeader& whole, const ScalableCopies& copies, uint64_t many,
                 const fs::path& path) {
  const auto check = [&](const char* name, size_t at, uint64_t value, uint64_t most) {
    if (value <= most) return;
    Fail(path, name, InFile(whole, at), StrCat("is ", value, ", and can be ", most, " at most"));
  };
  check("copies examined", offset::kCopiesExamined, copies.examined, uint64_t{1} << 62);
  check("copies seen", offset::kCopiesSeen, copies.seen, copies.examined);
  check("copies held", offset::kCopiesHeld, copies.held, copies.seen);
  check("many copies", offset::kManyCopies, many, 1);
}

// Decodes the options, with all checks on them.
Growth DecodeGrowth(std::span<const std::byte> bytes, const FileHeader& whole,
                    const fs::path& path) {
  const auto at = [&](size_t field) { return InFile(whole, field); };
  const size_t checksum_at = offset::OptionsChecksum(whole.version);
  if (Get<uint64_t>(bytes, checksum_at) != XXH3_64bits(bytes.data(), checksum_at)) {
    Fail(path, "options checksum", at(checksum_at),
         StrCat("does not match bytes [", at(0), ", ", at(checksum_at), ") of the file"));
  }
  Growth growth;
  ScalableOptions& options = growth.options;
  options.initial_capacity = Get<uint64_t>(bytes, offset::kInitialCapacity);
  options.fpr = Get<double>(bytes, offset::kFpr);
  options.growth = Get<double>(bytes, offset::kGrowth);
  options.tightening = Get<double>(bytes, offset::kTightening);
  options.max_bytes = Get<uint64_t>(bytes, offset::kMaxBytes);
  if (options.initial_capacity == 0) {
    Fail(path, "initial capacity", at(offset::kInitialCapacity), "is 0, must be at least 1");
  }
  CheckRange(path, "fpr", at(offset::kFpr), options.fpr, kMinFpr, kMaxFpr);
  CheckRange(path, "growth", at(offset::kGrowth), options.growth, scalable::kMinGrowth,
             scalable::kMaxGrowth);
  CheckRange(path, "tightening", at(offset::kTightening), options.tightening,
             scalable::kMinTightening, scalable::kMaxTightening);
  if (whole.version != 1) {
    growth.copies.examined = Get<uint64_t>(bytes, offset::kCopiesExamined);
    growth.copies.seen = Get<uint64_t>(bytes, offset::kCopiesSeen);
    growth.copies.held = Get<uint64_t>(bytes, offset::kCopiesHeld);
    const auto many = Get<uint64_t>(bytes, offset::kManyCopies);
    CheckCopies(whole, growth.copies, many, path);
    growth.copies.many = many == 1;
  }
  for (size_t i = offset::OptionsReserved(whole.version); i < checksum_at; i += 8) {
    if (Get<uint64_t>(bytes, i) != 0) Fail(path, "reserved bytes", at(i), "are not 0");
  }
  return growth;
}

Growth ReadGrowth(const InputFile& file) {
  std::vector<std::byte> bytes(OptionsBytes(file.header().version));
  file.Read(bytes, HeaderBytes(file.header().version));
  return DecodeGrowth(bytes, file.header(), file.path());
}

// In version 2, the checksum of the whole covers the options and the headers of all layers. Their
// checksums cover the rest.
void CheckHeaders(const InputFile& file, std::span<const Extent> layers) {
  const FileHeader& whole = file.header();
  Checksum checksum;
  std::vector<std::byte> bytes(OptionsBytes(whole.version));
  file.Read(bytes, HeaderBytes(whole.version));
  checksum.Update(bytes);
  bytes.resize(HeaderBytes(whole.version));
  for (const Extent& layer : layers) {
    file.Read(bytes, layer.header_at);
    checksum.Update(bytes);
  }
  if (checksum.Value() != whole.payload_checksum) {
    Fail(file.path(), "payload checksum", offset::kPayloadChecksum,
         "does not match the options and the headers of the layers");
  }
}

// Opens everything except the payloads.
LayeredFile OpenLayers(const InputFile& file, const std::optional<HashSecret>& secret) {
  LayeredFile opened{file.header(), ReadGrowth(file), {}, {}};
  opened.header.hash = HashOf(opened.header, secret, file.path());
  for (const Extent& extent : file.extents()) {
    opened.layers.push_back({extent.header, {}});
    opened.layers.back().header.hash = opened.header.hash;
  }
  return opened;
}

}  // namespace

double LayerCapacity(const ScalableOptions& options, size_t i) {
  return std::ceil(static_cast<double>(options.initial_capacity) *
                   std::pow(options.growth, static_cast<double>(i)));
}

double LayerFpr(const ScalableOptions& options, double error_left) {
  return error_left * (1 - options.tightening);
}

uint64_t CheckScalableGeometry(const FileHeader& header, const FieldCheck& check) {
  const auto& [layers, layer_kind, unused] = header.geometry;
  check.InRange("layers", offset::kGeometry, layers, 1, scalable::kMaxLayers);
  if (!CanBeLayer(layer_kind)) {
    check.Fail(ErrorCode::kUnsupported, "layer kind", offset::kGeometry + 8,
               StrCat("is ", layer_kind, ", which cannot be the kind of layers"));
  }
  check.UnusedGeometry(header, 2);
  check.InRange("payload length", offset::kPayloadLength, header.payload_bytes,
                OptionsBytes(header.version) + layers * LayerFileBytes(header.version, 1),
                uint64_t{1} << 62);
  return header.payload_bytes;  // the layers determine the exact length
}

std::vector<Extent> ReadLayers(const InputFile& file) {
  const FileHeader& whole = file.header();
  const Growth growth = ReadGrowth(file);
  std::vector<Extent> layers;
  uint64_t at = HeaderBytes(whole.version) + OptionsBytes(whole.version);
  for (uint64_t i = 0; i < whole.geometry[0]; ++i) {
    if (file.bytes() - at < HeaderBytes(whole.version)) {
      Fail(file.path(), "layers", offset::kGeometry,
           StrCat("is ", whole.geometry[0], ", and there is no room for the header of layer ",
                  i + 1));
    }
    layers.push_back({file.ReadHeaderAt(at), at});
    CheckLayer(whole, layers.back(), file.bytes(), file.path());
    at = Padded(layers.back().end());
  }
  CheckLayers(whole, growth.options, layers, file.bytes(), file.path());
  if (whole.version != 1) CheckHeaders(file, layers);
  return layers;
}

LayeredFile LoadLayers(const fs::path& path, FilterKind kind, const LoadOptions& options) {
  return LoadLayers(InputFile(path), kind, options);
}

LayeredFile LoadLayers(const InputFile& file, FilterKind kind, const LoadOptions& options) {
  RequireLayerKind(file.header(), kind, file.path());
  LayeredFile opened = OpenLayers(file, options.secret);
  // The file has all bytes of its layers, but may be sparse.
  uint64_t bytes = 0;
  for (const Extent& extent : file.extents()) bytes += extent.header.payload_bytes;
  Storage::RequireFits(bytes);
  for (OpenedFile& layer : opened.layers) {
    layer.storage = Storage::Allocate(layer.header.payload_bytes, options.memory);
  }
  file.ReadPayloads([&](size_t layer, uint64_t begin, size_t n) {
    return std::span(opened.layers[layer].storage.data() + begin, n);
  });
  return opened;
}

LayeredFile MapLayers(const fs::path& path, FilterKind kind, const MapOptions& options) {
  return MapLayers(InputFile(path), kind, options);
}

LayeredFile MapLayers(const InputFile& file, FilterKind kind, const MapOptions& options) {
  const fs::path& path = file.path();
  RequireLayerKind(file.header(), kind, path);
  LayeredFile opened = OpenLayers(file, options.secret);
  // Reads the file to verify it, instead of the mapping: see MapFile.
  if (options.verify == Verify::kFull) file.VerifyPayloads();
  opened.mapping = MapWhole(file, 0);
  if (options.verify != Verify::kFull && opened.header.version == 1) {
    SetUnverified(opened.mapping, {opened.header}, path);
  }
  for (size_t i = 0; i < opened.layers.size(); ++i) {
    const Extent& extent = file.extents()[i];
    Storage& layer = opened.layers[i].storage;
    layer = opened.mapping.Part(extent.payload_at(), extent.header.payload_bytes);
    if (options.verify != Verify::kFull) SetUnverified(layer, extent, path);
  }
  return opened;
}

void WriteLayers(const FileHeader& header, const Growth& growth, const Storage& mapping,
                 std::span<const Filter* const> layers, const SaveOptions& save,
                 const PartsWriter& writer) {
  RequireIntact(mapping);
  FileHeader whole = HeaderToSave(header, save);
  const std::vector<std::byte> options = EncodeGrowth(growth, whole.version);
  std::vector<std::byte> start;
  std::vector<std::span<const std::byte>> parts = {start, options};
  std::vector<SealedFilter> sealed;
  sealed.reserve(layers.size());
  whole.payload_bytes = options.size();
  Checksum of_headers;
  of_headers.Update(options);
  for (const Filter* const layer : layers) {
    const Storage& storage = FilterAccess::StorageOf(*layer);
    FileHeader own = layer->Header();
    own.key_types = header.key_types;
    own.has_secret = header.has_secret;
    sealed.push_back(Seal(own, storage, save));
    of_headers.Update(sealed.back().header);
    AddParts(sealed.back(), {storage.data(), storage.size()}, parts);
    own.version = VersionOf(own, whole.version);
    const Extent extent{own, 0};
    parts.push_back(Padding(extent.end()));
    whole.payload_bytes += Padded(extent.end());
  }
  Checksum of_all;
  if (whole.version == 1) {
    for (size_t i = 1; i < parts.size(); ++i) of_all.Update(parts[i]);
  }
  whole.payload_checksum = whole.version == 1 ? of_all.Value() : of_headers.Value();
  start = EncodeHeader(whole);
  parts[0] = start;
  writer.Write(parts);
}

}  // namespace tamis::detail
