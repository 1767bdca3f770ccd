// A job of Spark and a C++ program share a Bloom filter.
#include <tamis/formats/spark.h>
#include <tamis/tamis.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  const std::vector<int64_t> customers = {1002, 1005, 1009};

  // Like BloomFilter.create(1000, 0.01) of Spark 4.1. Older versions of Spark read version kV1.
  tamis::SparkBloomFilter made({.capacity = 1000, .fpr = 0.01});
  made.Insert(customers);
  made.Save("customers.spark");  // for BloomFilter.readFrom

  // Reads the output of BloomFilter.writeTo, or a value of bloom_filter_agg.
  const std::vector<std::byte> column_value = made.ToBytes();
  auto filter = tamis::SparkBloomFilter::FromBytes(column_value);
  const std::vector<int64_t> asked = {1001, 1002, 1009};
  std::vector<uint32_t> rows(asked.size());
  rows.resize(filter.Select(asked, rows));
  for (const uint32_t row : rows) {
    std::printf("%lld may be one\n", static_cast<long long>(asked[row]));
  }

  const bool is_new = filter.Insert(uint64_t{1010});  // as put
  filter.Merge(made);                                 // as mergeInPlace
  return is_new && rows.size() == 2 && filter.Count(customers) == 3 ? 0 : 1;
}
