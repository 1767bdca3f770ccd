// The interface of all classes into which keys can be inserted. Some classes can also insert only
// absent keys, or erase keys.
//
// See docs/contracts.md for the rules of all classes: keys, nulls, outputs, threads, errors.
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
  bool inserts_if_absent = false;  // whether InsertIfAbsent works
  bool erases = false;             // whether Erase works
  // Callers must not split a call into several, because one bad key rejects all keys, or because
  // each call is a round trip.
  bool whole_calls = false;
};

// The memory to which a change of many keys writes the result for each key. An output that is
// nullptr is not written.
struct ChangeOutputs {
  // Indices of the keys that were not inserted or erased, nulls included, ascending.
  uint64_t* rejected_indices = nullptr;
  // Bitmaps over all keys. `fresh`: keys that Change::kInsertIfAbsent inserted. `rejected`: absent
  // keys that could not be inserted.
  uint64_t* fresh = nullptr;
  uint64_t* rejected = nullptr;
};

// An object into which keys can be inserted. Each derived class makes public only the functions
// that it supports, so calls of the other functions do not compile. The functions of changes.h
// accept any Changeable, and check at run time whether it supports the change.
//
// Adds no data members to the classes that derive from it.
class Changeable {
 public:
  virtual ~Changeable();

  // Returns the changes that this object supports.
  virtual ChangeTraits change_traits() const noexcept = 0;

 protected:
  Changeable() = default;
  Changeable(const Changeable&) = default;
  Changeable(Changeable&&) noexcept = default;
  Changeable& operator=(const Changeable&) = default;
  Changeable& operator=(Changeable&&) noexcept = default;

  // Inserts keys in their order. Returns the number of inserted keys: all keys except nulls and
  // keys that do not fit. A key that does not fit changes nothing, and the keys after it are still
  // tried. Throws Error(kReadOnly), and the errors that the class documents.
  size_t Insert(Keys keys);
  // Without this overload, {"a", "b"} would be taken for one iterator pair.
  size_t Insert(std::initializer_list<std::string_view> keys) { return Insert(Keys(keys)); }
  // Inserts keys as above. Also writes the indices of the keys that were not inserted, nulls
  // included, ascending, to rejected[0 .. n - result). `rejected` needs n elements.
  size_t Insert(Keys keys, std::span<uint64_t> rejected);

  // Inserts the keys that are absent, one after another, and returns their number. Bit i of `fresh`
  // becomes 1 if key i was inserted, and 0 otherwise. A key is present if Contains would return
  // true just before the key's turn. So keys that were inserted earlier, or are earlier in `keys`,
  // are present, and so are false positives. A present key changes nothing, even in a filter that
  // could store another copy of it. Nulls and keys that do not fit are not inserted. `fresh` needs
  // BitmapWords(n) words or more, of which exactly BitmapWords(n) are written. Throws
  // Error(kReadOnly), and the errors that the class documents.
  size_t InsertIfAbsent(Keys keys, Bitmap fresh);
  // Inserts keys as above. Also sets bit i of `rejected` if key i is absent and could not be
  // inserted. If such a key occurs twice in `keys`, it can be rejected twice. A key whose bit is 0
  // in both bitmaps is present or null. Both bitmaps need BitmapWords(n) words or more.
  size_t InsertIfAbsent(Keys keys, Bitmap fresh, Bitmap rejected);

  // Erases one copy of each key, in the order of the keys. Returns the number of keys that were
  // found and erased. Throws Error(kReadOnly), and the errors that the class documents.
  size_t Erase(Keys keys);
  size_t Erase(std::initializer_list<std::string_view> keys) { return Erase(Keys(keys)); }
  // Erases keys as above. Also writes the indices of the keys that were not erased, nulls included,
  // ascending, to missing[0 .. n - result). `missing` needs n elements.
  size_t Erase(Keys keys, std::span<uint64_t> missing);

  // Applies one change to all keys of a call, in their order. Returns the number of keys that were
  // inserted, erased, or new. Called only for changes that change_traits() supports.
  virtual size_t Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) = 0;

 private:
  friend struct detail::ChangeableAccess;
};

}  // namespace tamis

#endif  // TAMIS_CHANGEABLE_H_
