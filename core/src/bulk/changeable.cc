#include "tamis/changeable.h"

#include "core/src/bulk/changeable_access.h"
#include "core/src/bulk/outcomes.h"
#include "tamis/changes.h"
#include "tamis/error.h"

namespace tamis {

using detail::ChangeableAccess;

Changeable::~Changeable() = default;

size_t Changeable::Insert(Keys keys) { return Apply(Change::kInsert, keys, {}); }

size_t Changeable::Insert(Keys keys, std::span<uint64_t> rejected) {
  return Apply(Change::kInsert, keys, detail::IndicesFor(keys.size(), rejected));
}

size_t Changeable::InsertIfAbsent(Keys keys, Bitmap fresh) {
  return Apply(Change::kInsertIfAbsent, keys, detail::BitsFor(keys.size(), fresh));
}

size_t Changeable::InsertIfAbsent(Keys keys, Bitmap fresh, Bitmap rejected) {
  return Apply(Change::kInsertIfAbsent, keys, detail::BitsFor(keys.size(), fresh, rejected));
}

size_t Changeable::Erase(Keys keys) { return Apply(Change::kErase, keys, {}); }

size_t Changeable::Erase(Keys keys, std::span<uint64_t> missing) {
  return Apply(Change::kErase, keys, detail::IndicesFor(keys.size(), missing));
}

void detail::ChangeableAccess::Require(bool supported, const char* message) {
  if (!supported) throw Error(ErrorCode::kUnsupported, message);
}

size_t Insert(Changeable& to, Keys keys) { return ChangeableAccess::Insert(to, keys); }

size_t Insert(Changeable& to, Keys keys, std::span<uint64_t> rejected) {
  return ChangeableAccess::Insert(to, keys, rejected);
}

size_t InsertIfAbsent(Changeable& to, Keys keys, Bitmap fresh) {
  return ChangeableAccess::InsertIfAbsent(to, keys, fresh);
}

size_t InsertIfAbsent(Changeable& to, Keys keys, Bitmap fresh, Bitmap rejected) {
  return ChangeableAccess::InsertIfAbsent(to, keys, fresh, rejected);
}

size_t Erase(Changeable& from, Keys keys) { return ChangeableAccess::Erase(from, keys); }

size_t Erase(Changeable& from, Keys keys, std::span<uint64_t> missing) {
  return ChangeableAccess::Erase(from, keys, missing);
}

}  // namespace tamis
