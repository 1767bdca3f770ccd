// Filter banks: lookups on an engine or on the calling thread.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "bindings/c/src/handles.h"
#include "bindings/c/src/key_array.h"
#include "bindings/c/src/room.h"
#include "tamis/c/bank.h"

namespace tamis::c {
namespace {

uint64_t ProductOrMost(uint64_t a, uint64_t b) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  return b != 0 && a > kMost / b ? kMost : a * b;
}

}  // namespace
}  // namespace tamis::c

using namespace tamis;
using namespace tamis::c;

tamis_status tamis_bank_contains_bitmap(const tamis_bank* bank, const tamis_engine* engine,
                                        const tamis_keys* given, uint64_t* rows, uint64_t words,
                                        uint64_t* hits) {
  return Guard([&] {
    const FilterBank& in = BankOf(bank);
    const Engine* const by = EngineOf(engine);
    const WantedOutput hits_out(hits, "hits");
    const KeyArray keys(given);
    const size_t row_words = in.row_words();
    const std::span out = Room(rows, words, ProductOrMost(keys.size(), row_words), "rows");
    uint64_t found = 0;
    keys.ForRuns([&](const Keys& run, size_t first) {
      const Bitmap bits(out.subspan(first * row_words, run.size() * row_words));
      found += by != nullptr ? in.Contains(*by, run, bits) : in.Contains(run, bits);
    });
    hits_out.Set(found);
  });
}

tamis_status tamis_bank_select(const tamis_bank* bank, const tamis_engine* engine,
                               const tamis_keys* given, uint64_t* key_indices, uint64_t* members,
                               uint64_t capacity, uint64_t* hits) {
  return Guard([&] {
    const FilterBank& in = BankOf(bank);
    const Engine* const by = EngineOf(engine);
    uint64_t& num_hits = Required(hits, "hits");
    if (capacity > 0) {
      RequireArray<uint64_t>(key_indices, "key_indices");
      RequireArray<uint64_t>(members, "members");
    }
    const KeyArray keys(given);
    std::vector<BankHit> all;
    keys.ForRuns([&](const Keys& run, size_t first) {
      std::vector<BankHit> found = by != nullptr ? in.Select(*by, run) : in.Select(run);
      for (BankHit& hit : found) hit.key += first;
      if (all.empty()) {
        all = std::move(found);
      } else {
        all.insert(all.end(), found.begin(), found.end());
      }
    });
    num_hits = all.size();
    const std::span keys_out = Room(key_indices, capacity, all.size(), "key_indices");
    for (size_t i = 0; i < all.size(); ++i) {
      keys_out[i] = all[i].key;
      members[i] = all[i].member;
    }
  });
}

tamis_status tamis_bank_count_per_member(const tamis_bank* bank, const tamis_engine* engine,
                                         const tamis_keys* given, uint64_t* counts,
                                         uint64_t capacity) {
  return Guard([&] {
    const FilterBank& in = BankOf(bank);
    const Engine* const by = EngineOf(engine);
    const KeyArray keys(given);
    const std::span out = Room(counts, capacity, 64 * in.row_words(), "counts");
    std::vector<uint64_t> sums(out.size());
    keys.ForRuns([&](const Keys& run, size_t) {
      const std::vector<uint64_t> some =
          by != nullptr ? in.CountPerMember(*by, run) : in.CountPerMember(run);
      for (size_t i = 0; i < sums.size(); ++i) sums[i] += some[i];
    });
    std::copy(sums.begin(), sums.end(), out.begin());
  });
}

tamis_status tamis_bank_best_members(const uint64_t* counts, uint64_t num_counts, uint64_t at_least,
                                     uint64_t* members, uint64_t capacity, uint64_t* found) {
  return Guard([&] {
    uint64_t& num_found = Required(found, "found");
    if (at_least == 0) Refuse("at_least is 0, must be at least 1: unused indexes have the count 0");
    const std::span all = Room(counts, num_counts, num_counts, "counts");
    if (capacity > 0) RequireArray<uint64_t>(members, "members");
    const std::vector<MemberCount> best = BestMembers(all, at_least, capacity);
    for (size_t i = 0; i < best.size(); ++i) members[i] = best[i].member;
    num_found = best.size();
  });
}
