// Filter files: what they say of themselves, and how they are opened.
//
// The format is specified in core/FORMAT.md. Nothing in a file is trusted: every field is checked
// against the others and against the length of the file before use.
#ifndef TAMIS_FILE_FILE_H_
#define TAMIS_FILE_FILE_H_

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "tamis/backend.h"
#include "tamis/hash.h"
#include "tamis/key_types.h"
#include "tamis/memory.h"

namespace tamis {

// The values are part of the file format. filter_kinds.h says what each kind is and can do.
enum class FilterKind : uint32_t {
  kSplitBlock = 1,
  kCuckoo8 = 2,
  kCuckoo12 = 3,
  kCuckoo16 = 4,
  kBloom = 6,
  kCounting = 7,
  kScalable = 8,
  kFuse8 = 9,
  kFuse12 = 10,
  kFuse16 = 11,
  kFuse32 = 12,
};

// The header of a file, all of whose fields have passed their checks.
struct FileHeader {
  // The version that Save writes. Version 1 has no types of keys, no keyed hashes, and one
  // checksum.
  static constexpr uint32_t kNewestVersion = 2;

  uint32_t version = kNewestVersion;
  FilterKind kind = FilterKind::kSplitBlock;
  HashSpec hash;  // out of a file by ReadHeader or VerifyFile: without the secret
  std::array<uint64_t, 3> geometry{};  // by kind, see core/FORMAT.md; {blocks, 0, 0} ...
  uint64_t capacity = 0;               // keys the filter was sized for
  uint64_t inserted = 0;               // keys inserted, duplicates included, less those erased
  uint64_t payload_bytes = 0;
  // XXH3-128, low half and high half, of what core/FORMAT.md says for the version.
  std::array<uint64_t, 2> payload_checksum{};
  // The rest is not in files of version 1.
  KeyTypes key_types = KeyType::kUnknown;  // of all keys inserted
  bool has_secret = false;                 // whether the secret of a keyed hash is in the file
  std::array<uint64_t, 2> key_tag{};       // of a keyed hash: tells a wrong secret from the right
};

// What is checked when a file is opened.
enum class Verify : uint8_t {
  kHeader,  // the header and the length of the file
  kFull,    // the payload too, its checksums and what its kind says of it: reads the whole file
};

struct LoadOptions {
  MemoryOptions memory = {};
  const Backend* backend = nullptr;  // nullptr: DefaultBackend()
  // The secret of a keyed hash, unless the file has it. Error(kSecret) is thrown if it is wrong or
  // missing, or given for a filter whose hash has none.
  std::optional<HashSecret> secret = {};
};

struct MapOptions {
  Verify verify = Verify::kHeader;
  const Backend* backend = nullptr;       // nullptr: DefaultBackend()
  std::optional<HashSecret> secret = {};  // as in LoadOptions
};

// For programs that read a file, change the filter and replace the file: if two do so at a time,
// the changes of one are lost. Take the lock before the file is read, give it to Save, and drop it
// then. Advisory: it keeps out only those who take it, too.
class FileLock {
 public:
  // Throws Error(kBusy) if somebody has the lock, in this process or another, Error(kIo) if there
  // is no such file. On file systems without locks it holds none, and RequireUnchanged is all that
  // is left.
  explicit FileLock(std::filesystem::path path);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

  // Throws Error(kBusy) if the path now names another file. Save does so before it replaces one.
  void RequireUnchanged() const;

 private:
  // Whether the path still names the file that is open. Throws Error(kIo) if that cannot be told.
  bool IsCurrent() const;

  std::filesystem::path path_;
  int fd_ = -1;
  int process_ = 0;  // a child of fork does not give back what its parent holds
};

// How a filter is saved. A file that replaces another keeps its mode and access list, and its owner
// and group where the process may set them; where it may not, the new file allows nobody but its
// owner what the old one denied. Set-user-ID bits and the like are dropped, and other hard links
// keep the old file. A symbolic link stays: the file that it leads to is replaced, or made if it is
// not there.
struct SaveOptions {
  // Whether to replace a file that this process may not write to, or that nobody may (which root
  // could). If not, such a file is Error(kIo).
  bool replace_read_only = false;
  // Whether the file must be new. If a file of this name exists when the new one gets its name,
  // Save throws Error(kBusy) and replaces nothing. If several programs save under one name at once,
  // exactly one succeeds.
  bool only_new = false;
  // The lock of the file that was read and is now replaced; nullptr: none.
  const FileLock* lock = nullptr;
  // Whether the secret of a keyed hash is put into the file. Whoever can read the file can then
  // choose keys that collide; without it, loading needs the secret again. By default it is in the
  // file if the filter came from one that had it.
  std::optional<bool> with_secret = {};
  // 1: for readers that know no other version. Not for filters with a keyed hash.
  uint32_t version = FileHeader::kNewestVersion;
};

}  // namespace tamis

#endif  // TAMIS_FILE_FILE_H_
