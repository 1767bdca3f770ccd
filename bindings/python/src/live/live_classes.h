// The classes of tamis.live.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_LIVE_LIVE_CLASSES_H_
#define TAMIS_BINDINGS_PYTHON_SRC_LIVE_LIVE_CLASSES_H_

#include <nanobind/nanobind.h>
#include <tamis/file/filter_kind_name.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "bindings/python/src/classes/options.h"
#include "bindings/python/src/classes/typed.h"
#include "bindings/python/src/live/any_concurrent.h"
#include "bindings/python/src/queries/py_queryable.h"

namespace tamis::python {

namespace nb = nanobind;

// A Python object of a concurrent filter. Several objects may share a filter.
class PyConcurrent : public PyChangeable {
 public:
  explicit PyConcurrent(AnyConcurrent shared)
      : PyChangeable(QueryTraits::ThreadSafety::kConcurrentChanges), filter(std::move(shared)) {}

  const Queryable& queryable() const override { return *filter; }
  Changeable& RequireChangeable() override { return *filter; }
  std::string name() const override {
    return std::string(FilterKindName(filter->kind())) + " filter";
  }
  std::optional<HashSpec> hash_for_erasure() const override { return filter->hash(); }
  void RequireAllIn(const Keys& keys) const override;

  AnyConcurrent filter;
};

// Returns a Python object of the class for the filter's kind.
ConcurrentResult WrapConcurrent(AnyConcurrent filter);
// Returns the filter of a concurrent object, or a concurrent copy of the filter in a plain object.
// Throws TypeError for other objects, and Error(kUnsupported).
AnyConcurrent ConcurrentOf(nb::handle object);

// Converts an argument `name`. Throws ValueError if it is negative or NaN.
std::chrono::nanoseconds SecondsOf(Seconds seconds, const char* name);

void DefineConcurrent(nb::module_& m);
void DefineLive(nb::module_& m);
void DefineGuard(nb::module_& m);

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_LIVE_LIVE_CLASSES_H_
