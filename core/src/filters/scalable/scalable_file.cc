#include "core/src/filters/scalable/scalable_file.h"

#include <xxhash.h>

#include <cmath>
#include <cstring>
#include <sstream>
#include <string>
#include <utility>

#include "core/src/file/atomic_file.h"
#include "core/src/file/checksum.h"
#include "core/src/file/input_file.h"
#include "core/src/filters/filter_access.h"
#include "core/src/filters/kinds.h"
#include "tamis/sizing.h"

namespace tamis::detail {
namespace {

namespace fs = std::filesystem;

constexpr size_t kChecksummedBytes = offset::kOptionsChecksum - kHeaderBytes;

// `at` is from the start of the file.
template <typename T>
T Get(std::span<const std::byte, kOptionsBytes> bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + (at - kHeaderBytes), sizeof(T));
  return value;
}

template <typename T>
void Put(OptionsBytes& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + (at - kHeaderBytes), &value, sizeof(T));
}

[[noreturn]] void Fail(const fs::path& path, const std::string& check, uint64_t at,
                       const std::string& problem) {
  ThrowFormatError(path, ErrorCode::kCorrupt, check, at, problem);
}

void CheckRange(const fs::path& path, const char* check, size_t at, double value, double min,
                double max) {
  if (value >= min && value <= max) return;  // false for NaN, too
  std::ostringstream problem;
  problem << "is " << value << ", out of range [" << min << ", " << max << "]";
  Fail(path, check, at, problem.str());
}

void RequireEqual(const fs::path& path, const char* check, uint64_t at, uint64_t value,
                  uint64_t wanted, const char* whose) {
  if (value != wanted) {
    Fail(path, check, at,
         "is " + std::to_string(value) + ", and " + whose + " " + std::to_string(wanted));
  }
}

// A layer has the keys that the options call for, and only the last can be cut by the limit: what
// is loaded goes on growing by them, and must not ask for more memory than such layers warrant.
void CheckCapacity(const ScalableOptions& options, const Extent& layer, size_t i, bool last,
                   const fs::path& path) {
  const auto keys = static_cast<double>(layer.header.capacity);
  const double most = LayerCapacity(options, i);
  const bool can_be_cut = last && i > 0 && options.max_bytes != 0;
  const double least = can_be_cut ? std::floor(most / kLeastShare) : most;
  const double slack = 1 + 1e-12 * most;  // powers are rounded, not everywhere alike
  if (keys <= most + slack && keys >= least - slack) return;
  std::ostringstream problem;
  problem << "is " << layer.header.capacity << ", and the options call for " << least << " to "
          << most;
  Fail(path, "capacity", layer.header_at + offset::kCapacity, problem.str());
}

