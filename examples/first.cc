// A million keys go into a filter, which then answers for a thousand others.
#include <tamis/tamis.h>

#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  std::vector<uint64_t> known, queries;
  for (uint64_t i = 0; i < 1'000'000; ++i) known.push_back(i * i);
  for (uint64_t i = 0; i < 1'000; ++i) queries.push_back(i * 1'000);

  tamis::SplitBlockBloomFilter filter({.capacity = known.size(), .fpr = 0.01});
  filter.Insert(known);

  // One bit for each query: 1 is "maybe in the set", 0 is "certainly not".
  std::vector<uint64_t> words(tamis::BitmapWords(queries.size()));
  const size_t hits = filter.Contains(queries, tamis::Bitmap(words));

  // The same answers as row numbers.
  std::vector<uint32_t> rows(queries.size());
  rows.resize(filter.Select(queries, rows));
  std::printf("%zu of %zu may be in the set; the second of them is %llu\n", hits, queries.size(),
              static_cast<unsigned long long>(queries[rows[1]]));

  // A filter works on the calling thread. An engine has as many threads as there are processors.
  filter.Save("known.tamis");
  const tamis::AnyFilter saved = tamis::Load("known.tamis");
  const tamis::Engine engine;
  const bool all_found = engine.Count(*saved, known) == known.size();
  return all_found && rows.size() == hits ? 0 : 1;
}
