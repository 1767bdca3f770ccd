#include "core/src/bulk/absent_writer.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace tamis::detail {
namespace {

// Limits for the bytes of the hashes in a slice. In longer slices each region is loaded fewer
// times, but more memory is touched for the first time, which takes time. Measured: bench/NOTES.md.
constexpr uint64_t kMinSliceBytes = uint64_t{8} << 20;
constexpr uint64_t kMaxSliceBytes = uint64_t{64} << 20;

}  // namespace

AbsentWriter::AbsentWriter(Target target, const Kernels& kernels, uint64_t n, unsigned threads)
    : target_(std::move(target)), kernels_(kernels) {
  // Slices have about equal lengths. If the last slice were much shorter, the other slices would be
  // longer and touch more memory.
  const uint64_t most =
      std::clamp(target_.filter.bytes, kMinSliceBytes, kMaxSliceBytes) / sizeof(uint64_t);
  max_slice_keys_ = (n / (n / most + 1) / 64 + 1) * 64;
  const uint64_t share_keys = (max_slice_keys_ / threads / 64 + 1) * 64;
  shares_.reserve(threads);
  for (unsigned thread = 0; thread < threads; ++thread) {
    shares_.push_back({RegionLists(target_.filter, share_keys)});
  }
}

void AbsentWriter::Add(unsigned thread, const Batch& batch, uint64_t index) noexcept {
  Share& share = shares_[thread];
  if (share.lists.num_keys() == 0) share.first_index = index;
  share.lists.Add(kernels_, batch);
}

void AbsentWriter::Run(size_t region) noexcept {
  for (Share& share : shares_) share.lists.ForRegion(region, target_.insert);
}

void AbsentWriter::Tell(unsigned thread, Outcomes& outcomes) noexcept {
  Share& share = shares_[thread];
  share.lists.ForEachWord([&](uint64_t begin, uint64_t fresh, size_t n) {
    outcomes.AddFresh(share.first_index + begin, &fresh, n);
    share.num_fresh += static_cast<uint64_t>(std::popcount(fresh));
  });
}

uint64_t AbsentWriter::EndSlice(Outcomes&) noexcept {
  uint64_t present = 0;
  for (Share& share : shares_) {
    present += share.lists.num_keys() - share.num_fresh;
    share.lists.Clear();
    share.num_fresh = 0;
  }
  return present;
}

}  // namespace tamis::detail
