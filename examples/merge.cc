// A filter that is built in parts, by several machines or on several days, and then merged.
#include <tamis/filters/set_operations.h>
#include <tamis/tamis.h>

#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  std::vector<uint64_t> monday, tuesday;
  for (uint64_t i = 0; i < 100'000; ++i) {
    monday.push_back(2 * i);
    tuesday.push_back(3 * i);
  }

  // Filters can be merged if they have the same kind, size and hash. So size each part for all keys
  // of the result.
  const tamis::FilterOptions options = {.capacity = 200'000, .fpr = 0.01};
  tamis::SplitBlockBloomFilter week(options), part(options);
  week.Insert(monday);
  part.Insert(tuesday);
  week.Merge(part);
  std::printf("about %.0f different keys, expected false positives %.2f%%\n",
              week.estimated_count(), 100 * week.expected_fpr());

  // Filters that do not match cannot be merged. CanMerge returns the reason, and Merge would throw
  // an error with this reason.
  const tamis::SplitBlockBloomFilter small({.capacity = 1'000, .fpr = 0.01});
  const tamis::MergeCheck check = tamis::CanMerge(week, small);
  std::printf("not these two: %s\n", check.reason.c_str());

  const bool all = week.Count(monday) == monday.size() && week.Count(tuesday) == tuesday.size();
  return all && !check ? 0 : 1;
}
