// Opens untrusted bytes as a filter file. Whatever they are, the outcome is a FormatError or a
// filter that can be used; and a file that is accepted is exactly what the library itself would
// have written.
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "core/src/file/file_format.h"
#include "core/src/filters/scalable/scalable_file.h"
#include "tamis/any_filter.h"
#include "tamis/erasable_filter.h"
#include "tamis/error.h"

namespace tamis {
namespace {

namespace offset = detail::offset;
using detail::kHeaderBytes;

void Require(bool condition) {
  if (!condition) __builtin_trap();
}

// A file in memory, which has a name as long as the process lives.
class MemoryFile {
 public:
  MemoryFile() : fd_(memfd_create("input", MFD_CLOEXEC)) { Require(fd_ >= 0); }

  std::string Write(const std::vector<uint8_t>& bytes) {
    Require(ftruncate(fd_, 0) == 0);
    const auto size = static_cast<ssize_t>(bytes.size());
    Require(pwrite(fd_, bytes.data(), bytes.size(), 0) == size);
    return "/proc/self/fd/" + std::to_string(fd_);
  }

 private:
  int fd_;
};

void UseFilter(const Filter& filter) {
  std::vector<uint64_t> keys(100);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = i * i;
  std::vector<uint64_t> bits(BitmapWords(keys.size()));
  Require(filter.Contains(keys, Bitmap(bits)) == filter.Count(keys));
  filter.estimated_count();
  filter.expected_fpr();
}

// A cuckoo filter may be too full for a key; what it takes it has, and gives back.
void ChangeFilter(Filter& filter) {
  const uint64_t before = filter.inserted_count();
  const std::vector<uint64_t> keys = {1, 2, 3, 3};
  std::vector<uint64_t> rejected(keys.size());
  const size_t inserted = filter.Insert(keys, rejected);
  rejected.resize(keys.size() - inserted);
  std::vector<uint64_t> in;
  for (uint64_t i = 0; i < keys.size(); ++i) {
    if (std::find(rejected.begin(), rejected.end(), i) == rejected.end()) in.push_back(keys[i]);
  }
  Require(in.size() == inserted && filter.Count(in) == inserted);
  Require(filter.inserted_count() == before + inserted);
  // A scalable filter may have no error left for another layer, and may be unsure whose a key is.
  if (filter.kind() == FilterKind::kScalable) return;
  if (auto* const erasable = dynamic_cast<ErasableFilter*>(&filter)) {
    Require(erasable->Erase(in) == inserted && filter.inserted_count() == before);
  } else {
    Require(inserted == keys.size());
  }
}

void OpenInEveryWay(const std::vector<uint8_t>& bytes) {
  static MemoryFile file;
  const std::string path = file.Write(bytes);
  try {
    UseFilter(*OpenMapped(path));
    const FileHeader header = VerifyFile(path);
    const detail::HeaderBytes again = detail::EncodeHeader(header);
    Require(std::memcmp(again.data(), bytes.data(), kHeaderBytes) == 0);

    const AnyFilter loaded = Open(path);
    if (loaded->kind() == FilterKind::kScalable) {
      // Its payload is what its layers have, each in its place.
      Require(loaded->Header().payload_bytes == bytes.size() - kHeaderBytes);
    } else {
      Require(std::memcmp(loaded->payload().data(), bytes.data() + kHeaderBytes,
                          bytes.size() - kHeaderBytes) == 0);
    }
    ChangeFilter(*loaded);
    UseFilter(*loaded);
  } catch (const FormatError& error) {
    Require(error.offset() <= bytes.size() || error.offset() < kHeaderBytes);
  }
}

template <typename T>
void Put(std::vector<uint8_t>& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

// Makes the checksums of options and layers right, as far as the bytes go.
void SealLayers(std::vector<uint8_t>& bytes) {
  if (bytes.size() < offset::kLayers) return;
  Put(bytes, offset::kOptionsChecksum,
      uint64_t{XXH3_64bits(bytes.data() + kHeaderBytes, offset::kOptionsChecksum - kHeaderBytes)});
  uint64_t at = offset::kLayers;
  while (at < bytes.size() && bytes.size() - at >= kHeaderBytes) {
    uint64_t length = 0;
    std::memcpy(&length, bytes.data() + at + offset::kPayloadLength, sizeof(length));
    const uint64_t room = bytes.size() - at - kHeaderBytes;
    const XXH128_hash_t payload =
        XXH3_128bits(bytes.data() + at + kHeaderBytes, std::min(length, room));
    Put(bytes, at + offset::kPayloadChecksum, uint64_t{payload.low64});
    Put(bytes, at + offset::kPayloadChecksum + 8, uint64_t{payload.high64});
    Put(bytes, at + offset::kHeaderChecksum,
        uint64_t{XXH3_64bits(bytes.data() + at, offset::kHeaderChecksum)});
    if (length > room) break;
    at += detail::LayerFileBytes(length);
  }
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tamis;
  std::vector<uint8_t> bytes(data, data + size);
  OpenInEveryWay(bytes);
  if (size < kHeaderBytes) return 0;
  // Once more with checksums that are right, which no mutation finds: first that of the header
  // alone, then that of the payload, too, and of the layers in it.
  for (const bool seal_payload : {false, true}) {
    if (seal_payload) {
      if (bytes[offset::kFilterKind] == static_cast<uint8_t>(FilterKind::kScalable)) {
        SealLayers(bytes);
      }
      const XXH128_hash_t payload = XXH3_128bits(bytes.data() + kHeaderBytes, size - kHeaderBytes);
      Put(bytes, offset::kPayloadChecksum, uint64_t{payload.low64});
      Put(bytes, offset::kPayloadChecksum + 8, uint64_t{payload.high64});
    }
    Put(bytes, offset::kHeaderChecksum,
        uint64_t{XXH3_64bits(bytes.data(), offset::kHeaderChecksum)});
    OpenInEveryWay(bytes);
  }
  return 0;
}
