#include "bindings/c/src/options.h"

#include "tamis/backends.h"
#include "tamis/detail/str_cat.h"
#include "tamis/hash_kinds.h"

namespace tamis::c {
namespace {

// The first version of the options ends before `shard_bytes`.
tamis_save_options ReadSaveStruct(const tamis_save_options* options) {
  return ReadOptions(options, "options", offsetof(tamis_save_options, shard_bytes));
}

}  // namespace

bool ReadFlag(uint32_t flag, const char* name) {
  if (flag > 1) Refuse(detail::StrCat(name, " is ", flag, ", must be 0 or 1"));
  return flag == 1;
}

void RequireZero(uint32_t reserved) {
  if (reserved != 0) Refuse(detail::StrCat("reserved is ", reserved, ", must be 0"));
}

HashSpec ReadHash(const tamis_hash& hash) {
  RequireZero(hash.reserved);
  // Users of HashSpec reject unknown kinds, and members that do not match the kind.
  const HashKind kind = hash.kind != 0 ? static_cast<HashKind>(hash.kind) : HashSpec{}.kind;
  return {kind, hash.seed, {hash.secret_low, hash.secret_high}};
}

HashSpec ReadNewHash(const tamis_hash& hash) {
  const HashSpec spec = ReadHash(hash);
  if (IsKeyed(spec.kind) && spec.secret == HashSecret{}) {
    Refuse("the secret of a keyed hash is 0: tamis_hash_random draws one", ErrorCode::kSecret);
  }
  return spec;
}

const Backend* ReadBackend(const char* name) {
  return name != nullptr ? &FindBackend(name) : nullptr;
}

MemoryOptions ReadMemory(uint32_t no_huge_pages) {
  const bool off = ReadFlag(no_huge_pages, "no_huge_pages");
  return {.huge_pages = !off};
}

FilterOptions ReadFilter(const tamis_filter_options& given) {
  RequireZero(given.reserved);
  return {.capacity = given.capacity,
          .fpr = given.fpr,
          .bytes = given.bytes,
          .hash = ReadNewHash(given.hash),
          .memory = ReadMemory(given.no_huge_pages),
          .backend = ReadBackend(given.backend)};
}

SaveOptions ReadSave(const tamis_save_options* options) {
  const tamis_save_options given = ReadSaveStruct(options);
  SaveOptions save;
  save.replace_read_only = ReadFlag(given.replace_read_only, "replace_read_only");
  if (given.version != 0) save.version = given.version;
  if (given.with_secret < -1 || given.with_secret > 1) {
    Refuse(detail::StrCat("with_secret is ", given.with_secret, ", must be -1, 0 or 1"));
  }
  if (given.with_secret != 0) save.with_secret = given.with_secret == 1;
  save.shard_bytes = given.shard_bytes;
  return save;
}

bool ReadImported(const tamis_save_options* options) {
  return ReadFlag(ReadSaveStruct(options).imported, "imported");
}

OpenOptions ReadOpen(const tamis_open_options* options) {
  const tamis_open_options given = ReadOptions(options, "options");
  RequireZero(given.reserved);
  OpenOptions open;
  open.format = given.format;
  open.load.backend = ReadBackend(given.backend);
  open.map = ReadFlag(given.map, "map");
  if (ReadFlag(given.verify, "verify")) open.verify = Verify::kFull;
  if (ReadFlag(given.has_secret, "has_secret")) {
    open.load.secret = HashSecret{given.secret_low, given.secret_high};
  }
  return open;
}

MapOptions OpenOptions::AsMap() const {
  return {.verify = verify, .backend = load.backend, .secret = load.secret};
}

}  // namespace tamis::c
