// The classes of tamis.join.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_JOIN_JOIN_CLASSES_H_
#define TAMIS_BINDINGS_PYTHON_SRC_JOIN_JOIN_CLASSES_H_

#include <nanobind/nanobind.h>
#include <tamis/join/join_filter.h>
#include <tamis/join/join_keys.h>

#include <memory>
#include <utility>

#include "bindings/python/src/classes/gate.h"
#include "bindings/python/src/keys/key_source.h"
#include "bindings/python/src/queries/py_queryable.h"

namespace tamis::python {

namespace nb = nanobind;

// The hashes of rows of several columns. Keys only for joins and filters with this hash.
struct PyColumnHashes {
  HashSpec hash;
  ColumnHashes rows;
};

// The gate orders add and complete. Queries do not need it.
class PyJoinFilter : public PyQueryable {
 public:
  explicit PyJoinFilter(const JoinFilterOptions& options)
      : PyQueryable(QueryTraits::ThreadSafety::kConcurrentChanges),
        key_type(options.key_type),
        filter(options) {}

  const Queryable& queryable() const override { return filter; }
  std::unique_ptr<KeySource> KeysOf(nb::handle x) const override {
    return KeysOrHashesOf(x, filter.hash());
  }

  const JoinKeyType key_type;
  JoinFilter filter;
};

void DefineJoin(nb::module_& m);
void DefineJoinProbe(nb::module_& m);

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_JOIN_JOIN_CLASSES_H_
