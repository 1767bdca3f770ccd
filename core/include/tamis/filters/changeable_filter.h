// Filters into which keys can be inserted after construction.
#ifndef TAMIS_FILTERS_CHANGEABLE_FILTER_H_
#define TAMIS_FILTERS_CHANGEABLE_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "tamis/changeable.h"
#include "tamis/detail/filter_base.h"

namespace tamis {

// A filter into which keys can be inserted. If the filter is read_only(), functions that change
// many keys throw Error(kReadOnly), and functions that change one key return false. Functions for
// one key never throw. All functions run on the calling thread. Engine adds threads.
class ChangeableFilter : public detail::FilterBase, public Changeable {
 public:
  // Insert one key, and return whether it was inserted. The inlined functions of the classes do the
  // same without a virtual call. `hash` is a hash made with hash().
  bool Insert(uint64_t key) noexcept;
  bool Insert(std::string_view key) noexcept;
  bool InsertHash(uint64_t hash) noexcept;
  // Insert the key if Contains returns false for it. Return whether it was inserted. After a false
  // result, Contains returns true if the key is present, and false if the key does not fit.
  bool InsertIfAbsent(uint64_t key) noexcept;
  bool InsertIfAbsent(std::string_view key) noexcept;
  bool InsertHashIfAbsent(uint64_t hash) noexcept;
  template <detail::NoKey T>
  bool Insert(T) = delete;
  template <detail::NoKey T>
  bool InsertIfAbsent(T) = delete;

  using Changeable::Insert;
  using Changeable::InsertIfAbsent;

  // Removes all keys. Throws Error(kReadOnly) if the filter is read_only().
  virtual void Clear();

  ChangeableFilter* changeable() noexcept override { return this; }
  ChangeTraits change_traits() const noexcept override;

 protected:
  using FilterBase::FilterBase;

  size_t Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) override;
  // Makes one change for the key with this hash, with the filter's own backend.
  virtual bool ChangeOne(Change change, uint64_t hash) noexcept = 0;
  // Makes a change for each key of a batch, in their order. `first` is the index in the call of the
  // first key of the batch. Returns the number of keys that changed the filter. Adds to `outcomes`
  // the keys that could not be inserted or erased, and for Change::kInsertIfAbsent the keys that
  // were new. Does not change inserted_.
  virtual size_t ChangeBatch(Change change, const detail::Kernels& kernels,
                             const detail::Batch& batch, uint64_t first,
                             detail::Outcomes& outcomes) noexcept = 0;
  // Returns a writer that orders n keys by their region of the filter, for `threads` threads.
  // nullptr: none. Throws Error(kOutOfMemory) or std::bad_alloc.
  virtual std::unique_ptr<detail::BulkWriter> MakeWriter(Change change,
                                                         const detail::Kernels& kernels, uint64_t n,
                                                         unsigned threads);
  // Returns a writer that gives each of `threads` threads words of its own, for Change::kInsert.
  // nullptr: none. Throws Error(kOutOfMemory) or std::bad_alloc.
  virtual std::unique_ptr<detail::BulkWriter> MakeUnionWriter(const detail::Kernels& kernels,
                                                              unsigned threads);

 private:
  friend struct detail::FilterAccess;
};

// Returns `filter` as a ChangeableFilter. RequireChangeable(*filter).Insert(keys) inserts into an
// AnyFilter. Throws Error(kReadOnly), with the name of the kind, for a kind that never changes.
ChangeableFilter& RequireChangeable(Filter& filter);

}  // namespace tamis

#endif  // TAMIS_FILTERS_CHANGEABLE_FILTER_H_
