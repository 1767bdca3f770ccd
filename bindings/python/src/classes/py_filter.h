// A filter of tamis as an object of Python.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_CLASSES_PY_FILTER_H_
#define TAMIS_BINDINGS_PYTHON_SRC_CLASSES_PY_FILTER_H_

#include <nanobind/nanobind.h>
#include <tamis/filter_kind_name.h>
#include <tamis/tamis.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "bindings/python/src/classes/typed.h"
#include "bindings/python/src/keys/held_buffer.h"
#include "bindings/python/src/queries/py_queryable.h"

namespace tamis::python {

namespace nb = nanobind;

// The bytes that a filter is in without owning them: of a buffer, or a copy of one that begins
// where a filter cannot.
class Backing {
 public:
  explicit Backing(nb::handle object);

  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  // Of the buffer; nullptr for a copy.
  PyObject* owner() const noexcept { return held_ ? held_->view().obj : nullptr; }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<HeldBuffer> held_;
  std::unique_ptr<std::byte, Free> copy_;
  std::span<const std::byte> bytes_;
};

class PyFilter : public PyChangeable {
 public:
  explicit PyFilter(AnyFilter made, std::unique_ptr<Backing> bytes = nullptr)
      : PyChangeable(QueryTraits::ThreadSafety::kConcurrentQueries),
        kind(made->kind()),
        held(std::move(bytes)),
        filter(std::move(made)) {}

  const Queryable& queryable() const override { return *filter; }
  // Throws BufferError while its buffer is exported, and ReadOnlyError.
  ChangeableFilter& RequireChangeable() override;
  ChangeableFilter* engine_filter() override { return filter->changeable(); }
  std::string name() const override { return std::string(FilterKindName(kind)) + " filter"; }
  std::optional<HashSpec> hash_for_erasure() const override { return filter->hash(); }
  void RequireAllIn(const Keys& keys) const override { erasable()->RequireAllIn(keys); }

  bool changeable() const noexcept { return exports == 0 && !filter->read_only(); }
  // nullptr if keys cannot be erased.
  ErasableFilter* erasable() const noexcept { return filter.As<ErasableFilter>(); }

  const FilterKind kind;          // of the filter, which the class may not say: f.__class__ = ...
  std::unique_ptr<Backing> held;  // of a filter that frombuffer made; outlives `filter`
  AnyFilter filter;
  Py_ssize_t exports = 0;  // memoryviews of the contents
};

// One type for each class, so that each has its own constructor and operators.
template <FilterKind kKind>
struct FilterOf : PyFilter {
  using PyFilter::PyFilter;
};

// The filter in an object that is known to be of class Filter; nullptr with TypeError set if its
// __init__ was never called, as by a subclass that forgets it.
inline PyFilter* FilterIn(PyObject* self) noexcept {
  if (!nb::inst_ready(self)) {
    PyErr_SetString(PyExc_TypeError, "the filter is not made yet: call super().__init__(...)");
    return nullptr;
  }
  return nb::inst_ptr<PyFilter>(self);
}

// An object of the class for its kind.
FilterResult Wrap(AnyFilter filter, std::unique_ptr<Backing> bytes = nullptr);

nb::handle ClassOf(FilterKind kind);

void DefineErrors(nb::module_& m);
[[noreturn]] void ThrowFull(uint64_t lost, uint64_t keys);

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_CLASSES_PY_FILTER_H_
