// Keys of lists, tuples, sets, generators and other iterables.
#include <utility>

#include "bindings/python/src/classes/gate.h"
#include "bindings/python/src/keys/gathered_keys.h"
#include "bindings/python/src/keys/key_source.h"
#include "bindings/python/src/keys/one_key.h"

namespace tamis::python {
namespace {

// Reads items one by one. `Items` has the function Next, which returns the next item or nullptr at
// the end, and throws what Python code raises. The item is valid until the next call of Next, or
// until Python code runs.
template <typename Items>
class ItemSource final : public KeySource {
 public:
  ItemSource(Items items, size_t gathered) : items_(std::move(items)), batch_(gathered) {}

  bool Next(Keys& keys) override {
    batch_.Clear();
    error_.Catch([this] { Read(); }, [this] { return batch_.size(); });
    keys = batch_.keys();
    return batch_.size() > 0;
  }

 private:
  void Read() {
    if (kept_.is_valid()) Take(std::exchange(kept_, nb::object()).ptr());
    while (!batch_.full()) {
      PyObject* const item = items_.Next();
      if (item == nullptr) return;
      if (!Take(item)) return;
    }
  }

  // Adds a key to the batch, or returns false if the key begins the next batch.
  bool Take(PyObject* item) {
    const int taken = ForPlainKey(item, [this](auto key) { return batch_.Take(key); });
    if (taken > 0) [[likely]]
      return true;
    nb::object held = nb::borrow(item);  // its __index__ may remove it from a list
    if (taken < 0) {
      OneKey key;
      if (!key.ParseOrNull(item)) throw nb::python_error();
      if (batch_.Take(key)) return true;
    }
    kept_ = std::move(held);
    return false;
  }

  Items items_;
  nb::object kept_;  // the key that ended the last batch, because it has another type
  GatheredKeys batch_;
  LateError error_;
};

class ItemsOfIterator {
 public:
  explicit ItemsOfIterator(nb::object iterator) : iterator_(std::move(iterator)) {}

  PyObject* Next() {
    if (!iterator_.is_valid()) return nullptr;
    item_ = nb::steal(OrStay([&] { return PyIter_Next(iterator_.ptr()); }));
    if (!item_.is_valid()) {
      if (PyErr_Occurred()) throw nb::python_error();
      iterator_.reset();
    }
    return item_.ptr();
  }

 private:
  nb::object iterator_;  // invalid after its end
  nb::object item_;
};

// Reads a list or a tuple without an iterator, which takes less time. Like an iterator, it also
// reads items that are appended to the list during the call.
class ItemsOfList {
 public:
  explicit ItemsOfList(nb::object list) : list_(std::move(list)) {}

  PyObject* Next() {
    PyObject* const list = list_.ptr();
#if defined(Py_LIMITED_API)
    if (is_list_) return at_ < PyList_Size(list) ? PyList_GetItem(list, at_++) : nullptr;
    return at_ < PyTuple_Size(list) ? PyTuple_GetItem(list, at_++) : nullptr;
#else
    if (is_list_) return at_ < PyList_GET_SIZE(list) ? PyList_GET_ITEM(list, at_++) : nullptr;
    return at_ < PyTuple_GET_SIZE(list) ? PyTuple_GET_ITEM(list, at_++) : nullptr;
#endif
  }

 private:
  nb::object list_;
  bool is_list_ = PyList_CheckExact(list_.ptr());
  Py_ssize_t at_ = 0;
};

template <typename Items>
std::unique_ptr<KeySource> SourceOf(nb::object object, size_t gathered) {
  return std::make_unique<ItemSource<Items>>(Items(std::move(object)), gathered);
}

}  // namespace

std::unique_ptr<KeySource> SourceOfIterable(nb::handle object, size_t gathered) {
  if (PyList_CheckExact(object.ptr()) || PyTuple_CheckExact(object.ptr())) {
    return SourceOf<ItemsOfList>(nb::borrow(object), gathered);
  }
  nb::object iterator = nb::steal(OrStay([&] { return PyObject_GetIter(object.ptr()); }));
  if (!iterator.is_valid()) {
    // If the object has an __iter__, the error is an exception of its __iter__.
    if (PyType_GetSlot(Py_TYPE(object.ptr()), Py_tp_iter) != nullptr) throw nb::python_error();
    PyErr_Clear();
    return nullptr;
  }
  return SourceOf<ItemsOfIterator>(std::move(iterator), gathered);
}

}  // namespace tamis::python
