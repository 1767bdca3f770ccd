// Reads untrusted bytes as a filter of Spark. For any bytes, the outcome is a FormatError or a
// filter that can be queried and changed, and is written as it was read. For keys of any bytes,
// single and bulk calls give the same answers.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/error.h"
#include "tamis/formats/spark.h"

namespace tamis {
namespace {

void Require(bool condition) {
  if (!condition) __builtin_trap();
}

// Inserted keys are found.
template <typename Key>
void Use(SparkBloomFilter& filter, const std::vector<Key>& keys) {
  std::vector<uint64_t> bits(BitmapWords(keys.size()));
  const size_t before = filter.Contains(keys, Bitmap(bits));
  Require(filter.Count(keys) == before);
  for (size_t i = 0; i < keys.size(); ++i) {
    Require(filter.Contains(keys[i]) == Bitmap(bits).Test(i));
  }
  const bool was_in = filter.Contains(keys[0]);
  Require(filter.Insert(keys[0]) != was_in);
  Require(filter.Insert(keys) == keys.size());
  Require(filter.Count(keys) == keys.size());
  Require(filter.InsertIfAbsent(keys, Bitmap(bits)) == 0);
}

}  // namespace
}  // namespace tamis

// The input is the stream; pieces of it are also the keys.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tamis;
  const std::span bytes = std::as_bytes(std::span(data, size));
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string_view> strings = {text, "", "key"};
  std::vector<uint64_t> integers = {~uint64_t{0}, 0, 1};
  for (size_t at = 0; at < text.size() && strings.size() < 100; at += 1 + at % 7) {
    strings.push_back(std::string_view(text).substr(at, at % 19));
    integers.push_back(static_cast<uint64_t>(static_cast<int8_t>(text[at])) << (at % 40));
  }
  try {
    SparkBloomFilter filter = SparkBloomFilter::FromBytes(bytes);
    Require(std::ranges::equal(filter.ToBytes(), bytes));
    Require(filter.num_hashes() <= SparkBloomFilter::MaxHashes(filter.num_bits()));
    Use(filter, integers);
    Use(filter, strings);
    SparkBloomFilter changed = SparkBloomFilter::FromBytes(filter.ToBytes());
    changed.Merge(filter);
    Require(changed.ToBytes() == filter.ToBytes());
  } catch (const FormatError& error) {
    Require(error.offset() <= bytes.size());
  }
  return 0;
}