// No layer can be made for a rate below the smallest, and so there are no more of them than the
// bound of the whole has room for.
void CheckRateLeft(const ScalableOptions& options, double error_left, size_t i,
                   const fs::path& path) {
  const double fpr = LayerFpr(options, error_left);
  constexpr double kRounding = 0.5;  // of a small difference of sums, not everywhere alike
  if (fpr >= kRounding * kMinFpr) return;
  std::ostringstream problem;
  problem << "is " << options.fpr << ", which leaves layer " << i + 1 << " a rate of " << fpr;
  Fail(path, "fpr", offset::kFpr, problem.str());
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

// Checks that a layer goes with the filter that it is one of, and with the bytes left in its file.
void CheckLayer(const FileHeader& whole, const Extent& layer, uint64_t file_bytes,
                const fs::path& path) {
  const FileHeader& header = layer.header;
  const auto check = [&](const char* name, size_t at, uint64_t value, uint64_t wanted) {
    RequireEqual(path, name, layer.header_at + at, value, wanted, "that of the whole is");
  };
  check("filter kind", offset::kFilterKind, static_cast<uint64_t>(header.kind), whole.geometry[1]);
  check("hash kind", offset::kHashKind, static_cast<uint64_t>(header.hash.kind),
        static_cast<uint64_t>(whole.hash.kind));
  check("seed", offset::kSeed, header.hash.seed, whole.hash.seed);
  if (header.inserted > header.capacity) {
    Fail(path, "inserted", layer.header_at + offset::kInserted,
         "is " + std::to_string(header.inserted) + ", more than the capacity of the layer");
  }
  const uint64_t room = file_bytes - layer.payload_at();
  if (PaddedBytes(header.payload_bytes) > room) {
    Fail(path, "payload length", layer.header_at + offset::kPayloadLength,
         "is " + std::to_string(header.payload_bytes) + ", and only " + std::to_string(room) +
             " bytes follow");
  }
}

// Checks that layers, each of which has passed its checks, are together what the header says.
void CheckLayers(const FileHeader& whole, const ScalableOptions& options,
                 std::span<const Extent> layers, uint64_t file_bytes, const fs::path& path) {
  uint64_t capacity = 0, inserted = 0, bytes = 0, end = offset::kLayers;
  double fpr = 0;
  for (size_t i = 0; i < layers.size(); ++i) {
    const Extent& layer = layers[i];
    CheckCapacity(options, layer, i, i + 1 == layers.size(), path);
    CheckRateLeft(options, options.fpr - fpr, i, path);
    if (layer.header.capacity > UINT64_MAX - capacity) {
      Fail(path, "capacity", layer.header_at + offset::kCapacity,
           "is " + std::to_string(layer.header.capacity) + ": the sum of all layers overflows");
    }
    capacity += layer.header.capacity;
    inserted += layer.header.inserted;  // no more than the capacity
    bytes += layer.header.payload_bytes;
    fpr += FprWhenFull(layer.header);
    end = layer.header_at + LayerFileBytes(layer.header.payload_bytes);
  }
  const char* const whose = "by its layers";
  RequireEqual(path, "capacity", offset::kCapacity, whole.capacity, capacity, whose);
  RequireEqual(path, "inserted", offset::kInserted, whole.inserted, inserted, whose);
  RequireEqual(path, "payload length", offset::kPayloadLength, file_bytes - kHeaderBytes,
               end - kHeaderBytes, whose);
  constexpr double kRounding = 1e-6;
  if (fpr > options.fpr * (1 + kRounding)) {
    std::ostringstream problem;
    problem << "is " << options.fpr << ", and the layers have " << fpr << " when full";
    Fail(path, "fpr", offset::kFpr, problem.str());
  }
  if (options.max_bytes != 0 && bytes > options.max_bytes) {
    Fail(path, "max bytes", offset::kMaxBytes,
         "is " + std::to_string(options.max_bytes) + ", and the layers have " +
             std::to_string(bytes));
  }
}

ScalableOptions ReadOptions(const InputFile& file) {
  OptionsBytes bytes;
  file.Read(bytes, kHeaderBytes);
  return DecodeOptions(bytes, file.path());
}

}  // namespace

double LayerCapacity(const ScalableOptions& options, size_t i) {
  return std::ceil(static_cast<double>(options.initial_capacity) *
                   std::pow(options.growth, static_cast<double>(i)));
}

double LayerFpr(const ScalableOptions& options, double error_left) {
  return error_left * (1 - options.tightening);
}

OptionsBytes EncodeOptions(const ScalableOptions& options) {
  OptionsBytes bytes{};
  Put(bytes, offset::kInitialCapacity, options.initial_capacity);
  Put(bytes, offset::kFpr, options.fpr);
  Put(bytes, offset::kGrowth, options.growth);
  Put(bytes, offset::kTightening, options.tightening);
  Put(bytes, offset::kMaxBytes, options.max_bytes);
  Put(bytes, offset::kOptionsChecksum, uint64_t{XXH3_64bits(bytes.data(), kChecksummedBytes)});
  return bytes;
}

ScalableOptions DecodeOptions(std::span<const std::byte, kOptionsBytes> bytes,
                              const fs::path& path) {
  if (Get<uint64_t>(bytes, offset::kOptionsChecksum) !=
      XXH3_64bits(bytes.data(), kChecksummedBytes)) {
    Fail(path, "options checksum", offset::kOptionsChecksum,
         "does not match bytes [128, 184) of the file");
  }
  ScalableOptions options;
  options.initial_capacity = Get<uint64_t>(bytes, offset::kInitialCapacity);
  options.fpr = Get<double>(bytes, offset::kFpr);
  options.growth = Get<double>(bytes, offset::kGrowth);
  options.tightening = Get<double>(bytes, offset::kTightening);
  options.max_bytes = Get<uint64_t>(bytes, offset::kMaxBytes);
  if (options.initial_capacity == 0) {
    Fail(path, "initial capacity", offset::kInitialCapacity, "is 0, must be at least 1");
  }
  CheckRange(path, "fpr", offset::kFpr, options.fpr, kMinFpr, kMaxFpr);
  CheckRange(path, "growth", offset::kGrowth, options.growth, scalable::kMinGrowth,
             scalable::kMaxGrowth);
  CheckRange(path, "tightening", offset::kTightening, options.tightening, scalable::kMinTightening,
             scalable::kMaxTightening);
  for (size_t at = offset::kOptionsReserved; at < offset::kOptionsChecksum; at += 8) {
    if (Get<uint64_t>(bytes, at) != 0) Fail(path, "reserved bytes", at, "are not 0");
  }
  return options;
}

