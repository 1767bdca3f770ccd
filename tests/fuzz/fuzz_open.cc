// Opens untrusted bytes as a filter file. For any bytes, the outcome is a FormatError or a filter
// that can be used. An accepted file equals the file that the library itself would write.
#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/src/file/file_format.h"
#include "core/src/file/page_table.h"
#include "core/src/filters/kinds/scalable/scalable_file.h"
#include "tamis/error.h"
#include "tamis/file/file_checks.h"
#include "tamis/filters/any_filter.h"
#include "tamis/filters/changeable_filter.h"
#include "tamis/filters/erasable_filter.h"
#include "tamis/filters/filter_kinds.h"
#include "tests/fuzz/memory_file.h"

namespace tamis {
namespace {

namespace offset = detail::offset;

void UseFilter(const Filter& filter) {
  std::vector<uint64_t> keys(100);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = i * i;
  std::vector<uint64_t> bits(BitmapWords(keys.size()));
  Require(filter.Contains(keys, Bitmap(bits)) == filter.Count(keys));
  filter.estimated_count();
  filter.expected_fpr();
}

// Inserts and erases keys. A cuckoo filter may be too full for a key. A filter contains the keys
// that it accepts, and erases them. A static filter accepts no keys.
void ChangeFilter(Filter& filter) {
  const uint64_t before = filter.inserted_count();
  const std::vector<uint64_t> keys = {1, 2, 3, 3};
  std::vector<uint64_t> rejected(keys.size());
  auto* const changeable = filter.changeable();
  Require((changeable == nullptr) == KindInfo(filter.kind()).is_static);
  if (changeable == nullptr) return;
  const size_t inserted = changeable->Insert(keys, rejected);
  rejected.resize(keys.size() - inserted);
  std::vector<uint64_t> in;
  for (uint64_t i = 0; i < keys.size(); ++i) {
    if (std::find(rejected.begin(), rejected.end(), i) == rejected.end()) in.push_back(keys[i]);
  }
  Require(in.size() == inserted && filter.Count(in) == inserted);
  // A scalable filter may have no error rate left for another layer, or may be unable to decide
  // which layer has a key. It does not count a key that it already finds and that would need
  // another layer.
  if (filter.kind() == FilterKind::kScalable) return;
  Require(filter.inserted_count() == before + inserted);
  if (auto* const erasable = dynamic_cast<ErasableFilter*>(&filter)) {
    Require(erasable->Erase(in) == inserted && filter.inserted_count() == before);
  } else {
    Require(inserted == keys.size());
  }
}

// The outcome of opening a filter: "" or the problem with its bytes.
template <typename Open>
std::string Outcome(const Open& open) {
  try {
    UseFilter(*open());
    return {};
  } catch (const FormatError& error) {
    return error.check() + " at " + std::to_string(error.offset());
  } catch (const Error& error) {
    return ErrorCodeName(error.code());
  }
}

// In memory, the bytes of a file give the same filter or the same error.
void OpenInMemory(const Bytes& bytes, const std::string& path) {
  const std::unique_ptr<void, decltype(&std::free)> aligned(
      std::aligned_alloc(64, std::max<size_t>(1, (bytes.size() + 63) / 64) * 64), &std::free);
  Require(aligned != nullptr);
  std::copy(bytes.begin(), bytes.end(), static_cast<uint8_t*>(aligned.get()));
  const std::span memory(static_cast<const std::byte*>(aligned.get()), bytes.size());
  const MapOptions full{.verify = Verify::kFull};
  Require(Outcome([&] { return Map(memory); }) == Outcome([&] { return Map(path); }));
  Require(Outcome([&] { return Map(memory, full); }) == Outcome([&] { return Map(path, full); }));
  Require(Outcome([&] { return Load(memory); }) == Outcome([&] { return Load(path); }));
}

void OpenInEveryWay(const Bytes& bytes) {
  static MemoryFile file;
  const std::string path = file.Write(bytes);
  OpenInMemory(bytes, path);
  try {
    UseFilter(*Map(path));
    VerifyFile(path);
    const std::span all = std::as_bytes(std::span(bytes));
    const FileHeader header = detail::DecodeHeader(
        all.first(std::min(all.size(), detail::kHeaderBytes2)), all.size(), path);
    const std::vector<std::byte> again = detail::EncodeHeader(header);
    Require(std::memcmp(again.data(), bytes.data(), again.size()) == 0);

    const AnyFilter loaded = Load(path);
    const size_t payload_at = again.size();
    if (loaded->kind() == FilterKind::kScalable) {
      // The payload of a scalable filter consists of its layers.
      Require(header.payload_bytes == bytes.size() - payload_at);
    } else {
      const auto payload = loaded->payload();
      Require(std::memcmp(payload.data(), bytes.data() + payload_at, payload.size()) == 0);
    }
    ChangeFilter(*loaded);
    UseFilter(*loaded);
  } catch (const FormatError& error) {
    Require(error.offset() <= bytes.size() || error.offset() < detail::kHeaderBytes2);
  } catch (const Error& error) {
    Require(error.code() == ErrorCode::kSecret);  // the file lacks the secret of a keyed hash
  }
}

template <typename T>
T Get(const Bytes& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

template <typename T>
void Put(Bytes& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

uint32_t VersionAt(const Bytes& bytes, size_t at) {
  return Get<uint32_t>(bytes, at + offset::kVersion) == 1 ? 1 : 2;
}

void PutChecksum(Bytes& bytes, size_t at, const uint8_t* data, size_t size) {
  const XXH128_hash_t checksum = XXH3_128bits(data, size);
  Put(bytes, at + offset::kPayloadChecksum, uint64_t{checksum.low64});
  Put(bytes, at + offset::kPayloadChecksum + 8, uint64_t{checksum.high64});
}

void SealHeader(Bytes& bytes, size_t at) {
  const size_t checksum_at = offset::HeaderChecksum(VersionAt(bytes, at));
  Put(bytes, at + checksum_at, uint64_t{XXH3_64bits(bytes.data() + at, checksum_at)});
}

// Corrects the checksums of a filter without layers, within the available bytes. Returns its end.
uint64_t SealFilter(Bytes& bytes, size_t at) {
  FileHeader header;
  header.version = VersionAt(bytes, at);
  const uint64_t room = bytes.size() - at - detail::HeaderBytes(header.version);
  header.payload_bytes = std::min(Get<uint64_t>(bytes, at + offset::kPayloadLength), room);
  const detail::Extent extent{header, at};
  const uint8_t* const payload = bytes.data() + extent.payload_at();
  if (!extent.paged()) {
    PutChecksum(bytes, at, payload, header.payload_bytes);
  } else if (header.payload_bytes > 0 && extent.end() <= bytes.size()) {
    const auto pages = detail::PageTable(std::as_bytes(std::span(payload, header.payload_bytes)));
    std::memcpy(bytes.data() + extent.pages_at(), pages.data(), 8 * pages.size());
    PutChecksum(bytes, at, bytes.data() + extent.pages_at(), 8 * pages.size());
  }
  SealHeader(bytes, at);
  return extent.end();
}

// The same for options and layers.
void SealScalable(Bytes& bytes) {
  const uint32_t version = VersionAt(bytes, 0);
  const size_t options_at = detail::HeaderBytes(version);
  const size_t layers_at = options_at + detail::OptionsBytes(version);
  if (bytes.size() < layers_at) return;
  Put(bytes, layers_at - 8,
      uint64_t{XXH3_64bits(bytes.data() + options_at, layers_at - 8 - options_at)});
  Bytes headers(bytes.begin() + options_at, bytes.begin() + layers_at);
  uint64_t at = layers_at;
  const auto has_header = [&] {
    return at < bytes.size() && bytes.size() - at >= detail::kHeaderBytes1 &&
           bytes.size() - at >= detail::HeaderBytes(VersionAt(bytes, at));
  };
  while (has_header()) {
    const uint64_t end = detail::Padded(SealFilter(bytes, at));
    const size_t n = std::min<size_t>(detail::HeaderBytes(version), bytes.size() - at);
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    headers.insert(headers.end(), begin, begin + static_cast<std::ptrdiff_t>(n));
    at = end;
  }
  if (version == 1) {
    PutChecksum(bytes, 0, bytes.data() + options_at, bytes.size() - options_at);
  } else {
    PutChecksum(bytes, 0, headers.data(), headers.size());
  }
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tamis;
  Bytes bytes(data, data + size);
  OpenInEveryWay(bytes);
  if (size < detail::kHeaderBytes1) return 0;
  if (size < detail::HeaderBytes(VersionAt(bytes, 0))) return 0;
  // Repeats this with correct checksums, which no mutation can find: first only of the header, then
  // also of the payload and of the layers in it.
  for (const bool seal_payload : {false, true}) {
    if (seal_payload) {
      if (bytes[offset::kFilterKind] == static_cast<uint8_t>(FilterKind::kScalable)) {
        SealScalable(bytes);
      } else {
        SealFilter(bytes, 0);
      }
    }
    SealHeader(bytes, 0);
    OpenInEveryWay(bytes);
  }
  return 0;
}
