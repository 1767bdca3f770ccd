// Filters that take keys after they were made.
#ifndef TAMIS_FILTERS_CHANGEABLE_FILTER_H_
#define TAMIS_FILTERS_CHANGEABLE_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "tamis/changeable.h"
#include "tamis/detail/filter_base.h"

namespace tamis {

// Functions that change the filter throw Error(kReadOnly) if it is read_only(), and those for one
// key return false. Bulk functions run on the calling thread. Engine adds threads.
class ChangeableFilter : public detail::FilterBase, public Changeable {
 public:
  // One key. The functions of the classes do the same, without a virtual call. Integers are keys by
  // their value widened to 64 bits (see Keys), and a hash is one made with hash(). Return whether
  // the key was inserted, as the functions of the class do.
  bool Insert(uint64_t key) noexcept;
  bool Insert(std::string_view key) noexcept;
  bool InsertHash(uint64_t hash) noexcept;
  // Insert the key unless Contains says that it may be in. Return whether it was inserted, and so
  // is new. Contains still tells those others that there is no room for.
  bool InsertIfAbsent(uint64_t key) noexcept;
  bool InsertIfAbsent(std::string_view key) noexcept;
  bool InsertHashIfAbsent(uint64_t hash) noexcept;
  template <detail::NoKey T>
  bool Insert(T) = delete;
  template <detail::NoKey T>
  bool InsertIfAbsent(T) = delete;

  using Changeable::Insert;
  using Changeable::InsertIfAbsent;

  // Empties the filter. Throws Error(kReadOnly) if it is read_only().
  virtual void Clear();

  ChangeableFilter* changeable() noexcept override { return this; }
  ChangeTraits change_traits() const noexcept override;

 protected:
  using FilterBase::FilterBase;

  size_t Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) override;
  // One key, by its hash, with the filter's own backend.
  virtual bool ChangeOne(Change change, uint64_t hash) noexcept = 0;
  // Changes the filter by keys in their order, the first of which has the index `first`. Returns
  // how many of them changed it, and tells `outcomes` which could not be inserted or erased, and
  // for Change::kInsertIfAbsent, which were new. Does not change inserted_.
  virtual size_t ChangeBatch(Change change, const detail::Kernels& kernels,
                             const detail::Batch& batch, uint64_t first,
                             detail::Outcomes& outcomes) noexcept = 0;
  // Returns a writer that orders n keys by their region of the filter, for this number of threads.
  // Returns nullptr if the filter has no such writer. Throws Error(kOutOfMemory) or std::bad_alloc.
  virtual std::unique_ptr<detail::BulkWriter> MakeWriter(Change change,
                                                         const detail::Kernels& kernels, uint64_t n,
                                                         unsigned threads);

 private:
  friend struct detail::FilterAccess;
};

// The filter as one that takes keys: insertion by way of an AnyFilter is
// RequireChangeable(*filter).Insert(keys). Throws Error(kReadOnly), with the name of the kind, for
// a kind that never changes.
ChangeableFilter& RequireChangeable(Filter& filter);

}  // namespace tamis

#endif  // TAMIS_FILTERS_CHANGEABLE_FILTER_H_
