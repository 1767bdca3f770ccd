// Queries of filter banks.
#include <algorithm>
#include <atomic>
#include <bit>
#include <new>

#include "bank/src/bank_state.h"
#include "core/src/bulk/batches.h"
#include "core/src/bulk/valid_keys.h"
#include "tamis/filters/sizing.h"

namespace tamis {

using detail::BankRows;
using detail::Batch;
using detail::IsSet;

namespace {

using detail::kWordBits;
// Bytes of result rows that are computed at a time, so that they stay in a second-level cache.
constexpr size_t kSliceBytes = 128 << 10;
// With fewer pairs of a key and a group, a second thread is not worthwhile.
constexpr size_t kPairsPerTask = 512;

size_t RoundUp(size_t n, size_t step) { return (n + step - 1) / step * step; }

// Number of keys whose rows are computed at a time.
size_t SliceKeys(size_t row_words) {
  const size_t keys = kSliceBytes / (sizeof(uint64_t) * std::max<size_t>(row_words, 1));
  return std::clamp(keys / kWordBits * kWordBits, kWordBits, detail::kBatchKeys);
}

// Divides keys and groups among tasks: every task has a slice of both.
struct Shares {
  Shares(size_t keys, size_t groups, unsigned threads) {
    const size_t most_tasks =
        std::max<size_t>(1, keys * std::max<size_t>(groups, 1) / kPairsPerTask);
    const size_t tasks = threads == 1 ? 1 : std::min<size_t>(most_tasks, size_t{8} * threads);
    slice_keys = RoundUp((keys + tasks - 1) / tasks, kWordBits);
    key_slices = (keys + slice_keys - 1) / slice_keys;
    group_slices =
        std::clamp<size_t>(tasks / std::max<size_t>(key_slices, 1), 1, std::max<size_t>(groups, 1));
    slice_groups = (groups + group_slices - 1) / group_slices;
  }

  size_t tasks() const { return key_slices * group_slices; }

  size_t slice_keys, key_slices, slice_groups, group_slices;
};

}  // namespace

std::vector<BankRows> FilterBank::Impl::Views() const {
  std::vector<BankRows> views;
  views.reserve(groups.size());
  for (const detail::BankGroup& group : groups) views.push_back(group.view());
  return views;
}

void FilterBank::Impl::AskWaiting(const Batch& batch, uint64_t* rows) const noexcept {
  const size_t stride = row_words();
  const size_t first_word = bank::kRowWords * groups.size();
  for (size_t i = 0; i < batch.n; ++i) {
    std::fill(rows + i * stride + first_word, rows + (i + 1) * stride, 0);
  }
  detail::ForEachSlice(batch, [&](const Batch& slice, size_t begin) {
    uint64_t found[detail::kBatchKeys / kWordBits];
    for (size_t c = 0; c < waiting.size(); ++c) {
      kernels().split_block.contains(reinterpret_cast<const uint32_t*>(waiting[c].words),
                                     waiting[c].num_blocks, slice, found);
      uint64_t* const member = rows + begin * stride + first_word + c / kWordBits;
      for (size_t w = 0; w < BitmapWords(slice.n); ++w) {
        for (uint64_t rest = found[w]; rest != 0; rest &= rest - 1) {
          const size_t i = kWordBits * w + static_cast<size_t>(std::countr_zero(rest));
          member[i * stride] |= uint64_t{1} << (c % kWordBits);
        }
      }
    }
  });
}

void FilterBank::Impl::LookUp(const Keys& keys, std::span<const BankRows> views, size_t first,
                              size_t end, bool waits, uint64_t* rows) const noexcept {
  const size_t stride = row_words();
  const bool asks_waiting = waits && !waiting.empty();
  detail::ForEachBatchAndNulls(kernels(), keys, hash, detail::kUnlimited,
                               [&](const Batch& batch, size_t begin) {
                                 uint64_t* const to = rows + begin * stride;
                                 kernels().bank.look_up(views.data() + first, end - first, batch,
                                                        to + bank::kRowWords * first, stride);
                                 if (asks_waiting) AskWaiting(batch, to);
                               });
  if (keys.validity() == nullptr) return;
  const size_t last_word = asks_waiting ? stride : bank::kRowWords * end;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys.IsValid(i)) continue;
    std::fill(rows + i * stride + bank::kRowWords * first, rows + i * stride + last_word, 0);
  }
}

