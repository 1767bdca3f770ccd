// Lookups: each form of output, each form of key, each hit rate.
#include <functional>

#include "bench/fixture.h"

namespace tamis::bench {
namespace {

// Keys of one form, and where answers go.
struct Lookup {
  std::span<const uint64_t> queries;
  Keys keys;
  HugeVector<uint64_t> bits;
  HugeVector<uint8_t> bytes;
  HugeVector<uint32_t> rows;
};

using Ask = std::function<void(const SplitBlockBloomFilter&, Lookup&)>;

void ToBitmap(const SplitBlockBloomFilter& filter, Lookup& lookup) {
  filter.Contains(lookup.keys, Bitmap(lookup.bits));
}
void ToBytes(const SplitBlockBloomFilter& filter, Lookup& lookup) {
  filter.Contains(lookup.keys, std::span<uint8_t>(lookup.bytes));
}
void ToRows(const SplitBlockBloomFilter& filter, Lookup& lookup) {
  filter.Select(lookup.keys, std::span<uint32_t>(lookup.rows));
}
void OneKey(const SplitBlockBloomFilter& filter, Lookup& lookup) {
  for (size_t i = 0; i < lookup.queries.size(); ++i) {
    lookup.bytes[i] = filter.Contains(lookup.queries[i]);
  }
}

enum class Form { kU64, kHashes, kStrings };

void Contains(benchmark::State& state, uint64_t num_keys, const Backend& backend, Form form,
              int hit_percent, const Ask& ask) {
  Fixture& fixture = Fixture::ForKeys(num_keys);
  const std::span<const uint64_t> queries = fixture.QueriesFor(hit_percent).keys;
  const size_t n = queries.size();
  const SplitBlockBloomFilter& filter =
      form == Form::kStrings ? fixture.StringFilterWith(backend) : fixture.FilterWith(backend);
  HugeVector<uint64_t> hashes(form == Form::kHashes ? n : 0);
  for (size_t i = 0; i < hashes.size(); ++i) hashes[i] = HashU64(queries[i], filter.hash());
  const Strings strings(form == Form::kStrings ? queries : std::span<const uint64_t>());

  Lookup lookup{queries, queries, HugeVector<uint64_t>(BitmapWords(n)), HugeVector<uint8_t>(n),
                HugeVector<uint32_t>(n)};
  if (form == Form::kHashes) lookup.keys = Hashes{hashes};
  if (form == Form::kStrings) lookup.keys = strings.views;
  const double limit_ns = fixture.LimitNs();
  ask(filter, lookup);  // to warm up
  Measure(state, Time::kThread, n, filter.bits_per_key(), limit_ns, [&] { ask(filter, lookup); });
}

}  // namespace

void RegisterContains(uint64_t num_keys) {
  struct Case {
    const char* operation;
    Form form;
    Ask ask;
  };
  const Case cases[] = {
      {"contains/one", Form::kU64, OneKey},         {"contains/bitmap", Form::kU64, ToBitmap},
      {"contains/bytes", Form::kU64, ToBytes},      {"select", Form::kU64, ToRows},
      {"contains_hashes", Form::kHashes, ToBitmap}, {"contains_strings", Form::kStrings, ToBitmap},
  };
  for (const Case& c : cases) {
    for (const Backend& backend : Backends()) {
      for (const int hits : {0, 50, 100}) {
        const std::string name =
            BenchmarkName(c.operation, backend, num_keys) + "/hits:" + std::to_string(hits);
        benchmark::RegisterBenchmark(name.c_str(), Contains, num_keys, std::cref(backend), c.form,
                                     hits, c.ask)
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
}

}  // namespace tamis::bench
