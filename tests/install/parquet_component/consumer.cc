// A user's program that links tamis::parquet.
#include <tamis/parquet/bloom_filter.h>

#include <cstdio>
#include <span>
#include <string>

int main() {
  tamis::SplitBlockBloomFilter filter({.capacity = 100, .hash = tamis::parquet::kFilterHash});
  filter.Insert(42);
  const std::string bytes = tamis::parquet::ToParquet(filter);
  const auto again = tamis::parquet::FromParquet(std::as_bytes(std::span(bytes)));
  std::printf("%zu bytes\n", bytes.size());
  return again.Contains(42) ? 0 : 1;
}
