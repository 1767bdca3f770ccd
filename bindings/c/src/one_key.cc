// Filters: one key.
#include <string_view>

#include "bindings/c/src/handles.h"
#include "bindings/c/src/string_key.h"
#include "tamis/c/filter.h"
#include "tamis/erasable_filter.h"

using namespace tamis;
using namespace tamis::c;

tamis_answer tamis_filter_contains_u64(const tamis_filter* filter, uint64_t key) {
  return Answer([&] { return FilterOf(filter).Contains(key); });
}

tamis_answer tamis_filter_contains_string(const tamis_filter* filter, const char* string,
                                          size_t bytes) {
  return Answer([&] { return FilterOf(filter).Contains(StringKey(string, bytes)); });
}

tamis_answer tamis_filter_contains_hash(const tamis_filter* filter, uint64_t hash) {
  return Answer([&] { return FilterOf(filter).ContainsHash(hash); });
}

tamis_answer tamis_filter_insert_u64(tamis_filter* filter, uint64_t key) {
  return Answer([&] { return WritableFilterOf(filter).Insert(key); });
}

tamis_answer tamis_filter_insert_string(tamis_filter* filter, const char* string, size_t bytes) {
  return Answer([&] { return WritableFilterOf(filter).Insert(StringKey(string, bytes)); });
}

tamis_answer tamis_filter_insert_hash(tamis_filter* filter, uint64_t hash) {
  return Answer([&] { return WritableFilterOf(filter).InsertHash(hash); });
}

tamis_answer tamis_filter_insert_if_absent_u64(tamis_filter* filter, uint64_t key) {
  return Answer([&] { return WritableFilterOf(filter).InsertIfAbsent(key); });
}

tamis_answer tamis_filter_insert_if_absent_string(tamis_filter* filter, const char* string,
                                                  size_t bytes) {
  return Answer([&] { return WritableFilterOf(filter).InsertIfAbsent(StringKey(string, bytes)); });
}

tamis_answer tamis_filter_insert_if_absent_hash(tamis_filter* filter, uint64_t hash) {
  return Answer([&] { return WritableFilterOf(filter).InsertHashIfAbsent(hash); });
}

tamis_answer tamis_filter_erase_u64(tamis_filter* filter, uint64_t key) {
  return Answer([&] { return ErasableFilterOf(filter).Erase(key); });
}

tamis_answer tamis_filter_erase_string(tamis_filter* filter, const char* string, size_t bytes) {
  return Answer([&] { return ErasableFilterOf(filter).Erase(StringKey(string, bytes)); });
}

tamis_answer tamis_filter_erase_hash(tamis_filter* filter, uint64_t hash) {
  return Answer([&] { return ErasableFilterOf(filter).EraseHash(hash); });
}
