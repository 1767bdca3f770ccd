// Compares filters that threads change while other threads query them with the plain filters.
//
// Usage: tamis_live_table [KEYS [ROUNDS]]   filters for KEYS keys (default 100,000), medians over
//                                           ROUNDS rounds (default 15)
//
// A round has a separate filter for each line. Half of its keys are inserted (Bloom, 12 bits per
// key), or 95% of its slots are used (cuckoo; insertions begin at 85%). The lines take turns.
// "beside a writer" counts only queries that run while another thread inserts the other half in one
// call (Bloom), or erases keys and inserts them again (cuckoo). With two threads, each thread
// inserts half of the keys, or the same number of different keys as one thread alone. The time is
// divided by the number of keys that both threads have inserted. Exit status: 0 if no present key
// was missed, otherwise 1; 2 for bad arguments.
#include <atomic>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "bench/arguments.h"
#include "bench/timing.h"
#include "bench/workload.h"
#include "tamis/detail/str_cat.h"
#include "tamis/live/concurrent_bloom.h"
#include "tamis/live/concurrent_cuckoo.h"

namespace tamis::bench {
namespace {

constexpr size_t kQueries = 2048;  // queries per call

std::vector<uint64_t> KeysFrom(uint64_t first, uint64_t n) {
  std::vector<uint64_t> keys(n);
  for (uint64_t i = 0; i < n; ++i) keys[i] = KeyAt(first + i);
  return keys;
}

// Returns queries, of which half are keys [0, known).
std::vector<uint64_t> Queries(uint64_t known, uint64_t n) {
  std::vector<uint64_t> keys(n);
  for (uint64_t i = 0; i < n; ++i) {
    keys[i] = i % 2 == 0 ? KeyAt(KeyAt(i) % known) : KeyAt((uint64_t{1} << 60) + i);
  }
  return keys;
}

class Table {
 public:
  // Adds a sample, in nanoseconds per key.
  void Add(const std::string& line, double ns) {
    for (Line& known : lines_) {
      if (known.name != line) continue;
      known.samples.push_back(ns);
      return;
    }
    lines_.push_back({line, {ns}});
  }
  void Print(const std::string& title) const {
    std::printf("| %s | ns per key | quartiles | of the first |\n|---|---:|---:|---:|\n",
                title.c_str());
    for (const Line& line : lines_) {
      const double median = Median(line.samples);
      std::printf("| %s | %.2f | %.2f to %.2f | %.2f |\n", line.name.c_str(), median,
                  Quantile(line.samples, 0.25), Quantile(line.samples, 0.75),
                  median / Median(lines_.front().samples));
    }
    std::printf("\n");
  }

