// Reads untrusted bytes as a filter of Guava. For any bytes, the outcome is a FormatError or a
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
#include "tamis/formats/guava.h"

namespace tamis {
namespace {

void Require(bool condition) {
  if (!condition) __builtin_trap();
}

// Inserted keys are found. An insertion that is refused changes nothing.
template <typename Key>
void Use(GuavaBloomFilter& filter, const std::vector<Key>& keys) {
  std::vector<uint64_t> bits(BitmapWords(keys.size()));
  const size_t before = filter.Contains(keys, Bitmap(bits));
  Require(filter.Count(keys) == before);
  for (size_t i = 0; i < keys.size(); ++i) {
    Require(filter.Contains(keys[i]) == Bitmap(bits).Test(i));
  }
  const std::vector<std::byte> bytes = filter.ToBytes();
  try {
    Require(filter.Insert(keys) == keys.size());
    Require(filter.Count(keys) == keys.size());
  } catch (const Error& error) {
    Require(error.code() == ErrorCode::kInvalidArgument && filter.ToBytes() == bytes);
  }
}

}  // namespace
}  // namespace tamis

// The first byte is the funnel. The rest is the stream; pieces of it are also the keys.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tamis;
  if (size == 0) return 0;
  const auto funnel = static_cast<GuavaFunnel>(data[0] % 5);
  const std::span bytes = std::as_bytes(std::span(data + 1, size - 1));
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<std::string_view> strings = {"", "key", text};
  std::vector<uint64_t> integers = {0, 1, ~uint64_t{0}};
  for (size_t at = 0; at < text.size() && strings.size() < 100; at += 1 + at % 7) {
    strings.push_back(std::string_view(text).substr(at, at % 19));
    integers.push_back(static_cast<uint64_t>(static_cast<int8_t>(text[at])) << (at % 40));
  }
  try {
    GuavaBloomFilter filter = GuavaBloomFilter::FromBytes(bytes, funnel);
    Require(std::ranges::equal(filter.ToBytes(), bytes));
    if (funnel == GuavaFunnel::kLong || funnel == GuavaFunnel::kInt) {
      Use(filter, integers);
    } else {
      Use(filter, strings);
    }
    const std::vector<std::byte> changed = filter.ToBytes();
    Require(GuavaBloomFilter::FromBytes(changed, funnel).ToBytes() == changed);
  } catch (const FormatError& error) {
    Require(error.offset() <= bytes.size());
  }
  return 0;
}
