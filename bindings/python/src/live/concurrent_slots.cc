#include "bindings/python/src/live/concurrent_slots.h"

#include <tamis/file/filter_kind_name.h>

#include "bindings/python/src/classes/py_filter.h"
#include "bindings/python/src/keys/one_key.h"
#include "bindings/python/src/live/guarded.h"
#include "bindings/python/src/live/live_classes.h"

namespace tamis::python {
namespace {

// Returns nullptr with TypeError set if __init__ was never called.
ConcurrentFilter* FilterOfSelf(PyObject* self) noexcept {
  if (!nb::inst_ready(self)) {
    PyErr_SetString(PyExc_TypeError, "the filter is not made yet: call super().__init__(...)");
    return nullptr;
  }
  return &*nb::inst_ptr<PyConcurrent>(self)->filter;
}

// Returns work(key) for an integer or a string.
template <typename Work>
bool ForKey(const OneKey& key, const Work& work) {
  return key.type == OneKey::Type::kInteger ? work(key.integer) : work(key.bytes);
}

bool ContainsKey(const ConcurrentFilter& filter, const OneKey& key) {
  return ForKey(key, [&](auto k) { return filter.Contains(k); });
}

int Contains(PyObject* self, PyObject* object) noexcept {
  ConcurrentFilter* const filter = FilterOfSelf(self);
  if (filter == nullptr) return -1;
  const int found = ForPlainKey(object, [&](auto k) { return filter->Contains(k); });
  if (found >= 0) return ByBranch(found != 0);
  OneKey key;
  return key.Parse(object) ? ContainsKey(*filter, key) : -1;
}

PyObject* Add(PyObject* self, PyObject* object) noexcept {
  ConcurrentFilter* const filter = FilterOfSelf(self);
  if (filter == nullptr) return nullptr;
  if (ForPlainKey(object, [&](auto k) { return filter->Insert(k); }) > 0) Py_RETURN_NONE;
  OneKey key;
  if (!key.Parse(object)) return nullptr;
  const bool inserted = ForKey(key, [&](auto k) { return filter->Insert(k); });
  // If the filter has no room for another copy of a key that it contains, the call succeeds.
  if (!inserted && !ContainsKey(*filter, key) && !Guarded([] { ThrowFull(1, 1); })) return nullptr;
  Py_RETURN_NONE;
}

PyObject* AddIfAbsent(PyObject* self, PyObject* object) noexcept {
  ConcurrentFilter* const filter = FilterOfSelf(self);
  OneKey key;
  if (filter == nullptr || !key.Parse(object)) return nullptr;
  const bool inserted = ForKey(key, [&](auto k) { return filter->InsertIfAbsent(k); });
  if (!inserted && !ContainsKey(*filter, key) && !Guarded([] { ThrowFull(1, 1); })) return nullptr;
  return PyBool_FromLong(inserted);
}

// Returns whether the key was erased, or -1 with an error set.
int Erase(PyObject* self, PyObject* object) noexcept {
  ConcurrentFilter* const filter = FilterOfSelf(self);
  OneKey key;
  if (filter == nullptr) return -1;
  if (!filter->change_traits().erases) {
    PyErr_Format(PyExc_TypeError, "keys cannot be erased from a %s filter",
                 FilterKindName(filter->kind()));
    return -1;
  }
  if (!key.Parse(object)) return -1;
  const HashSpec& hash = filter->hash();
  return EraseHash(*filter, key.type == OneKey::Type::kInteger ? HashU64(key.integer, hash)
                                                               : HashBytes(key.bytes, hash));
}

PyObject* Discard(PyObject* self, PyObject* object) noexcept {
  const int erased = Erase(self, object);
  return erased < 0 ? nullptr : PyBool_FromLong(erased);
}

PyObject* Remove(PyObject* self, PyObject* object) noexcept {
  const int erased = Erase(self, object);
  if (erased < 0) return nullptr;
  if (erased == 0) {
    PyErr_SetObject(PyExc_KeyError, object);
    return nullptr;
  }
  Py_RETURN_NONE;
}

PyMethodDef kMethods[] = {
    {"add", Add, METH_O, "add($self, key, /)\n--\n\nInserts one key: see tamis.Filter.add."},
    {"add_if_absent", AddIfAbsent, METH_O,
     "add_if_absent($self, key, /)\n"
     "--\n\n"
     "Inserts one key unless it may be in. Returns True if the key was new and was inserted."},
    {"discard", Discard, METH_O,
     "discard($self, key, /)\n"
     "--\n\n"
     "Erases one copy of one key, which must have been inserted: see tamis.Filter.discard."},
    {"remove", Remove, METH_O,
     "remove($self, key, /)\n"
     "--\n\n"
     "Erases one copy of one key. Raises KeyError if it is not found. See discard."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyType_Slot* ConcurrentSlots() noexcept {
  static PyType_Slot slots[] = {
      {Py_sq_contains, reinterpret_cast<void*>(Contains)}, {Py_tp_methods, kMethods}, {0, nullptr}};
  return slots;
}

}  // namespace tamis::python
