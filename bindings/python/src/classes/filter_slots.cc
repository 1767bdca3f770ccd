// The one-key calls of filters as C functions of Python. They avoid the generic argument
// conversion, and `k in f` does not look up an attribute.
#include <tamis/file/filter_kind_name.h>

#include <type_traits>

#include "bindings/python/src/classes/for_class.h"
#include "bindings/python/src/classes/py_filter.h"
#include "bindings/python/src/keys/one_key.h"
#include "bindings/python/src/live/guarded.h"

namespace tamis::python {
namespace {

// Waits until the filter may be changed, and returns it. Returns nullptr with an error set if it
// cannot be changed.
ChangeableFilter* RequireChange(PyFilter& f) noexcept {
  ChangeableFilter* filter = f.filter->changeable();
  if (filter != nullptr && f.gate.idle() && f.changeable()) return filter;
  const bool may = Guarded([&] {
    f.gate.WaitToWrite();
    filter = &f.RequireChangeable();
  });
  return may ? filter : nullptr;
}

bool RequireRead(PyQueryable& f) noexcept {
  return !f.gate.writer() || Guarded([&] { f.gate.WaitToRead(); });
}

// Calls change(key) with an integer or a string, and sets `done` to its result. Returns false with
// an error set if a scalable filter cannot allocate another layer.
template <typename Change>
bool ChangeOne(const OneKey& key, bool& done, const Change& change) noexcept {
  return Guarded(
      [&] { done = key.type == OneKey::Type::kInteger ? change(key.integer) : change(key.bytes); });
}

bool ContainsKey(const Filter& filter, const OneKey& key) noexcept {
  return key.type == OneKey::Type::kInteger ? filter.Contains(key.integer)
                                            : filter.Contains(key.bytes);
}

template <typename Py>
int ContainsAny(PyObject* self, PyObject* object) noexcept {
  Py* const f = FilterIn<Py>(self);
  OneKey key;
  if (f == nullptr || !key.Parse(object) || !RequireRead(*f)) return -1;
  return ContainsKey(*f->filter, key);
}

PyObject* AddAny(PyObject* self, PyObject* object) noexcept {
  PyFilter* const f = FilterIn(self);
  OneKey key;
  if (f == nullptr || !key.Parse(object)) return nullptr;
  ChangeableFilter* const filter = RequireChange(*f);
  if (filter == nullptr) return nullptr;
  bool inserted = false;
  if (!ChangeOne(key, inserted, [&](auto k) { return filter->Insert(k); })) return nullptr;
  // If the filter has no room for another copy of a key that it contains, the call succeeds.
  if (!inserted && !ContainsKey(*filter, key) && !Guarded([] { ThrowFull(1, 1); })) return nullptr;
  Py_RETURN_NONE;
}

// Contains and Add are the calls of filters of class F, with the functions of F inlined. They leave
// these cases to ContainsAny and AddAny:
// - The filter has another kind, is not made yet, is in use, or has no room.
// - The key is not a plain int or str.
template <typename F, FilterKind kKind>
int Contains(PyObject* self, PyObject* object) noexcept {
  using Py = PyBaseOf<kKind>;
  if (nb::inst_ready(self)) [[likely]] {
    Py& f = *nb::inst_ptr<Py>(self);
    if (f.kind == kKind && !f.gate.writer()) [[likely]] {
      const F& filter = static_cast<const F&>(*f.filter);
      const int found = ForPlainKey(object, [&](auto key) { return filter.Contains(key); });
      if (found >= 0) [[likely]]
        return ByBranch(found != 0);
    }
  }
  return ContainsAny<Py>(self, object);
}

template <typename F, FilterKind kKind>
PyObject* Add(PyObject* self, PyObject* object) noexcept {
  if (nb::inst_ready(self)) [[likely]] {
    PyFilter& f = *nb::inst_ptr<PyFilter>(self);
    if (f.kind == kKind && f.gate.idle() && f.exports == 0) [[likely]] {
      F& filter = static_cast<F&>(*f.filter);
      const int inserted = ForPlainKey(object, [&](auto key) { return filter.Insert(key); });
      if (inserted > 0) [[likely]]
        Py_RETURN_NONE;
    }
  }
  return AddAny(self, object);
}

PyObject* AddIfAbsent(PyObject* self, PyObject* object) noexcept {
  PyFilter* const f = FilterIn(self);
  OneKey key;
  if (f == nullptr || !key.Parse(object)) return nullptr;
  ChangeableFilter* const filter = RequireChange(*f);
  if (filter == nullptr) return nullptr;
  bool inserted = false;
  if (!ChangeOne(key, inserted, [&](auto k) { return filter->InsertIfAbsent(k); })) {
    return nullptr;
  }
  if (!inserted && !ContainsKey(*filter, key) && !Guarded([] { ThrowFull(1, 1); })) return nullptr;
  return PyBool_FromLong(inserted);
}

// Returns whether the key was erased, or -1 with an error set.
int Erase(PyObject* self, PyObject* object) noexcept {
  PyFilter* const f = FilterIn(self);
  OneKey key;
  if (f == nullptr) return -1;
  ErasableFilter* const erasable = f->erasable();
  if (erasable == nullptr) {
    PyErr_Format(PyExc_TypeError, "keys cannot be erased from a %s filter",
                 FilterKindName(f->filter->kind()));
    return -1;
  }
  if (!key.Parse(object) || RequireChange(*f) == nullptr) return -1;
  bool erased = false;
  if (!ChangeOne(key, erased, [&](auto k) { return erasable->Erase(k); })) return -1;
  return erased;
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

// Exports the contents, as they are in a file, as a read-only buffer. While a memoryview of the
// contents exists, the filter cannot be changed.
template <typename Py>
int GetBuffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  view->obj = nullptr;
  Py* const f = FilterIn<Py>(self);
  if (f == nullptr || !RequireRead(*f)) return -1;
  const std::span<const std::byte> payload = f->filter->payload();
  if (payload.empty()) {
    PyErr_SetString(PyExc_BufferError,
                    "a scalable filter is in several pieces of memory: use to_bytes()");
    return -1;
  }
  if (PyBuffer_FillInfo(view, self, const_cast<std::byte*>(payload.data()),
                        static_cast<Py_ssize_t>(payload.size()), 1, flags) != 0) {
    return -1;
  }
  ++f->exports;
  return 0;
}

template <typename Py>
void ReleaseBuffer(PyObject* self, Py_buffer*) noexcept {
  --nb::inst_ptr<Py>(self)->exports;
}

// A filter made by frombuffer refers to the owner of its bytes, and the owner may refer to the
// filter. The garbage collector can break such a cycle at the other objects, so the filter does not
// clear its reference.
template <typename Py>
int Traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const Py* const f = nb::inst_ptr<Py>(self);
  if (f->held != nullptr) Py_VISIT(f->held->owner());
  return 0;
}

constexpr char kAddDoc[] =
    "add($self, key, /)\n"
    "--\n\n"
    "Inserts one key: a str, bytes, int (-2**63 to 2**64 - 1, or anything with __index__) or\n"
    "uuid.UUID. A str is the same key as its UTF-8 bytes, and a negative int the same key as\n"
    "its 64-bit two's complement. Raises FullError if the filter has no room for the key,\n"
    "TypeError for other types, OverflowError, ReadOnlyError, and BufferError while a\n"
    "memoryview of the filter exists.\n\n"
    ">>> f = tamis.SplitBlockBloomFilter(1000)\n"
    ">>> f.add('ada')\n"
    ">>> 'ada' in f, b'ada' in f, 'eve' in f\n"
    "(True, True, False)\n";
constexpr char kAddIfAbsentDoc[] =
    "add_if_absent($self, key, /)\n"
    "--\n\n"
    "Inserts one key unless it may be in the filter. Returns True if it was inserted.\n\n"
    ">>> f = tamis.SplitBlockBloomFilter(1000)\n"
    ">>> f.add_if_absent(7), f.add_if_absent(7)\n"
    "(True, False)\n";
constexpr char kDiscardDoc[] =
    "discard($self, key, /)\n"
    "--\n\n"
    "Erases one copy of one key, which must have been inserted. Returns whether it was found.\n"
    "Raises TypeError for a filter that cannot erase keys.\n\n"
    ">>> f = tamis.CuckooFilter16(1000)\n"
    ">>> f.add(7)\n"
    ">>> f.discard(7), 7 in f, f.discard(7)\n"
    "(True, False, False)\n";
constexpr char kRemoveDoc[] =
    "remove($self, key, /)\n"
    "--\n\n"
    "Erases one copy of one key. Raises KeyError if it is not found. See discard.\n";

// Returns the methods of a class, with its own function for `add`.
template <PyCFunction kAdd>
PyMethodDef* Methods() noexcept {
  static PyMethodDef methods[] = {{"add", kAdd, METH_O, kAddDoc},
                                  {"add_if_absent", AddIfAbsent, METH_O, kAddIfAbsentDoc},
                                  {"discard", Discard, METH_O, kDiscardDoc},
                                  {"remove", Remove, METH_O, kRemoveDoc},
                                  {nullptr, nullptr, 0, nullptr}};
  return methods;
}

// Each class defines these slots again. The slots that nanobind defines for a class hide the
// inherited slots. The interpreter calls a method of C directly only if the class of the object
// itself defines the method.
template <typename F, FilterKind kKind>
PyType_Slot* SlotsFor() noexcept {
  void* contains = reinterpret_cast<void*>(ContainsAny<PyBaseOf<kKind>>);
  if constexpr (!std::is_same_v<F, Filter>) contains = reinterpret_cast<void*>(Contains<F, kKind>);
  PyMethodDef* methods = Methods<AddAny>();
  if constexpr (std::is_base_of_v<ChangeableFilter, F>) methods = Methods<Add<F, kKind>>();
  static PyType_Slot slots[] = {
      {Py_sq_contains, contains},
      {Py_tp_traverse, reinterpret_cast<void*>(Traverse<PyBaseOf<kKind>>)},
      {IsStatic(kKind) ? 0 : Py_tp_methods, methods},
      {0, nullptr}};
  return slots;
}

}  // namespace

