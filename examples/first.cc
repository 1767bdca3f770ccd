// Inserts a million keys into a filter, and queries a thousand others.
#include <tamis/tamis.h>

#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  std::vector<uint64_t> known, queries;
  for (uint64_t i = 0; i < 1'000'000; ++i) known.push_back(i * i);
  for (uint64_t i = 0; i < 1'000; ++i) queries.push_back(i * 1'000);

  const auto filter = tamis::SplitBlockBloomFilter::From(known, {.fpr = 0.01});

  // One bit for each query: 1 is "maybe in the set", 0 is "certainly not".
  const tamis::Answers maybe = filter.Contains(queries);
  if (!maybe[0]) return 1;

  // The same answers as row numbers. With a second argument, they are written to your own memory.
  const std::vector<uint64_t> rows = filter.Select(queries);
  std::printf("%zu of %zu may be in the set; the second of them is %llu\n", maybe.count(),
              maybe.size(), static_cast<unsigned long long>(queries[rows[1]]));

  // A filter works on the calling thread. An engine uses as many threads as there are processors.
  filter.Save("known.tamis");
  const tamis::AnyFilter saved = tamis::Load("known.tamis");
  const tamis::Engine engine;
  const bool all_found = engine.Count(*saved, known) == known.size();
  return all_found && rows.size() == maybe.count() ? 0 : 1;
}
