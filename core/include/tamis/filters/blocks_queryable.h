// A view of split-block blocks as a Queryable and a Changeable.
#ifndef TAMIS_FILTERS_BLOCKS_QUERYABLE_H_
#define TAMIS_FILTERS_BLOCKS_QUERYABLE_H_

#include <cstddef>
#include <cstdint>

#include "tamis/changeable.h"
#include "tamis/filters/split_block_view.h"
#include "tamis/key_types.h"
#include "tamis/keys.h"
#include "tamis/queryable.h"

namespace tamis {

// Adapts a view to Queryable and Changeable, for example for an Engine. The blocks must outlive the
// adapter.
class BlocksQueryable final : public Queryable, public Changeable {
 public:
  // `key_types` are the types of the keys in the blocks. Blocks do not record types. Insertion into
  // a ConstSplitBlockView throws Error(kReadOnly).
  explicit BlocksQueryable(const ConstSplitBlockView& view,
                           KeyTypes key_types = KeyType::kUnknown) noexcept;
  explicit BlocksQueryable(const SplitBlockView& view,
                           KeyTypes key_types = KeyType::kUnknown) noexcept;

  // Returns the view.
  const ConstSplitBlockView& view() const noexcept { return view_; }
  // Returns true if the blocks cannot be changed.
  bool read_only() const noexcept { return read_only_; }
  // Throws Error(kReadOnly) if the object was made from a ConstSplitBlockView.
  const SplitBlockView& writable_view() const;
  // The counter of the view. 0 if the view has no counter.
  uint64_t inserted_count() const noexcept;

  using Changeable::Insert;

  QueryTraits traits() const noexcept override;
  KeyTypes key_types() const noexcept override { return key_types_; }
  uint64_t bytes() const noexcept override { return view_.bytes(); }
  double estimated_count() const noexcept override { return view_.estimated_count(); }
  double expected_fpr() const noexcept override { return view_.expected_fpr(); }
  ChangeTraits change_traits() const noexcept override { return {}; }

 private:
  void Query(const Keys& keys, uint64_t* bits) const override;
  size_t Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) override;

  SplitBlockView view_;
  bool read_only_;
  KeyTypes key_types_;
};

}  // namespace tamis

#endif  // TAMIS_FILTERS_BLOCKS_QUERYABLE_H_
