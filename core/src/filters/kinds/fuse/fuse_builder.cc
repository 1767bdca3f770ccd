#include "core/src/filters/kinds/fuse/fuse_builder.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <utility>

#include "core/src/bulk/batches.h"
#include "core/src/bulk/valid_keys.h"
#include "core/src/filters/kinds/fuse/fuse_sizing.h"
#include "tamis/error.h"

namespace tamis::detail {
namespace {

constexpr uint64_t kSliceKeys = uint64_t{1} << 16;
constexpr uint64_t kKeysPerCheck = uint64_t{1} << 23;  // 64 MiB of hashes
constexpr uint32_t kMaxGrowth = 4;

// Runs tasks that may run out of memory, which tasks of a pool must not throw. Throws
// std::bad_alloc after all tasks.
template <typename Task>
void ForEachTask(Workers& workers, size_t tasks, const Task& task) {
  std::atomic<bool> out_of_memory{false};
  workers.ForEachTask(tasks, [&](size_t i, unsigned thread) {
    if (out_of_memory.load(std::memory_order_relaxed)) return;
    try {
      task(i, thread);
    } catch (...) {  // thrown by HashLists and vectors
      out_of_memory.store(true, std::memory_order_relaxed);
    }
  });
  if (out_of_memory) throw std::bad_alloc();
}

}  // namespace

FuseBuilder::FuseBuilder(const HashSpec& hash, const CommonKernels& kernels, Workers& workers,
                         uint32_t log_many_lists)
    : hash_(hash), kernels_(kernels), workers_(workers), log_many_lists_(log_many_lists) {
  for (unsigned i = 0; i < workers.threads(); ++i) parts_.emplace_back(log_lists_);
}

void FuseBuilder::SplitLists() {
  std::vector<uint64_t> hashes(keys_);
  CopyFrom(0, 1, hashes.data());
  log_lists_ = log_many_lists_;
  for (HashLists& part : parts_) part = HashLists(log_lists_);
  parts_[0].Add(hashes.data(), hashes.size());
}

void FuseBuilder::Add(const Keys& keys) {
  const uint64_t with_these = keys_ + keys.CountValid();
  CheckFuseKeys(with_these);
  // Not every call checks the memory, because a call may add only one key.
  if (with_these / kKeysPerCheck != keys_ / kKeysPerCheck) {
    Storage::RequireFits(with_these * sizeof(uint64_t));
  }
  if (log_lists_ == 0 && LogShards(with_these) > 0) SplitLists();
  keys_ +=
      ForValidKeys(keys, hash_, {}, [&](uint64_t n, const BatchSource& source, const Outcomes&) {
        const size_t slices = n / kSliceKeys + (n % kSliceKeys != 0);
        ForEachTask(workers_, slices, [&](size_t slice, unsigned thread) {
          const uint64_t begin = slice * kSliceKeys;
          const uint64_t slice_keys = std::min(kSliceKeys, n - begin);
          source(kernels_, begin, slice_keys, [&](const Batch& batch, uint64_t) {
            alignas(64) uint64_t hashes[kBatchKeys];
            ForEachSlice(batch, [&](const Batch& some, size_t) {
              kernels_.hash(some, hashes);
              parts_[thread].Add(hashes, some.n);
            });
          });
        });
        return n;
      });
}

uint64_t FuseBuilder::CountIn(size_t begin, size_t end) const noexcept {
  uint64_t count = 0;
  for (size_t list = begin; list < end; ++list) {
    for (const HashLists& part : parts_) count += part.size(list);
  }
  return count;
}

uint64_t* FuseBuilder::CopyFrom(size_t begin, size_t end, uint64_t* out) const noexcept {
  for (size_t list = begin; list < end; ++list) {
    for (const HashLists& part : parts_) out = part.CopyTo(list, out);
  }
  return out;
}

// A shard is several neighbouring lists, or a list is several neighbouring shards.
template <typename Visit>
void FuseBuilder::ForEachShard(uint32_t log_shards, const Visit& visit) const {
  const uint32_t log_groups = std::min(log_lists_, log_shards);
  const size_t lists = size_t{1} << (log_lists_ - log_groups);  // lists of each group
  const size_t shards = size_t{1} << (log_shards - log_groups);
  struct Room {
    std::vector<uint64_t> hashes, ordered;
    std::vector<size_t> ends;  // element i: where shard i of the group ends
  };
  std::vector<Room> rooms(workers_.threads());
  ForEachTask(workers_, size_t{1} << log_groups, [&](size_t group, unsigned thread) {
    auto& [hashes, ordered, ends] = rooms[thread];
    const size_t first = group * lists;
    const uint64_t n = CountIn(first, first + lists);
    hashes.resize(std::max<uint64_t>(hashes.size(), n));
    CopyFrom(first, first + lists, hashes.data());
    if (shards == 1) return visit(group, hashes.data(), n, thread);
    const auto shard_of = [&](uint64_t hash) {
      return fuse::ShardOf(hash, 63 - log_shards) - group * shards;
    };
    ordered.resize(hashes.size());
    ends.assign(shards + 1, 0);
    for (size_t i = 0; i < n; ++i) ++ends[shard_of(hashes[i]) + 1];
    for (size_t shard = 1; shard <= shards; ++shard) ends[shard] += ends[shard - 1];
    for (size_t i = 0; i < n; ++i) ordered[ends[shard_of(hashes[i])]++] = hashes[i];
    for (size_t shard = 0, begin = 0; shard < shards; begin = ends[shard++]) {
      visit(group * shards + shard, ordered.data() + begin, ends[shard] - begin, thread);
    }
  });
}

bool FuseBuilder::DropAllCopies() {
  std::atomic<uint64_t> left{0};
  ForEachTask(workers_, size_t{1} << log_lists_, [&](size_t list, unsigned) {
    std::vector<uint64_t> hashes(CountIn(list, list + 1));
    CopyFrom(list, list + 1, hashes.data());
    size_t n = DropCopies(hashes.data(), hashes.size());
    left += n;
    // Each part gets back at most as many hashes as it had.
    const uint64_t* from = hashes.data();
    for (HashLists& part : parts_) {
      const uint64_t some = std::min<uint64_t>(n, part.size(list));
      part.Replace(list, from, some);
      from += some;
      n -= some;
    }
  });
  return std::exchange(keys_, left) != left;
}

template <int kBits>
bool FuseBuilder::BuildShards(const fuse::Geometry& geometry, Storage& storage) {
  auto* const slots = reinterpret_cast<unsigned char*>(storage.data());
  auto* const multipliers =
      reinterpret_cast<uint64_t*>(storage.data() + fuse::SlotBytes<kBits>(geometry));
  std::vector<std::unique_ptr<FuseShard>> builders(workers_.threads());
  std::atomic<bool> all_built{true};
  ForEachShard(geometry.log_shards, [&](size_t i, uint64_t* hashes, size_t n, unsigned thread) {
    if (!all_built.load(std::memory_order_relaxed)) return;
    if (!builders[thread]) builders[thread] = std::make_unique<FuseShard>(geometry);
    FuseShard& builder = *builders[thread];
    if (builder.Peel({hashes, n}) != ShardOutcome::kBuilt) {
      all_built.store(false, std::memory_order_relaxed);
      return;
    }
    builder.Assign<kBits>(slots, i * geometry.stride());
    multipliers[i] = builder.multiplier();
  });
  return all_built;
}

// Copies are dropped before a larger geometry is tried, so the result depends only on the set.
template <int kBits>
BuiltFuse FuseBuilder::Build(const MemoryOptions& memory) {
  bool may_have_copies = true;
  for (uint32_t growth = 0; growth <= kMaxGrowth;) {
    const fuse::Geometry geometry = FuseGeometry(keys_, growth);
    BuiltFuse built{geometry, keys_, Storage::Allocate(fuse::FilterBytes<kBits>(geometry), memory)};
    if (BuildShards<kBits>(geometry, built.storage)) return built;
    if (!std::exchange(may_have_copies, false) || !DropAllCopies()) ++growth;
  }
  throw Error(ErrorCode::kInvalidArgument,
              "no fuse filter can be built from these keys: ready hashes that are not uniform, or "
              "keys chosen to make it fail; a keyed hash (SipHash with a secret) prevents this");
}

template BuiltFuse FuseBuilder::Build<8>(const MemoryOptions&);
template BuiltFuse FuseBuilder::Build<12>(const MemoryOptions&);
template BuiltFuse FuseBuilder::Build<16>(const MemoryOptions&);
template BuiltFuse FuseBuilder::Build<32>(const MemoryOptions&);

}  // namespace tamis::detail
