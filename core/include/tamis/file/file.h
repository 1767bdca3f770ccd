// Filter files: headers, and options for loading, mapping and saving.
//
// core/FORMAT.md specifies the format. Paths name a file or its first shard. Files are not trusted:
// every field is checked against the other fields and the length of the file before use.
#ifndef TAMIS_FILE_FILE_H_
#define TAMIS_FILE_FILE_H_

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "tamis/backend.h"
#include "tamis/hash.h"
#include "tamis/key_types.h"
#include "tamis/memory.h"

namespace tamis {

// The values are part of the file format. filter_kinds.h lists the kinds and their abilities.
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

// The header of a file. All fields have passed their checks.
struct FileHeader {
  // The version that Save writes. Version 1 has no key types, no keyed hashes, and a single
  // checksum. Version 3 is version 2 for split-block filters of more than 2^32 - 1 blocks. Save
  // writes it for these filters, and only for these.
  static constexpr uint32_t kNewestVersion = 2;
  static constexpr uint32_t kVersionOfManyBlocks = 3;

  uint32_t version = kNewestVersion;          // version of the format
  FilterKind kind = FilterKind::kSplitBlock;  // kind of the filter
  HashSpec hash;  // the hash; without its secret in the result of ReadHeader or VerifyFile
  std::array<uint64_t, 3> geometry{};  // its meaning depends on the kind: see core/FORMAT.md
  uint64_t capacity = 0;               // number of keys that the filter was sized for
  uint64_t inserted = 0;               // see Filter::inserted_count
  uint64_t payload_bytes = 0;          // size of the filter behind the header
  // XXH3-128, low half and high half. core/FORMAT.md defines the input for each version.
  std::array<uint64_t, 2> payload_checksum{};
  // Files of version 1 do not have the fields below.
  KeyTypes key_types = KeyType::kUnknown;  // types of all inserted keys
  bool has_secret = false;                 // whether the secret of a keyed hash is in the file
  std::array<uint64_t, 2> key_tag{};       // identifies the secret of a keyed hash
};

// The checks when a file is opened.
enum class Verify : uint8_t {
  kHeader,  // the header and the length of the file
  kFull,    // also the checksums of the payload and the rules of its kind; reads the whole file
};

// Options of loading a file into memory.
struct LoadOptions {
  MemoryOptions memory = {};         // memory of the filter
  const Backend* backend = nullptr;  // nullptr: DefaultBackend()
  // The secret of a keyed hash, if the file does not contain it. Error(kSecret) is thrown if it is
  // missing or wrong, or given for a filter whose hash is not keyed.
  std::optional<HashSecret> secret = {};
};

// Options of mapping a file.
struct MapOptions {
  Verify verify = Verify::kHeader;        // checks of the file before it is used
  const Backend* backend = nullptr;       // nullptr: DefaultBackend()
  std::optional<HashSecret> secret = {};  // as in LoadOptions
};

// A lock for programs that read a file, change the filter and replace the file. If two programs do
// this at the same time without the lock, the changes of one program are lost. Take the lock before
// reading the file, pass it to Save, and release it after that. The lock is advisory: it excludes
// only programs that take it.
class FileLock {
 public:
  // Takes the lock without waiting. Throws Error(kBusy) if this process or another process holds
  // the lock. Throws Error(kIo) if the file does not exist or cannot be opened. On file systems
  // without locks, and on NFS if this process may not write to the file, the constructor locks
  // nothing, and only RequireUnchanged protects the file.
  explicit FileLock(std::filesystem::path path);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

  // Throws Error(kBusy) if the path now names another file. Save calls this before replacing a
  // file.
  void RequireUnchanged() const;

 private:
  struct State;

  std::filesystem::path path_;
  std::unique_ptr<State> state_;
};

// How a filter is saved.
//
// The new file gets the mode and the access list of the file that it replaces, and also the owner
// and the group if the process may set them. If the process may not set them, the new file grants
// users other than its owner nothing that the old file denied them. Set-user-ID bits and similar
// bits are dropped. Other hard links still name the old file. If the path is a symbolic link, the
// link stays, and its target is replaced, or made if it does not exist. On Windows, Save throws
// Error(kBusy) and replaces nothing if the file is mapped, or (under wine) open.
struct SaveOptions {
  // Whether to replace a read-only file: this process may not write to it, or (even for root) its
  // mode lets no user write. Otherwise Save throws Error(kIo) for such a file.
  bool replace_read_only = false;
  // Whether the file must be new. If a file of this name exists when Save is about to give the name
  // to the new file, Save throws Error(kBusy) and replaces nothing. If several programs save under
  // one name at the same time, exactly one succeeds.
  bool only_new = false;
  // The lock of the file that was read and is now replaced. nullptr: none.
  const FileLock* lock = nullptr;
  // Whether to save the secret of a keyed hash in the file. If so, anyone who can read the file can
  // choose keys that collide. If not, LoadOptions must give the secret. By default, the secret is
  // saved if the filter was loaded from a file with its secret.
  std::optional<bool> with_secret = {};
  // 1: for readers that support only version 1. Not possible for filters with a keyed hash, and for
  // filters of more than 128 GiB, whose files have version 3 in any case.
  uint32_t version = FileHeader::kNewestVersion;
  // If it is not 0, the filter is saved in shards: files of `shard_bytes` bytes, except for the
  // last, which may be shorter (core/FORMAT.md, "Shards of a file"). `shard_bytes` must be a
  // multiple of 65,536. The path must be a name and ".0000"; the other files end in ".0001" and so
  // on, up to ".9999". There must be at least 16 shards fewer than files that the process may have
  // open (`ulimit -n`). Otherwise Save throws Error(kInvalidArgument). All files must be new, as
  // with `only_new`. The first shard gets its name last, so an interrupted Save leaves no filter
  // that can be opened.
  //
  // If it is 0, Save throws Error(kInvalidArgument) if the path is a shard of a saved filter.
  uint64_t shard_bytes = 0;
};

}  // namespace tamis

#endif  // TAMIS_FILE_FILE_H_
