// A filter of tamis as a Python object.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_CLASSES_PY_FILTER_H_
#define TAMIS_BINDINGS_PYTHON_SRC_CLASSES_PY_FILTER_H_

#include <nanobind/nanobind.h>
#include <tamis/file/filter_kind_name.h>
#include <tamis/tamis.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "bindings/python/src/classes/typed.h"
#include "bindings/python/src/keys/held_buffer.h"
#include "bindings/python/src/queries/py_queryable.h"

namespace tamis::python {

namespace nb = nanobind;

// The bytes of a filter made by frombuffer: the buffer itself, or a copy if the buffer is not
// aligned.
class Backing {
 public:
  explicit Backing(nb::handle object);

  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  // Returns the owner of the buffer; nullptr for a copy.
  PyObject* owner() const noexcept { return held_ ? held_->view().obj : nullptr; }

 private:
  // The required alignment of the contents of a filter.
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::unique_ptr<HeldBuffer> held_;
  std::unique_ptr<Line[]> copy_;
  std::span<const std::byte> bytes_;
};

// Holds a filter. `Base` is PyChangeable, or PyQueryable for filters that never change.
template <typename Base>
class FilterHolder : public Base {
 public:
  explicit FilterHolder(AnyFilter made, std::unique_ptr<Backing> bytes = nullptr)
      : Base(QueryTraits::ThreadSafety::kConcurrentQueries),
        kind(made->kind()),
        held(std::move(bytes)),
        filter(std::move(made)) {}

  const Queryable& queryable() const override { return *filter; }
  std::unique_ptr<KeySource> KeysOf(nb::handle x) const override {
    return KeysOrHashesOf(x, filter->hash());
  }

  // Returns nullptr if keys cannot be erased.
  ErasableFilter* erasable() const noexcept { return filter.template As<ErasableFilter>(); }

  const FilterKind kind;          // f.__class__ = ... can set the class of another kind
  std::unique_ptr<Backing> held;  // for filters made by frombuffer; outlives `filter`
  AnyFilter filter;
  Py_ssize_t exports = 0;  // memoryviews of the contents
};

class PyFilter : public FilterHolder<PyChangeable> {
 public:
  using FilterHolder::FilterHolder;

  // Throws BufferError while a memoryview of the contents exists, and ReadOnlyError.
  ChangeableFilter& RequireChangeable() override;
  ChangeableFilter* engine_filter() override { return filter->changeable(); }
  std::string name() const override { return std::string(FilterKindName(kind)) + " filter"; }
  std::optional<HashSpec> hash_for_erasure() const override { return filter->hash(); }
  void RequireAllIn(const Keys& keys) const override { erasable()->RequireAllIn(keys); }

  bool changeable() const noexcept { return exports == 0 && !filter->read_only(); }
};

// A filter that is built from all its keys and never changes.
class PyStaticFilter : public FilterHolder<PyQueryable> {
 public:
  using FilterHolder::FilterHolder;
};

constexpr bool IsStatic(FilterKind kind) {
  return kind == FilterKind::kFuse8 || kind == FilterKind::kFuse12 || kind == FilterKind::kFuse16 ||
         kind == FilterKind::kFuse32;
}

// The C++ class of the Python base class of all filters of a kind.
template <FilterKind kKind>
using PyBaseOf = std::conditional_t<IsStatic(kKind), PyStaticFilter, PyFilter>;

// A separate type for each kind, because each Python class has its own constructor and operators.
template <FilterKind kKind>
struct FilterOf : PyBaseOf<kKind> {
  using PyBaseOf<kKind>::PyBaseOf;
};

// Returns the filter in an object of class Filter or StaticFilter, depending on `Py`. Returns
// nullptr with TypeError set if the object's __init__ was never called, for example because a
// subclass forgot to call it.
template <typename Py = PyFilter>
Py* FilterIn(PyObject* self) noexcept {
  if (!nb::inst_ready(self)) {
    PyErr_SetString(PyExc_TypeError, "the filter is not made yet: call super().__init__(...)");
    return nullptr;
  }
  return nb::inst_ptr<Py>(self);
}

inline bool IsFilter(nb::handle object) {
  return nb::isinstance<PyFilter>(object) || nb::isinstance<PyStaticFilter>(object);
}

// Returns work(filter), where `filter` is the PyFilter& or PyStaticFilter& in the object. Requires
// IsFilter(object). Throws TypeError if the object's __init__ was never called.
template <typename Work>
auto WithFilterIn(nb::handle object, const Work& work) {
  const auto with = [&]<typename Py>() {
    Py* const f = FilterIn<Py>(object.ptr());
    if (f == nullptr) throw nb::python_error();
    return work(*f);
  };
  return nb::isinstance<PyFilter>(object) ? with.template operator()<PyFilter>()
                                          : with.template operator()<PyStaticFilter>();
}

// Returns a Python object of the class for the filter's kind.
nb::object Wrap(AnyFilter filter, std::unique_ptr<Backing> bytes = nullptr);

nb::handle ClassOf(FilterKind kind);

void DefineErrors(nb::module_& m);
[[noreturn]] void ThrowFull(uint64_t lost, uint64_t keys);

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_CLASSES_PY_FILTER_H_