size_t FilterBank::Impl::ContainsHash(uint64_t hash_value, uint64_t* out) const noexcept {
  const Batch batch = detail::HashBatch(&hash_value, 1);
  constexpr size_t kViews = 64;  // an array, because a vector could throw
  BankRows views[kViews];
  for (size_t first = 0; first < groups.size(); first += kViews) {
    const size_t n = std::min(kViews, groups.size() - first);
    for (size_t g = 0; g < n; ++g) views[g] = groups[first + g].view();
    kernels().bank.look_up(views, n, batch, out + bank::kRowWords * first, /*stride=*/0);
  }
  if (!waiting.empty()) AskWaiting(batch, out);
  return kernels().popcount(out, row_words());
}

size_t FilterBank::Impl::Contains(const Keys& keys, uint64_t* out, detail::Workers& workers) const {
  if (keys.empty() || row_words() == 0) return 0;
  const std::vector<BankRows> views = Views();
  const Shares shares(keys.size(), views.size(), workers.threads());
  std::atomic<size_t> found{0};
  workers.ForEachTask(shares.tasks(), [&](size_t task, unsigned) {
    const size_t begin = task / shares.group_slices * shares.slice_keys;
    const size_t n = std::min(shares.slice_keys, keys.size() - begin);
    const size_t part = task % shares.group_slices;
    const size_t first = std::min(part * shares.slice_groups, views.size());
    const size_t end = std::min(first + shares.slice_groups, views.size());
    const bool is_last = part + 1 == shares.group_slices;
    uint64_t* const rows = out + begin * row_words();
    LookUp(keys.Slice(begin, n), views, first, end, is_last, rows);
    const size_t words = (is_last ? row_words() : bank::kRowWords * end) - bank::kRowWords * first;
    size_t sum = 0;
    for (size_t i = 0; i < n; ++i) {
      sum += kernels().popcount(rows + i * row_words() + bank::kRowWords * first, words);
    }
    found.fetch_add(sum, std::memory_order_relaxed);
  });
  return found.load(std::memory_order_relaxed);
}

namespace {

// Appends the hits of n rows. The first row is for key `first`.
void AddHits(const uint64_t* rows, size_t n, size_t row_words, uint64_t first,
             std::vector<BankHit>& hits) {
  for (size_t i = 0; i < n; ++i) {
    for (size_t w = 0; w < row_words; ++w) {
      for (uint64_t rest = rows[i * row_words + w]; rest != 0; rest &= rest - 1) {
        hits.push_back({first + i, kWordBits * w + static_cast<uint64_t>(std::countr_zero(rest))});
      }
    }
  }
}

}  // namespace

std::vector<BankHit> FilterBank::Impl::Select(const Keys& keys, detail::Workers& workers) const {
  std::vector<BankHit> hits;
  const size_t stride = row_words();
  const size_t slice_keys = SliceKeys(stride);
  if (keys.size() <= slice_keys) {  // the groups are divided among threads
    std::vector<uint64_t> rows(keys.size() * stride);
    Contains(keys, rows.data(), workers);
    AddHits(rows.data(), keys.size(), stride, 0, hits);
    return hits;
  }
  const std::vector<BankRows> views = Views();
  const size_t slices = (keys.size() + slice_keys - 1) / slice_keys;
  std::vector<std::vector<BankHit>> parts(slices);
  std::vector<std::vector<uint64_t>> rows(std::min<size_t>(workers.threads(), slices));
  for (std::vector<uint64_t>& own : rows) own.resize(slice_keys * stride);
  std::atomic<size_t> next{0};
  std::atomic<bool> no_memory{false};
  // One task per thread, so that each task has its own memory, whichever thread runs it.
  workers.ForEachTask(rows.size(), [&](size_t task, unsigned) {
    try {
      for (size_t slice; (slice = next.fetch_add(1, std::memory_order_relaxed)) < slices;) {
        const size_t begin = slice * slice_keys;
        const size_t n = std::min(slice_keys, keys.size() - begin);
        LookUp(keys.Slice(begin, n), views, 0, views.size(), true, rows[task].data());
        AddHits(rows[task].data(), n, stride, begin, parts[slice]);
      }
    } catch (const std::bad_alloc&) {
      no_memory = true;
    }
  });
  if (no_memory) throw std::bad_alloc();
  size_t total = 0;
  for (const auto& part : parts) total += part.size();
  hits.reserve(total);
  for (const auto& part : parts) hits.insert(hits.end(), part.begin(), part.end());
  return hits;
}