 private:
  struct Line {
    std::string name;
    std::vector<double> samples;
  };
  std::vector<Line> lines_;
};

// Makes all queries, kQueries at a time. The even ones are in the filter. Returns nanoseconds per
// query.
template <typename F>
double Ask(const F& filter, const std::vector<uint64_t>& queries, bool& all_found) {
  std::vector<uint64_t> bits(BitmapWords(kQueries));
  const double ns = Nanoseconds(Time::kWall, [&] {
    for (size_t i = 0; i + kQueries <= queries.size(); i += kQueries) {
      filter.Contains(std::span(queries).subspan(i, kQueries), Bitmap(bits));
      for (const uint64_t word : bits)
        all_found &= (word & 0x5555555555555555) == 0x5555555555555555;
    }
  });
  return ns / static_cast<double>(queries.size() / kQueries * kQueries);
}

// Like Ask, while `write(done)` runs on another thread. `done` is set after the last query, and
// `write` may continue until then. Returns 0 if `write` took less time than a call.
template <typename F, typename Write>
double AskBeside(const F& filter, const std::vector<uint64_t>& queries, bool& all_found,
                 const Write& write) {
  std::atomic<bool> writing = false, ended = false, done = false;
  std::thread writer([&] {
    writing = true;
    write(done);
    ended = true;
  });
  std::vector<uint64_t> bits(BitmapWords(kQueries));
  double ns = 0;
  uint64_t asked = 0;
  while (!writing) {
  }
  for (size_t i = 0; !ended; i = (i + kQueries) % (queries.size() - kQueries)) {
    const double call = Nanoseconds(Time::kWall, [&] {
      filter.Contains(std::span(queries).subspan(i, kQueries), Bitmap(bits));
    });
    for (const uint64_t word : bits) {
      const uint64_t even = i % 2 == 0 ? 0x5555555555555555 : 0xAAAAAAAAAAAAAAAA;
      all_found &= (word & even) == even;
    }
    if (ended) break;
    ns += call;
    asked += kQueries;
    done = asked >= queries.size();
  }
  writer.join();
  return asked == 0 ? 0 : ns / static_cast<double>(asked);
}

// Returns the time of write(0) and write(1) on two threads that are already running.
template <typename Write>
double OnTwoThreads(const Write& write) {
  std::atomic<int> ready = 0;
  const auto wait = [&] {
    for (++ready; ready < 2;) {
    }
  };
  std::thread other([&] {
    wait();
    write(1);
    ++ready;
  });
  wait();
  const double ns = Nanoseconds(Time::kWall, [&] {
    write(0);
    while (ready < 3) {
    }
  });
  other.join();
  return ns;
}

// Adds lines for bulk insertion of `fresh` into copies of a filter, on one and two threads.
template <typename Plain, typename Concurrent>
void InsertionLines(const Plain& some, const std::vector<uint64_t>& fresh,
                    const std::vector<uint64_t>& others, Table& table) {
  const std::span<const uint64_t> all(fresh);
  const std::span<const uint64_t> halves[] = {all.first(all.size() / 2),
                                              all.subspan(all.size() / 2)};
  const std::span<const uint64_t> wholes[] = {all, others};
  const auto keys = static_cast<double>(fresh.size());
  {
    Plain plain = some.Clone();
    table.Add("plain, in bulk", Nanoseconds(Time::kWall, [&] { plain.Insert(fresh); }) / keys);
  }
  {
    Concurrent filter(some.Clone());
    table.Add("concurrent, in bulk",
              Nanoseconds(Time::kWall, [&] { filter.Insert(fresh); }) / keys);
  }
  {
    Concurrent filter(some.Clone());
    table.Add("concurrent, two threads, half each",
              OnTwoThreads([&](int t) { filter.Insert(halves[t]); }) / keys);
  }
  {
    Concurrent filter(some.Clone());
    table.Add("concurrent, two threads, as many each",
              OnTwoThreads([&](int t) { filter.Insert(wholes[t]); }) / (2 * keys));
  }
  {
    Plain plain = some.Clone();
    table.Add("plain, one key a call", Nanoseconds(Time::kWall, [&] {
                                         for (const uint64_t key : fresh) plain.Insert(key);
                                       }) / keys);
  }
  {
    Concurrent filter(some.Clone());
    table.Add("concurrent, one key a call", Nanoseconds(Time::kWall, [&] {
                                              for (const uint64_t key : fresh) filter.Insert(key);
                                            }) / keys);
  }
}

template <typename F>
bool BloomTables(const char* name, uint64_t num_keys, uint64_t rounds) {
  using Concurrent = ConcurrentBloom<F>;
  const FilterOptions options = {.capacity = num_keys, .bytes = FilterBytes(num_keys)};
  F half(options);
  half.Insert(KeysFrom(0, num_keys / 2));
  const std::vector<uint64_t> queries =
      Queries(num_keys / 2, std::max<uint64_t>(num_keys, 16 * kQueries));
  Table lookups, insertions;
  bool all_found = true;
  double skipped = 0;
  for (uint64_t round = 0; round < rounds; ++round) {
    const std::vector<uint64_t> fresh = KeysFrom((round + 1) << 40, num_keys / 2);
    const std::vector<uint64_t> others = KeysFrom((round + 1) << 50, num_keys / 2);
    InsertionLines<F, Concurrent>(half, fresh, others, insertions);
    {
      Concurrent filter(half.Clone());
      std::vector<uint64_t> bits(BitmapWords(fresh.size()));
      size_t inserted = 0;
      insertions.Add("concurrent, if absent", Nanoseconds(Time::kWall, [&] {
                                                inserted =
                                                    filter.InsertIfAbsent(fresh, Bitmap(bits));
                                              }) / static_cast<double>(fresh.size()));
      skipped += 1 - static_cast<double>(inserted) / static_cast<double>(fresh.size());
    }
    const F plain = half.Clone();
    lookups.Add("plain", Ask(plain, queries, all_found));
    Concurrent filter(half.Clone());
    lookups.Add("concurrent", Ask(filter, queries, all_found));
    const double beside = AskBeside(filter, queries, all_found,
                                    [&](const std::atomic<bool>&) { filter.Insert(fresh); });
    if (beside != 0) lookups.Add("concurrent, beside a writer", beside);
  }
  lookups.Print(detail::StrCat(name, " of ", num_keys, " keys, query"));
  insertions.Print(detail::StrCat(name, " of ", num_keys, " keys, insertion"));
  std::printf("%.2f%% of the inserted keys changed no word.\n\n",
              100 * skipped / static_cast<double>(rounds));
  return all_found;
}

template <int kBits>
bool CuckooTables(uint64_t num_keys, uint64_t rounds) {
  CuckooFilter<kBits> full({.capacity = num_keys});
  const auto in = static_cast<uint64_t>(0.95 * static_cast<double>(full.num_slots()));
  bool all_found = full.Insert(KeysFrom(0, in)) == in;
  // The queried keys stay. A tenth of the others are erased and inserted again.
  const uint64_t staying = in / 2;
  const std::vector<uint64_t> queries =
      Queries(staying, std::max<uint64_t>(num_keys, 16 * kQueries));
  const std::vector<uint64_t> leaving = KeysFrom(staying, in / 10);
  const auto at85 = static_cast<uint64_t>(0.85 * static_cast<double>(full.num_slots()));
  CuckooFilter<kBits> some({.capacity = num_keys});
  all_found &= some.Insert(KeysFrom(0, at85)) == at85;
  Table lookups, insertions;
  ConcurrentCuckooFilter<kBits> filter(full.Clone());
  for (uint64_t round = 0; round < rounds; ++round) {
    // Both threads together fill the table to 95%.
    const std::vector<uint64_t> fresh = KeysFrom((round + 1) << 40, (in - at85) / 2);
    const std::vector<uint64_t> others = KeysFrom((round + 1) << 50, (in - at85) / 2);
    InsertionLines<CuckooFilter<kBits>, ConcurrentCuckooFilter<kBits>>(some, fresh, others,
                                                                       insertions);
    lookups.Add("plain", Ask(full, queries, all_found));
    lookups.Add("concurrent", Ask(filter, queries, all_found));
    const double beside = AskBeside(filter, queries, all_found, [&](const std::atomic<bool>& done) {
      while (!done) {
        filter.Erase(leaving);
        all_found &= filter.Insert(leaving) == leaving.size();
      }
    });
    if (beside != 0) lookups.Add("concurrent, beside a writer", beside);
  }
  const std::string name = detail::StrCat("cuckoo", kBits, " of ", num_keys, " keys");
  lookups.Print(name + ", query");
  insertions.Print(name + ", insertion");
  std::printf("Queried %llu keys again, %llu of them under a lock.\n\n",
              static_cast<unsigned long long>(filter.repeated_looks()),
              static_cast<unsigned long long>(filter.locked_looks()));
  return all_found;
}

bool Run(uint64_t num_keys, uint64_t rounds) {
  bool all_found = BloomTables<SplitBlockBloomFilter>("split-block", num_keys, rounds);
  all_found &= BloomTables<BloomFilter>("bloom", num_keys, rounds);
  all_found &= CuckooTables<8>(num_keys, rounds);
  all_found &= CuckooTables<12>(num_keys, rounds);
  all_found &= CuckooTables<16>(num_keys, rounds);
  if (!all_found) std::printf("A PRESENT KEY WAS MISSED\n");
  return all_found;
}

}  // namespace
}  // namespace tamis::bench

int main(int argc, char** argv) {
  uint64_t keys = 100'000, rounds = 15;
  if (argc > 3 || (argc > 1 && !tamis::bench::ParseCount(argv[1], keys, 1000)) ||
      (argc > 2 && !tamis::bench::ParseCount(argv[2], rounds))) {
    std::fprintf(stderr, "usage: tamis_live_table [KEYS [ROUNDS]]\n");
    return 2;
  }
  try {
    return tamis::bench::Run(keys, rounds) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
}
