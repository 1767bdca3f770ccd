#include "tamis/filters/changeable_filter.h"

#include <cstring>
#include <string>

#include "core/src/filters/base/filter_access.h"
#include "tamis/error.h"
#include "tamis/file/filter_kind_name.h"
#include "tamis/filters/filter_kinds.h"

namespace tamis {

bool ChangeableFilter::Insert(uint64_t key) noexcept {
  return Note(KeyType::kInteger, ChangeOne(Change::kInsert, hasher_(key)));
}

bool ChangeableFilter::Insert(std::string_view key) noexcept {
  return Note(KeyType::kBytes, ChangeOne(Change::kInsert, HashBytes(key, hash())));
}

bool ChangeableFilter::InsertHash(uint64_t hash) noexcept {
  return Note(KeyType::kUnknown, ChangeOne(Change::kInsert, hash));
}

bool ChangeableFilter::InsertIfAbsent(uint64_t key) noexcept {
  return Note(KeyType::kInteger, ChangeOne(Change::kInsertIfAbsent, hasher_(key)));
}

bool ChangeableFilter::InsertIfAbsent(std::string_view key) noexcept {
  return Note(KeyType::kBytes, ChangeOne(Change::kInsertIfAbsent, HashBytes(key, hash())));
}

bool ChangeableFilter::InsertHashIfAbsent(uint64_t hash) noexcept {
  return Note(KeyType::kUnknown, ChangeOne(Change::kInsertIfAbsent, hash));
}

void ChangeableFilter::Clear() {
  RequireWritable();
  std::memset(storage_.data(), 0, storage_.size());
  inserted_ = 0;
  key_types_ = has_views_ ? KeyType::kUnknown : KeyTypes();
  Changed();
}

ChangeTraits ChangeableFilter::change_traits() const noexcept {
  return {.inserts_if_absent = true};
}

size_t ChangeableFilter::Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) {
  return detail::FilterAccess::ChangeKeys(*this, change, keys, outputs);
}

std::unique_ptr<detail::BulkWriter> ChangeableFilter::MakeWriter(Change, const detail::Kernels&,
                                                                 uint64_t, unsigned) {
  return nullptr;
}

std::unique_ptr<detail::BulkWriter> ChangeableFilter::MakeUnionWriter(const detail::Kernels&,
                                                                      unsigned) {
  return nullptr;
}

ChangeableFilter& RequireChangeable(Filter& filter) {
  if (ChangeableFilter* const changeable = filter.changeable()) return *changeable;
  throw Error(ErrorCode::kReadOnly, std::string("a ") + FilterKindName(filter.kind()) +
                                        " filter never changes: build another one from all keys");
}

}  // namespace tamis
