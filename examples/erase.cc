// Sessions that begin and end, in a cuckoo filter, which can erase keys.
#include <tamis/tamis.h>

#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

int main() {
  std::vector<uint64_t> sessions;
  for (uint64_t i = 0; i < 100'000; ++i) sessions.push_back(7'000'000 + i);
  const auto ended = std::span<const uint64_t>(sessions).first(40'000);
  const auto running = std::span<const uint64_t>(sessions).last(60'000);

  // A full cuckoo filter rejects keys. So check how many were inserted.
  tamis::CuckooFilter<16> filter({.capacity = sessions.size()});
  if (filter.Insert(sessions) != sessions.size()) return 1;

  // Erase only keys that you have inserted. The filter mistakes some other keys for inserted keys,
  // and erasing such a key erases an inserted key.
  if (filter.Erase(ended) != ended.size()) return 1;
  std::printf("running sessions found: %zu of %zu\n", filter.Count(running), running.size());
  std::printf("ended sessions found:   %zu of %zu\n", filter.Count(ended), ended.size());
  if (filter.Count(running) != running.size() || filter.Count(ended) > 400) return 1;

  // The space is free again. For one key, the call returns whether it was inserted.
  return filter.Insert(uint64_t{42}) && filter.Contains(uint64_t{42}) ? 0 : 1;
}