PyType_Slot* FilterSlots() noexcept {
  static PyType_Slot slots[] = {
      {Py_sq_contains, reinterpret_cast<void*>(ContainsAny<PyFilter>)},
      {Py_tp_methods, Methods<AddAny>()},
      {Py_bf_getbuffer, reinterpret_cast<void*>(GetBuffer<PyFilter>)},
      {Py_bf_releasebuffer, reinterpret_cast<void*>(ReleaseBuffer<PyFilter>)},
      {Py_tp_traverse, reinterpret_cast<void*>(Traverse<PyFilter>)},
      {0, nullptr},
  };
  return slots;
}

PyType_Slot* StaticFilterSlots() noexcept {
  static PyType_Slot slots[] = {
      {Py_bf_getbuffer, reinterpret_cast<void*>(GetBuffer<PyStaticFilter>)},
      {Py_bf_releasebuffer, reinterpret_cast<void*>(ReleaseBuffer<PyStaticFilter>)},
      {Py_tp_traverse, reinterpret_cast<void*>(Traverse<PyStaticFilter>)},
      {0, nullptr},
  };
  return slots;
}

PyType_Slot* SlotsOf(FilterKind kind) {
  return ForKind(kind, []<typename F, FilterKind kKind>() { return SlotsFor<F, kKind>(); });
}

}  // namespace tamis::python
