// The interface of everything that takes keys: insertion, insertion of absent keys, and erasure.
#ifndef TAMIS_CHANGEABLE_H_
#define TAMIS_CHANGEABLE_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "tamis/detail/change.h"
#include "tamis/keys.h"

namespace tamis {

namespace detail {
struct ChangeableAccess;
}  // namespace detail

// The changes that a Changeable supports.
struct ChangeTraits {
  bool inserts_if_absent = false;
  bool erases = false;
  // Callers must not cut a call into several, because one bad key rejects all keys, or because each
  // call is a round trip.
  bool whole_calls = false;
};

// Where a change of many keys writes what became of them. nullptr: not wanted.
struct ChangeOutputs {
  // The indices of the keys that were not inserted or erased, nulls included, ascending.
  uint64_t* rejected_indices = nullptr;
  // Bitmaps of all keys: those that Change::kInsertIfAbsent inserted, and those that are absent and
  // could not be inserted.
  uint64_t* fresh = nullptr;
  uint64_t* rejected = nullptr;
};

// Takes keys. A class makes those functions public that it supports, so that a call of another one
// does not compile. The functions for any Changeable, below, check at run time.
//
// Has no data members. Functions with an output throw Error(kInvalidArgument), with nothing written
// or changed, if it is too small. A change needs exclusive access, unless Queryable::traits() of
// the object says otherwise.
class Changeable {
 public:
  virtual ~Changeable();

  virtual ChangeTraits change_traits() const noexcept = 0;

 protected:
  Changeable() = default;
  Changeable(const Changeable&) = default;
  Changeable(Changeable&&) noexcept = default;
  Changeable& operator=(const Changeable&) = default;
  Changeable& operator=(Changeable&&) noexcept = default;

  // Inserts keys in their order. Returns the number of inserted keys: all keys except nulls and
  // keys that there is no room for. A key that cannot be inserted changes nothing, and the keys
  // after it are still tried. Throws Error(kReadOnly), and what the class documents.
  size_t Insert(Keys keys);
  // {"a", "b"} would otherwise be one string, from the one pointer to the other.
  size_t Insert(std::initializer_list<std::string_view> keys) { return Insert(Keys(keys)); }
  // The same, and writes the indices of the keys that were not inserted, nulls included, ascending,
  // to rejected[0 .. n - result). `rejected` needs n elements.
  size_t Insert(Keys keys, std::span<uint64_t> rejected);

  // Inserts the keys that are absent, one after the other: bit i of `fresh` becomes whether key i
  // was new, and was inserted. A key is not new if Contains says at its turn that it may be in: a
  // key that is in, a key that came earlier in `keys`, and at the false-positive rate a key that
  // never came. Such a key changes nothing, not even in a filter that could hold another copy of
  // it. A null is not new, and neither is a key that there is no room for. Returns the number of
  // new keys. `fresh` needs BitmapWords(n) words or more. Exactly BitmapWords(n) are written.
  // Throws Error(kReadOnly), and what the class documents.
  size_t InsertIfAbsent(Keys keys, Bitmap fresh);
  // The same, and sets the bits of the keys that are absent, and could not be inserted, in
  // `rejected`, which needs as many words. A key that comes twice can be among them twice. Bits
  // that are in neither are those of keys that may be in, and of nulls.
  size_t InsertIfAbsent(Keys keys, Bitmap fresh, Bitmap rejected);

  // Erases keys in their order, one copy of each. Returns the number of keys that were found and
  // erased. Throws Error(kReadOnly), and what the class documents.
  size_t Erase(Keys keys);
  size_t Erase(std::initializer_list<std::string_view> keys) { return Erase(Keys(keys)); }
  // The same, and writes the indices of the keys that were not erased, nulls included, ascending,
  // to missing[0 .. n - result). `missing` needs n elements.
  size_t Erase(Keys keys, std::span<uint64_t> missing);

  // Takes all keys of a call, in their order. Returns the number of keys that were inserted,
  // erased, or new. Is called only for changes that change_traits() has.
  virtual size_t Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) = 0;

 private:
  friend struct detail::ChangeableAccess;
};

}  // namespace tamis

#endif  // TAMIS_CHANGEABLE_H_