std::vector<uint64_t> FilterBank::Impl::CountPerMember(const Keys& keys,
                                                       detail::Workers& workers) const {
  const size_t stride = row_words();
  std::vector<uint64_t> counts(kWordBits * stride);
  if (keys.empty() || stride == 0) return counts;
  const size_t slice_keys = SliceKeys(stride);
  if (keys.size() <= slice_keys) {
    std::vector<uint64_t> rows(keys.size() * stride);
    Contains(keys, rows.data(), workers);
    kernels().bank.count(rows.data(), keys.size(), stride, stride, counts.data());
    return counts;
  }
  const std::vector<BankRows> views = Views();
  const size_t slices = (keys.size() + slice_keys - 1) / slice_keys;
  struct OfThread {
    std::vector<uint64_t> rows;
    std::vector<uint64_t> counts;
  };
  std::vector<OfThread> threads(std::min<size_t>(workers.threads(), slices));
  for (OfThread& thread : threads) {
    thread.rows.resize(slice_keys * stride);
    thread.counts.resize(counts.size());
  }
  std::atomic<size_t> next{0};  // tasks as in Select
  workers.ForEachTask(threads.size(), [&](size_t task, unsigned) {
    OfThread& own = threads[task];
    for (size_t slice; (slice = next.fetch_add(1, std::memory_order_relaxed)) < slices;) {
      const size_t begin = slice * slice_keys;
      const size_t n = std::min(slice_keys, keys.size() - begin);
      LookUp(keys.Slice(begin, n), views, 0, views.size(), true, own.rows.data());
      kernels().bank.count(own.rows.data(), n, stride, stride, own.counts.data());
    }
  });
  for (const OfThread& thread : threads) {
    for (size_t i = 0; i < counts.size(); ++i) counts[i] += thread.counts[i];
  }
  return counts;
}

double FilterBank::Impl::expected_false_members() const {
  double sum = 0;
  for (const detail::BankGroup& group : groups) {
    // Counts the bits of each member with the kernel that counts keys per member: a row of a group
    // has the same layout as a row of answers.
    std::vector<uint64_t> bits(bank::kGroupMembers);
    kernels().bank.count(group.rows(), group.num_blocks * bank::kBlockRows, bank::kRowWords,
                         bank::kRowWords, bits.data());
    for (size_t slot = 0; slot < bank::kGroupMembers; ++slot) {
      if (!IsSet(group.live, slot)) continue;
      sum +=
          SplitBlockFpr(SplitBlockEstimatedCount(bits[slot], group.num_blocks), group.num_blocks);
    }
  }
  for (const detail::WaitingMembers::Member& member : waiting) {
    const uint64_t bits = kernels().popcount(member.words, member.bytes() / sizeof(uint64_t));
    sum += SplitBlockFpr(SplitBlockEstimatedCount(bits, member.num_blocks), member.num_blocks);
  }
  return sum;
}

std::vector<MemberCount> BestMembers(std::span<const uint64_t> counts, uint64_t at_least,
                                     size_t most) {
  std::vector<MemberCount> best;
  for (size_t member = 0; member < counts.size(); ++member) {
    if (counts[member] >= at_least) best.push_back({member, counts[member]});
  }
  const auto is_better = [](const MemberCount& a, const MemberCount& b) {
    return a.keys != b.keys ? a.keys > b.keys : a.member < b.member;
  };
  const size_t kept = std::min(most, best.size());
  std::partial_sort(best.begin(), best.begin() + static_cast<ptrdiff_t>(kept), best.end(),
                    is_better);
  best.resize(kept);
  return best;
}

}  // namespace tamis
