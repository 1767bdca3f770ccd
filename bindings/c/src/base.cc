// Names, kinds, hashes and backends.
#include "tamis/c/base.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <span>
#include <string>

#include "bindings/c/src/abilities.h"
#include "bindings/c/src/key_array.h"
#include "bindings/c/src/options.h"
#include "bindings/c/src/room.h"
#include "bindings/c/src/text.h"
#include "tamis/backend.h"
#include "tamis/backends.h"
#include "tamis/detail/str_cat.h"
#include "tamis/file/filter_kind_name.h"
#include "tamis/filters/filter_kinds.h"
#include "tamis/hash_keys.h"
#include "tamis/hash_kinds.h"
#include "tamis/random_seed.h"
#include "tamis/version.h"

using namespace tamis;
using namespace tamis::c;

const char* tamis_version(void) { return TAMIS_VERSION_STRING; }

namespace tamis::c {

char* NewText(const std::string& text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace tamis::c

void tamis_text_free(char* text) { std::free(text); }

tamis_status tamis_hash_random(uint32_t kind, tamis_hash* out) {
  return Guard([&] {
    tamis_hash& made = Required(out, "out");
    tamis_hash hash{};
    hash.kind = kind;
    HashSpec spec = ReadHash(hash);
    if (IsKeyed(spec.kind)) {
      spec = RandomKeyedHash(spec.kind);
    } else if (std::ranges::find(kHashKinds, spec.kind) != std::end(kHashKinds)) {
      spec.seed = RandomSeed();
    } else {
      Refuse(tamis::detail::StrCat("hash kind ", kind, " does not exist"));
    }
    made = {static_cast<uint32_t>(spec.kind), 0, spec.seed, spec.secret.low, spec.secret.high};
  });
}

tamis_status tamis_hash_keys(const tamis_keys* keys, const tamis_hash* hash, uint64_t* hashes,
                             uint64_t capacity, uint64_t* num_hashes) {
  return Guard([&] {
    const WantedOutput count(num_hashes, "num_hashes");
    const KeyArray array(keys);
    const HashSpec spec = hash != nullptr ? ReadHash(Required(hash, "hash")) : HashSpec{};
    uint64_t valid = 0;
    array.ForRuns([&](const Keys& run, size_t) { valid += run.CountValid(); });
    const std::span out = Room(hashes, capacity, valid, "hashes");
    uint64_t n = 0;
    array.ForRuns([&](const Keys& run, size_t) { n += HashKeys(run, spec, out.subspan(n)); });
    count.Set(n);
  });
}

const char* tamis_kind_name(uint32_t kind) {
  for (const FilterKindInfo& info : FilterKinds()) {
    if (static_cast<uint32_t>(info.kind) == kind) return info.name;
  }
  return nullptr;
}

tamis_status tamis_kind_by_name(const char* name, uint32_t* out) {
  return Guard([&] {
    uint32_t& number = Required(out, "out");
    FilterKind kind;
    if (!ParseFilterKind(&Required(name, "name"), kind)) {
      Refuse(
          std::string("unknown kind of filter \"") + name + "\"; tamis_kind_name returns the names",
          ErrorCode::kUnsupported);
    }
    number = static_cast<uint32_t>(kind);
  });
}

tamis_status tamis_kind_abilities(uint32_t kind, uint32_t* out) {
  return Guard([&] {
    uint32_t& set = Required(out, "out");
    set = AbilityBits(KindInfo(static_cast<FilterKind>(kind)).can);
  });
}

const char* tamis_backend_name(uint32_t index) {
  constexpr size_t kMostBytes = 64;
  thread_local char name[kMostBytes];
  const char* found = nullptr;
  Guard([&] {
    const std::span<const Backend> backends = Backends();
    if (index >= backends.size()) return;
    name[backends[index].name.copy(name, kMostBytes - 1)] = '\0';
    found = name;
  });
  return found;
}
