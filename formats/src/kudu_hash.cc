#include "formats/src/kudu_hash.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <type_traits>

#include "formats/src/key_visit.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis::detail {
namespace {

static_assert(std::endian::native == std::endian::little);

bool TakesIntegers(KuduType type) noexcept { return type != KuduType::kBytes; }

[[noreturn]] void ThrowForm(KuduType type, const char* form) {
  throw Error(ErrorCode::kInvalidArgument,
              std::string("a Kudu filter of ") + KuduTypeName(type) + " has keys that are " +
                  (TakesIntegers(type) ? "integers" : "strings") + ", and not " + form);
}

template <typename Integer>
bool HashCell(const KuduHasher& hasher, uint64_t key, uint64_t& hash) noexcept {
  constexpr uint64_t kMask = ~uint64_t{0} >> (64 - 8 * sizeof(Integer));
  hash = KuduBlockHash(FastHashOfInteger(key & kMask, sizeof(Integer), hasher.seed),
                       hasher.log_blocks);
  return static_cast<uint64_t>(int64_t{static_cast<Integer>(key)}) == key;
}

// Calls visit(hash_one), where hash_one(key, hash) computes the hash of a key of this type.
template <typename Visit>
auto VisitType(const KuduHasher& hasher, const Visit& visit) {
  const auto cell = [&hasher]<typename Integer>(Integer) {
    return [&hasher](uint64_t key, uint64_t& hash) { return HashCell<Integer>(hasher, key, hash); };
  };
  switch (hasher.type) {
    case KuduType::kInt8:
      return visit(cell(int8_t{}));
    case KuduType::kInt16:
      return visit(cell(int16_t{}));
    case KuduType::kInt32:
      return visit(cell(int32_t{}));
    default:
      return visit(cell(int64_t{}));
  }
}

bool HashString(const KuduHasher& hasher, std::string_view key, uint64_t& hash) noexcept {
  hash = KuduBlockHash(FastHashOfBytes(key, hasher.seed), hasher.log_blocks);
  return true;
}

// Calls hash_one(key, hash) for each key that is not null; of(i) is key i.
template <typename Of, typename HashOne>
uint64_t HashEach(const Keys& keys, size_t begin, size_t n, uint64_t* hashes, const Of& of,
                  const HashOne& hash_one) noexcept {
  const uint64_t valid = NotNull(keys, begin, n);
  uint64_t known = 0;
  for (size_t i = 0; i < n; ++i) {
    // The entry of a null may not be a valid string.
    if (((valid >> i) & 1) == 0 || !hash_one(of(begin + i), hashes[i])) {
      hashes[i] = 0;
    } else {
      known |= uint64_t{1} << i;
    }
  }
  return known;
}

}  // namespace

bool KuduHasher::OfKey(uint64_t key, uint64_t& hash) const {
  if (!TakesIntegers(type)) ThrowForm(type, "integers");
  return VisitType(*this, [&](const auto& hash_one) { return hash_one(key, hash); });
}

bool KuduHasher::OfKey(std::string_view key, uint64_t& hash) const {
  if (TakesIntegers(type)) ThrowForm(type, "strings");
  return HashString(*this, key, hash);
}

void KuduHasher::RequireForm(const Keys& keys) const {
  switch (keys.layout()) {
    case KeyLayout::kU64:
    case KeyLayout::kU32:
    case KeyLayout::kI32:
      // An empty batch without a type also has this layout.
      if (!TakesIntegers(type) && !keys.empty()) ThrowForm(type, "integers");
      return;
    case KeyLayout::kHashes:
      return;
    default:
      if (TakesIntegers(type)) ThrowForm(type, "strings");
  }
}

void KuduHasher::RequireKeys(const Keys& keys) const {
  RequireForm(keys);
  const bool hashes = keys.layout() == KeyLayout::kHashes;
  if (!hashes && (type == KuduType::kInt64 || type == KuduType::kBytes)) return;
  uint64_t unused[64];
  for (size_t begin = 0; begin < keys.size(); begin += 64) {
    const size_t n = std::min<size_t>(64, keys.size() - begin);
    const uint64_t foreign = NotNull(keys, begin, n) & ~OfKeys(keys, begin, n, unused);
    if (foreign == 0) continue;
    const size_t index = begin + static_cast<size_t>(std::countr_zero(foreign));
    throw Error(
        ErrorCode::kInvalidArgument,
        StrCat("key ", index, hashes ? " is not a hash of 32 bits" : " does not fit the type ",
               hashes ? "" : KuduTypeName(type)));
  }
}

uint64_t KuduHasher::OfKeys(const Keys& keys, size_t begin, size_t n,
                            uint64_t* hashes) const noexcept {
  if (keys.layout() == KeyLayout::kHashes) {
    const auto ready = [p = keys.data<uint64_t>()](size_t i) { return p[i]; };
    return HashEach(keys, begin, n, hashes, ready, [this](uint64_t key, uint64_t& hash) {
      hash = KuduBlockHash(static_cast<uint32_t>(key), log_blocks);
      return key <= std::numeric_limits<uint32_t>::max();
    });
  }
  return VisitKeys(keys, [&](const auto& of) -> uint64_t {
    if constexpr (std::is_same_v<decltype(of(begin)), uint64_t>) {
      return VisitType(*this, [&](const auto& hash_one) {
        return HashEach(keys, begin, n, hashes, of, hash_one);
      });
    } else {
      const auto hash_one = [this](std::string_view key, uint64_t& hash) {
        return HashString(*this, key, hash);
      };
      return HashEach(keys, begin, n, hashes, of, hash_one);
    }
  });
}

}  // namespace tamis::detail