uint64_t CheckScalableGeometry(const FileHeader& header, const FieldCheck& check) {
  const auto& [layers, layer_kind, unused] = header.geometry;
  check.InRange("layers", offset::kGeometry, layers, 1, scalable::kMaxLayers);
  const Kind* const kind =
      layer_kind > UINT32_MAX ? nullptr : FindKind(static_cast<FilterKind>(layer_kind));
  if (kind == nullptr || !kind->info.can_be_layer) {
    check.Fail(ErrorCode::kUnsupported, "layer kind", offset::kGeometry + 8,
               "is " + std::to_string(layer_kind) + ", which layers cannot be of");
  }
  check.UnusedGeometry(header, 2);
  check.InRange("payload length", offset::kPayloadLength, header.payload_bytes,
                kOptionsBytes + layers * LayerFileBytes(1), uint64_t{1} << 62);
  return header.payload_bytes;  // the layers say what it is
}

std::vector<Extent> ReadLayers(const InputFile& file) {
  const FileHeader& whole = file.header();
  const ScalableOptions options = ReadOptions(file);
  std::vector<Extent> layers;
  uint64_t at = offset::kLayers;
  for (uint64_t i = 0; i < whole.geometry[0]; ++i) {
    if (file.bytes() - at < kHeaderBytes) {
      Fail(file.path(), "layers", offset::kGeometry,
           "is " + std::to_string(whole.geometry[0]) + ", and there is no room for the header of " +
               "layer " + std::to_string(i + 1));
    }
    HeaderBytes start;
    file.Read(start, at);
    layers.push_back({DecodeHeaderAt(start, at, file.path()), at});
    CheckLayer(whole, layers.back(), file.bytes(), file.path());
    at += LayerFileBytes(layers.back().header.payload_bytes);
  }
  CheckLayers(whole, options, layers, file.bytes(), file.path());
  return layers;
}

LayeredFile LoadLayers(const fs::path& path, FilterKind kind, const MemoryOptions& memory) {
  const InputFile file(path);
  RequireLayerKind(file.header(), kind, path);
  // The file has all the bytes that its layers claim, but may be one with holes.
  uint64_t bytes = 0;
  for (const Extent& extent : file.extents()) bytes += extent.header.payload_bytes;
  Storage::RequireFits(bytes);
  LayeredFile opened{file.header(), ReadOptions(file), {}, {}};
  for (const Extent& extent : file.extents()) {
    opened.layers.push_back(
        {extent.header, Storage::Allocate(extent.header.payload_bytes, memory)});
  }
  file.ReadPayloads([&](size_t layer, uint64_t begin, size_t n) {
    return std::span(opened.layers[layer].storage.data() + begin, n);
  });
  return opened;
}

LayeredFile MapLayers(const fs::path& path, FilterKind kind, Verify verify) {
  const InputFile file(path);
  RequireLayerKind(file.header(), kind, path);
  LayeredFile opened{file.header(), ReadOptions(file), MapWhole(file, verify, 0), {}};
  for (const Extent& extent : file.extents()) {
    Storage layer = opened.mapping.Part(extent.payload_at(), extent.header.payload_bytes);
    if (opened.mapping.unverified()) {
      layer.set_unverified(
          {extent.header.payload_checksum, extent.header_at + offset::kPayloadChecksum});
    }
    opened.layers.push_back({extent.header, std::move(layer)});
  }
  return opened;
}

void SaveLayers(const fs::path& path, const FileHeader& header, const ScalableOptions& options,
                const Storage& mapping, std::span<const Filter* const> layers,
                const SaveOptions& save) {
  static constexpr std::byte kZeros[64] = {};
  const OptionsBytes options_bytes = EncodeOptions(options);
  std::vector<HeaderBytes> headers(layers.size());
  HeaderBytes start;
  std::vector<std::span<const std::byte>> parts = {start, options_bytes};
  for (size_t i = 0; i < layers.size(); ++i) {
    const Storage& storage = FilterAccess::StorageOf(*layers[i]);
    const std::span<const std::byte> payload(storage.data(), storage.size());
    headers[i] = EncodeHeader(CompleteHeader(layers[i]->Header(), storage));
    parts.push_back(headers[i]);
    parts.push_back(payload);
    const uint64_t padding = PaddedBytes(payload.size()) - payload.size();
    parts.push_back(std::span(kZeros).first(padding));
  }
  Checksum checksum;
  for (size_t i = 1; i < parts.size(); ++i) checksum.Update(parts[i]);
  FileHeader complete = header;
  complete.payload_checksum = checksum.Value();
  RequireChecksum(mapping, complete.payload_checksum);
  start = EncodeHeader(complete);
  WriteFileAtomically(path, parts, save);
}

}  // namespace tamis::detail
