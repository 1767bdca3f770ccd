// Keys of lists, sets, generators and other iterables.
#include <utility>

#include "bindings/python/src/classes/gate.h"
#include "bindings/python/src/keys/gathered_keys.h"
#include "bindings/python/src/keys/key_source.h"
#include "bindings/python/src/keys/one_key.h"

namespace tamis::python {
namespace {

class IterableSource final : public KeySource {
 public:
  explicit IterableSource(nb::object iterator) : iterator_(std::move(iterator)) {}

  bool Next(Keys& keys) override {
    batch_.Clear();
    error_.Catch([this] { Read(); }, [this] { return batch_.size(); });
    keys = batch_.keys();
    return batch_.size() > 0;
  }

 private:
  void Read() {
    if (kept_.is_valid()) Take(std::exchange(kept_, nb::object()));
    while (!ended_ && !batch_.full()) {
      const nb::object item = nb::steal(OrStay([&] { return PyIter_Next(iterator_.ptr()); }));
      if (!item.is_valid()) {
        if (PyErr_Occurred()) throw nb::python_error();
        ended_ = true;
      } else if (!Take(item)) {
        kept_ = item;
        break;
      }
    }
  }

  bool Take(const nb::object& item) {
    OneKey key;
    if (!key.ParseOrNull(item.ptr())) throw nb::python_error();
    if (!batch_.Takes(key.type)) return false;
    batch_.Add(key);
    return true;
  }

  nb::object iterator_;
  nb::object kept_;  // the key that ended the last batch, because it has another type
  bool ended_ = false;
  GatheredKeys batch_;
  LateError error_;
};

}  // namespace

std::unique_ptr<KeySource> SourceOfIterable(nb::handle object) {
  nb::object iterator = nb::steal(OrStay([&] { return PyObject_GetIter(object.ptr()); }));
  if (!iterator.is_valid()) {
    // If the object has an __iter__, the error is an exception of its __iter__.
    if (PyType_GetSlot(Py_TYPE(object.ptr()), Py_tp_iter) != nullptr) throw nb::python_error();
    PyErr_Clear();
    return nullptr;
  }
  return std::make_unique<IterableSource>(std::move(iterator));
}

}  // namespace tamis::python
