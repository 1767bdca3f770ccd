// Reads untrusted bytes as a dump of RedisBloom. For any bytes, the outcome is a FormatError or a
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
#include "tamis/formats/redis_bloom.h"
#include "tamis/formats/redis_cuckoo.h"

namespace tamis {
namespace {

void Require(bool condition) {
  if (!condition) __builtin_trap();
}

template <typename Filter>
void Ask(const Filter& filter, const std::vector<std::string_view>& keys) {
  std::vector<uint64_t> bits(BitmapWords(keys.size()));
  const size_t in = filter.Contains(keys, Bitmap(bits));
  Require(filter.Count(keys) == in);
  for (size_t i = 0; i < keys.size(); ++i) {
    Require(filter.Contains(keys[i]) == Bitmap(bits).Test(i));
  }
}

// Changes the filter. Skips changes that would only take long, or too much memory for a fuzzer.
void Change(RedisBloomFilter& filter, const std::vector<std::string_view>& keys) {
  if (filter.link(filter.num_links() - 1).capacity > 10000 || filter.expansion() > 10) return;
  try {
    Require(filter.Insert(keys) == keys.size());
    Require(filter.Count(keys) == keys.size());
  } catch (const Error& error) {
    Require(error.code() == ErrorCode::kOutOfMemory || error.code() == ErrorCode::kInvalidArgument);
  }
}

void Change(RedisCuckooFilter& filter, const std::vector<std::string_view>& keys) {
  if (filter.bytes() > 10000 || filter.expansion() > 8 || filter.max_iterations() > 500) return;
  const size_t inserted = filter.Insert(keys);
  Require(filter.Count(keys) >= inserted);
  std::vector<uint64_t> counts(keys.size());
  filter.Occurrences(keys, counts);
  for (size_t i = 0; i < keys.size(); ++i) {
    Require(filter.Occurrences(keys[i]) == counts[i] &&
            filter.Contains(keys[i]) == (counts[i] > 0));
  }
  std::vector<uint64_t> fresh(BitmapWords(keys.size()));
  filter.InsertIfAbsent(keys, Bitmap(fresh));
  Require(filter.Erase(keys) <= keys.size());
  filter.Compact();
}

template <typename Filter>
void Use(std::span<const std::byte> bytes, const std::vector<std::string_view>& keys) {
  try {
    Filter filter = Filter::FromBytes(bytes);
    // The original chunks may have been different.
    const std::vector<std::byte> read = filter.ToBytes();
    Require(read.size() == filter.serialized_bytes());
    const Filter again = Filter::FromBytes(read);
    Require(again.ToBytes() == read && Filter::FromChunks(filter.ToChunks()).ToBytes() == read);
    Ask(filter, keys);
    Change(filter, keys);
    Ask(filter, keys);
    const std::vector<std::byte> changed = filter.ToBytes();
    Require(Filter::FromBytes(changed).ToBytes() == changed);
  } catch (const FormatError& error) {
    Require(error.offset() <= bytes.size());
  }
}

}  // namespace
}  // namespace tamis

// The first byte is the format. The rest is the file of a dump; pieces of it are also the keys.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tamis;
  if (size == 0) return 0;
  const std::span bytes = std::as_bytes(std::span(data + 1, size - 1));
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<std::string_view> keys = {"", "key", text};
  for (size_t at = 0; at < text.size() && keys.size() < 40; at += 1 + at % 7) {
    keys.push_back(std::string_view(text).substr(at, at % 19));
  }
  if (data[0] % 2 == 0) {
    Use<RedisBloomFilter>(bytes, keys);
  } else {
    Use<RedisCuckooFilter>(bytes, keys);
  }
  return 0;
}
