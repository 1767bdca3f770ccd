// The common base of all Python objects that can be queried.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_QUERIES_PY_QUERYABLE_H_
#define TAMIS_BINDINGS_PYTHON_SRC_QUERIES_PY_QUERYABLE_H_

#include <nanobind/nanobind.h>
#include <tamis/filters/changeable_filter.h>
#include <tamis/queryable.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "bindings/python/src/classes/gate.h"
#include "bindings/python/src/keys/key_source.h"

namespace tamis::python {

namespace nb = nanobind;

// A Python object that can be queried. The arguments of the constructor come from the QueryTraits
// of the filter. Call all functions with the GIL.
class PyQueryable {
 public:
  explicit PyQueryable(QueryTraits::ThreadSafety safety, bool waits = false)
      : thread_safety(safety), waits(waits) {}
  PyQueryable(const PyQueryable&) = delete;
  PyQueryable& operator=(const PyQueryable&) = delete;
  virtual ~PyQueryable() = default;

  // Throws ValueError if the filter is closed.
  virtual const Queryable& queryable() const = 0;
  // Returns the keys in an argument of a query. A filter that waits for a server gets few batches,
  // because each waits.
  virtual std::unique_ptr<KeySource> KeysOf(nb::handle x) const {
    return MakeKeySource(x, Numbers::kIntegers, waits ? kConvertedKeys : kCachedKeys);
  }

  const QueryTraits::ThreadSafety thread_safety;
  const bool waits;  // calls wait for a server, so they release the GIL even for few keys
  Gate gate;
};

// The common base of all Python objects that also accept insertions.
class PyChangeable : public PyQueryable {
 public:
  using PyQueryable::PyQueryable;

  // Throws if the filter cannot be changed now: ReadOnlyError, BufferError, ValueError.
  virtual Changeable& RequireChangeable() = 0;
  // Returns the filter if an Engine can change it, and nullptr if only the calling thread can.
  virtual ChangeableFilter* engine_filter() { return nullptr; }
  // Returns a description such as "split-block filter", for messages.
  virtual std::string name() const = 0;
  // Returns the hash with which to hash the keys for RequireAllIn. Returns std::nullopt if
  // RequireAllIn is not supported.
  virtual std::optional<HashSpec> hash_for_erasure() const { return std::nullopt; }
  // Throws Error(kInvalidArgument) if the filter does not find all these hashes. Called without the
  // GIL.
  virtual void RequireAllIn(const Keys&) const {}
};

// Locks a filter for a part of a call. The constructors throw if the filter cannot be queried or
// changed now.
class Locked {
 public:
  explicit Locked(PyQueryable& f)
      : Locked(f, f.thread_safety == QueryTraits::ThreadSafety::kOneThread) {
    f.queryable();
  }
  explicit Locked(PyChangeable& f) : Locked(f, true) { f.RequireChangeable(); }

 private:
  Locked(PyQueryable& f, bool alone) {
    if (f.thread_safety == QueryTraits::ThreadSafety::kConcurrentChanges) return;
    if (alone) {
      writing_.emplace(f.gate);
    } else {
      reading_.emplace(f.gate);
    }
  }

  std::optional<Reading> reading_;
  std::optional<Writing> writing_;
};

inline auto ToQuery(PyQueryable& f) {
  return [&f] { return Locked(f); };
}
inline auto ToChange(PyChangeable& f) {
  return [&f] { return Locked(f); };
}

// Returns work(queryable), called without the GIL.
template <typename Work>
auto Query(PyQueryable& f, const Work& work) {
  const Locked lock(f);
  const Queryable& queryable = f.queryable();
  const WithoutGil released;
  return work(queryable);
}

// Defines tamis.Queryable and tamis.Changeable.
void DefineQueryables(nb::module_& m);

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_QUERIES_PY_QUERYABLE_H_
