// Filters: queries and changes of one key.
#include <memory>
#include <span>
#include <string_view>
#include <variant>

#include "bindings/c/src/handles.h"
#include "bindings/c/src/string_key.h"
#include "tamis/c/filter.h"
#include "tamis/changes.h"
#include "tamis/filters/blocks_queryable.h"
#include "tamis/filters/erasable_filter.h"

namespace tamis::c {
namespace {

// Return the object whose functions for one key are fast, inlined or virtual. Queryable, the base
// class, uses calls with many keys.
const Filter& Asked(const AnyFilter& filter) { return *filter; }
const ConstSplitBlockView& Asked(const BlocksQueryable& blocks) { return blocks.view(); }
const Queryable& Asked(const std::unique_ptr<JoinFilter>& join) { return *join; }
const Queryable& Asked(const Queryable& other) { return other; }

// Returns ask(object), where Asked returns the object.
template <typename Ask>
bool AskOne(const tamis_filter* filter, const Ask& ask) {
  return std::visit([&](const auto& object) { return ask(Asked(object)); },
                    Required(filter, "filter").object);
}

Keys AsKeys(const uint64_t& key) { return std::span(&key, 1); }
Keys AsKeys(const std::string_view& key) { return std::span(&key, 1); }
Keys AsKeys(const Hashes& hash) { return hash; }

// Calls change(filter) for filters of tamis, and change_many(changeable, keys) for other filters.
template <typename Key, typename Change, typename ChangeMany>
bool ChangeOne(tamis_filter* filter, const Key& key, const Change& change,
               const ChangeMany& change_many) {
  struct {
    bool operator()(const AnyFilter& in) const { return change(Writable(*in)); }
    bool operator()(const std::unique_ptr<JoinFilter>&) const { RefuseJoinChange(); }
    bool operator()(Changeable& in) const { return change_many(in, AsKeys(key)) == 1; }
    const Key& key;
    const Change& change;
    const ChangeMany& change_many;
  } const visitor{key, change, change_many};
  return std::visit(visitor, Required(filter, "filter").object);
}

constexpr auto kInsertMany = [](Changeable& in, const Keys& keys) { return Insert(in, keys); };
constexpr auto kEraseMany = [](Changeable& in, const Keys& keys) { return Erase(in, keys); };
constexpr auto kInsertAbsentMany = [](Changeable& in, const Keys& keys) {
  uint64_t fresh = 0;
  return InsertIfAbsent(in, keys, Bitmap({&fresh, 1}));
};

// Inserts one key. Inserts into a view directly, not by a call with many keys.
template <typename Key, typename InsertKey>
bool InsertOne(tamis_filter* filter, const Key& key, const InsertKey& insert) {
  auto* const blocks = std::get_if<BlocksQueryable>(&Required(filter, "filter").object);
  if (blocks == nullptr) return ChangeOne(filter, key, insert, kInsertMany);
  insert(blocks->writable_view());
  return true;
}

template <typename Key, typename EraseKey>
bool EraseOne(tamis_filter* filter, const Key& key, const EraseKey& erase) {
  const auto erase_or_refuse = [&](ChangeableFilter& in) { return erase(RequireErasable(in)); };
  return ChangeOne(filter, key, erase_or_refuse, kEraseMany);
}

}  // namespace
}  // namespace tamis::c

using namespace tamis;
using namespace tamis::c;

tamis_answer tamis_filter_contains_u64(const tamis_filter* filter, uint64_t key) {
  return Answer([&] { return AskOne(filter, [&](auto& in) { return in.Contains(key); }); });
}

tamis_answer tamis_filter_contains_string(const tamis_filter* filter, const char* string,
                                          size_t bytes) {
  return Answer([&] {
    const std::string_view key = StringKey(string, bytes);
    return AskOne(filter, [&](auto& in) { return in.Contains(key); });
  });
}

tamis_answer tamis_filter_contains_hash(const tamis_filter* filter, uint64_t hash) {
  return Answer([&] { return AskOne(filter, [&](auto& in) { return in.ContainsHash(hash); }); });
}

tamis_answer tamis_filter_insert_u64(tamis_filter* filter, uint64_t key) {
  return Answer([&] { return InsertOne(filter, key, [&](auto& in) { return in.Insert(key); }); });
}

tamis_answer tamis_filter_insert_string(tamis_filter* filter, const char* string, size_t bytes) {
  return Answer([&] {
    const std::string_view key = StringKey(string, bytes);
    return InsertOne(filter, key, [&](auto& in) { return in.Insert(key); });
  });
}

tamis_answer tamis_filter_insert_hash(tamis_filter* filter, uint64_t hash) {
  return Answer([&] {
    const auto insert = [&](auto& in) { return in.InsertHash(hash); };
    return InsertOne(filter, Hashes{{&hash, 1}}, insert);
  });
}

tamis_answer tamis_filter_insert_if_absent_u64(tamis_filter* filter, uint64_t key) {
  return Answer([&] {
    const auto insert = [&](ChangeableFilter& in) { return in.InsertIfAbsent(key); };
    return ChangeOne(filter, key, insert, kInsertAbsentMany);
  });
}

tamis_answer tamis_filter_insert_if_absent_string(tamis_filter* filter, const char* string,
                                                  size_t bytes) {
  return Answer([&] {
    const std::string_view key = StringKey(string, bytes);
    const auto insert = [&](ChangeableFilter& in) { return in.InsertIfAbsent(key); };
    return ChangeOne(filter, key, insert, kInsertAbsentMany);
  });
}

tamis_answer tamis_filter_insert_if_absent_hash(tamis_filter* filter, uint64_t hash) {
  return Answer([&] {
    const auto insert = [&](ChangeableFilter& in) { return in.InsertHashIfAbsent(hash); };
    return ChangeOne(filter, Hashes{{&hash, 1}}, insert, kInsertAbsentMany);
  });
}

tamis_answer tamis_filter_erase_u64(tamis_filter* filter, uint64_t key) {
  return Answer(
      [&] { return EraseOne(filter, key, [&](ErasableFilter& in) { return in.Erase(key); }); });
}

tamis_answer tamis_filter_erase_string(tamis_filter* filter, const char* string, size_t bytes) {
  return Answer([&] {
    const std::string_view key = StringKey(string, bytes);
    return EraseOne(filter, key, [&](ErasableFilter& in) { return in.Erase(key); });
  });
}

tamis_answer tamis_filter_erase_hash(tamis_filter* filter, uint64_t hash) {
  return Answer([&] {
    const auto erase = [&](ErasableFilter& in) { return in.EraseHash(hash); };
    return EraseOne(filter, Hashes{{&hash, 1}}, erase);
  });
}
