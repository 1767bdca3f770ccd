// Builds binary fuse filters from keys in any order, by any number of threads.
#ifndef TAMIS_CORE_SRC_FILTERS_KINDS_FUSE_FUSE_BUILDER_H_
#define TAMIS_CORE_SRC_FILTERS_KINDS_FUSE_FUSE_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/src/bulk/change_loop.h"
#include "core/src/filters/kinds/fuse/fuse_shard.h"
#include "core/src/filters/kinds/fuse/hash_lists.h"
#include "tamis/detail/kernels.h"
#include "tamis/detail/storage.h"
#include "tamis/hash.h"
#include "tamis/keys.h"
#include "tamis/layout/fuse.h"
#include "tamis/memory.h"

namespace tamis::detail {

struct BuiltFuse {
  fuse::Geometry geometry;
  uint64_t keys = 0;  // distinct hashes
  Storage storage;
};

class FuseBuilder {
 public:
  // Measured: bench/NOTES_FUSE.md.
  static constexpr uint32_t kLogManyLists = 10;

  // The references must outlive the builder. A set that needs several shards is kept in 1 <<
  // log_many_lists lists.
  FuseBuilder(const HashSpec& hash, const CommonKernels& kernels, Workers& workers,
              uint32_t log_many_lists = kLogManyLists);

  // Adds the hashes of keys that are not null. A hash takes 8 bytes of memory. Throws
  // Error(kOutOfMemory) or std::bad_alloc.
  void Add(const Keys& keys);

  // Builds the filter. Must be called once. The bytes of the filter depend only on the set of the
  // hashes. Throws Error(kInvalidArgument) for a set from which no filter can be built, and the
  // errors of Add.
  template <int kBits>
  BuiltFuse Build(const MemoryOptions& memory);

 private:
  // Starts more lists, for hashes that do not go into one shard.
  void SplitLists();
  // Returns the number of hashes in lists [begin, end).
  uint64_t CountIn(size_t begin, size_t end) const noexcept;
  // Copies the hashes in lists [begin, end) to `out`. Returns the end of the copy.
  uint64_t* CopyFrom(size_t begin, size_t end, uint64_t* out) const noexcept;
  // Calls visit(shard, hashes, n, thread) for every shard, on all threads. The hashes may be
  // overwritten.
  template <typename Visit>
  void ForEachShard(uint32_t log_shards, const Visit& visit) const;
  // Drops the copies of hashes in all lists. Returns whether there were copies.
  bool DropAllCopies();
  // Builds the shards. Returns whether every shard was built. Stops early if a shard cannot be
  // built.
  template <int kBits>
  bool BuildShards(const fuse::Geometry& geometry, Storage& storage);

  const HashSpec& hash_;
  const CommonKernels& kernels_;
  Workers& workers_;
  const uint32_t log_many_lists_;
  uint32_t log_lists_ = 0;
  std::vector<HashLists> parts_;  // one for each thread
  uint64_t keys_ = 0;
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_KINDS_FUSE_FUSE_BUILDER_H_
