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

// An object of a class of concurrent filters. Several objects may share a filter.
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

// Returns an object of the class for the kind of the filter.
ConcurrentResult WrapConcurrent(AnyConcurrent filter);
// Returns the filter in an object: a concurrent filter, or a concurrent copy of a plain filter.
// Throws TypeError for other objects, and Error(kUnsupported).
AnyConcurrent ConcurrentOf(nb::handle object);

// Throws ValueError for an argument that is negative or not a number.
std::chrono::nanoseconds SecondsOf(Seconds seconds, const char* name);

void DefineConcurrent(nb::module_& m);
void DefineLive(nb::module_& m);
void DefineGuard(nb::module_& m);

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_LIVE_LIVE_CLASSES_H_
