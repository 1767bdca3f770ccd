// Reads untrusted bytes as a filter of DCSO. For any bytes, the outcome is a FormatError or a
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
#include "tamis/formats/dcso.h"

namespace tamis {
namespace {

void Require(bool condition) {
  if (!condition) __builtin_trap();
}

// Inserted keys are found.
void Use(DcsoBloomFilter& filter, const std::vector<std::string_view>& keys) {
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
  for (size_t at = 0; at < text.size() && strings.size() < 100; at += 1 + at % 7) {
    strings.push_back(std::string_view(text).substr(at, at % 19));
  }
  try {
    DcsoBloomFilter filter = DcsoBloomFilter::FromBytes(bytes);
    Require(std::ranges::equal(filter.ToBytes(), bytes));
    Require(filter.num_hashes() <= DcsoBloomFilter::kMaxHashes);
    Require(filter.expected_fpr() <= 1 && filter.estimated_count() >= 0);
    Use(filter, strings);
    DcsoBloomFilter changed = DcsoBloomFilter::FromBytes(filter.ToBytes());
    changed.Merge(filter);
    Require(std::ranges::equal(changed.words(), filter.words()));
  } catch (const FormatError& error) {
    Require(error.offset() <= bytes.size());
  }
  return 0;
}
