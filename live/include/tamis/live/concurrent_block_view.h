// A split-block Bloom filter in the caller's memory that several processes change and query at the
// same time: a mapped file, POSIX shared memory.
#ifndef TAMIS_LIVE_CONCURRENT_BLOCK_VIEW_H_
#define TAMIS_LIVE_CONCURRENT_BLOCK_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "tamis/backend.h"
#include "tamis/filters/split_block_view.h"
#include "tamis/hash.h"
#include "tamis/keys.h"

namespace tamis {

// Views 32-byte blocks that have the layout of a SplitBlockBloomFilter. A view is a few pointers,
// allocates nothing, and the blocks must outlive it. Any number of threads and processes may call
// all functions at the same time, each through a view of its own mapping of the memory. No call
// waits. A key whose insertion has returned is found by every call that begins afterwards.
class ConcurrentSplitBlockView {
 public:
  // See ConstSplitBlockView. The blocks must begin at a multiple of 32 bytes. Blocks without keys
  // are zeros. If `inserted` is not nullptr, each insertion adds its number of keys to it, and it
  // must lie at a multiple of 8 bytes.
  explicit ConcurrentSplitBlockView(std::span<std::byte> blocks, const HashSpec& hash = {},
                                    uint64_t* inserted = nullptr, const Backend* backend = nullptr);

  // Returns a view for queries. Its estimates are also safe while keys are inserted.
  const ConstSplitBlockView& view() const noexcept { return view_; }
  // Returns the value of the counter of inserted keys, or 0 without a counter.
  uint64_t inserted_count() const noexcept;

  // See Queryable::Contains.
  size_t Contains(const Keys& keys, Bitmap found) const { return view_.Contains(keys, found); }
  // Inserts the absent keys, and sets their bits in `fresh`. Returns their number. A key that
  // several calls insert at the same time is reported as new by one call or more. Throws
  // Error(kInvalidArgument), and inserts nothing, if `fresh` is too small.
  size_t InsertIfAbsent(const Keys& keys, Bitmap fresh) const;

 private:
  ConstSplitBlockView view_;
  uint64_t* words_;
  uint64_t* inserted_;
};

}  // namespace tamis

#endif  // TAMIS_LIVE_CONCURRENT_BLOCK_VIEW_H_
