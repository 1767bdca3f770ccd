#include "bench/suite/keys.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "bench/workload.h"

namespace tamis::bench {
namespace {

constexpr uint64_t kLineBytes = 64;
constexpr uint64_t kMinQueries = uint64_t{1} << 18;
constexpr uint64_t kMaxQueries = uint64_t{1} << 24;
constexpr uint64_t kMinStringQueries = uint64_t{1} << 16;
constexpr uint64_t kSliceKeys = uint64_t{1} << 24;  // 128 MiB
constexpr uint64_t kMostLast = uint64_t{1} << 20;
// No filter contains integers and strings from here on.
constexpr uint64_t kAbsent = uint64_t{1} << 40;
constexpr uint64_t kAbsentForFpr = uint64_t{1} << 50;

constexpr size_t kMaxStringBytes = 304;  // a URL is shorter

// Writes a URL with the usual length and parts of URLs of pages: one of a few thousand hosts, a
// path of one to four words, and a number that makes it unique. It has 40 to 120 bytes, 82 on
// average.
size_t WriteUrl(uint64_t number, char* out) {
  static constexpr std::string_view kWords[] = {
      "news",   "articles", "archive", "products", "images",   "science",  "about-us",
      "wiki",   "sports",   "users",   "download", "category", "videos",   "culture",
      "search", "forum",    "weather", "markets",  "reviews",  "locations"};
  static constexpr std::string_view kDomains[] = {".com/", ".org/", ".net/", ".co.uk/", ".de/"};
  constexpr char kHex[] = "0123456789abcdef";
  char* to = out;
  const auto put = [&to](std::string_view text) {
    std::memcpy(to, text.data(), text.size());
    to += text.size();
  };
  uint64_t random = KeyAt(number ^ 0x5DEECE66D);
  const auto next = [&random](uint64_t n) {
    const uint64_t value = random % n;
    random /= n;
    return value;
  };
  put("https://www.");
  put(kWords[next(std::size(kWords))]);
  put("-");
  put(kWords[next(std::size(kWords))]);
  for (int i = 0; i < 2; ++i) *to++ = kHex[next(16)];
  put(kDomains[next(std::size(kDomains))]);
  for (uint64_t words = 1 + next(4); words > 0; --words) {
    put(kWords[next(std::size(kWords))]);
    put("/");
  }
  put("item-");
  for (int shift = 44; shift >= 0; shift -= 4) *to++ = kHex[(number >> shift) & 15];
  if (next(2) == 0) put(".html?page=1&sort=newest");
  return static_cast<size_t>(to - out);
}

// Writes a string. No other number gives a string with the same first eight bytes, whatever the
// length.
size_t WriteColumnString(size_t mean, uint64_t number, char* out) {
  uint64_t random = KeyAt(number + (uint64_t{mean} << 52));
  const size_t length = mean / 2 + KeyAt(random) % (mean + 1);
  for (size_t at = 0; at < length; at += sizeof(random)) {
    std::memcpy(out + at, &random, std::min(sizeof(random), length - at));
    random = KeyAt(random);
  }
  return length;
}

size_t WriteString16(uint64_t number, char* out) {
  const uint64_t words[] = {KeyAt(number), KeyAt(~number)};
  std::memcpy(out, words, sizeof(words));
  return sizeof(words);
}

}  // namespace

StringKeys::StringKeys(KeyType form, size_t n, const std::function<uint64_t(size_t)>& at) {
  const size_t mean = ColumnLength(form);
  const auto write = [&](uint64_t number, char* to) {
    return mean > 0                ? WriteColumnString(mean, number, to)
           : form == KeyType::kUrl ? WriteUrl(number, to)
                                   : WriteString16(number, to);
  };
  char buffer[kMaxStringBytes];
  size_t bytes = 0;
  for (size_t i = 0; i < n; ++i) bytes += write(at(i), buffer);
  text_.resize(bytes + kMaxStringBytes);
  if (mean > 0) {
    offsets_.resize(n + 1);
  } else {
    views_.resize(n);
  }
  size_t begin = 0;
  for (size_t i = 0; i < n; ++i) {
    char* const to = text_.data() + begin;
    const size_t length = write(at(i), to);
    begin += length;
    if (mean > 0) {
      offsets_[i + 1] = static_cast<int32_t>(begin);
    } else {
      views_[i] = {to, length};
    }
  }
}

SuiteKeys::SuiteKeys(uint64_t filter_bytes, uint64_t fewest_keys,
                     std::span<const KeyType> string_forms)
    : string_forms_(string_forms.begin(), string_forms.end()),
      num_queries_(std::clamp(filter_bytes / kLineBytes, kMinQueries, kMaxQueries)),
      num_string_queries_(std::max<uint64_t>(num_queries_ / 4, kMinStringQueries)),
      num_strings_(string_forms.empty() ? 0
                                        : std::min<uint64_t>(fewest_keys / 4 / string_forms.size(),
                                                             num_string_queries_ / 2)),
      num_hit_integers_(NumIntegers(fewest_keys, true)) {}

void SuiteKeys::ForEachSlice(uint64_t n, const std::function<void(const Keys&)>& visit) {
  const auto wanted = static_cast<size_t>(std::min(n, kSliceKeys));
  if (slice_.size() < wanted) {
    slice_ = HugeVector<uint64_t>(wanted);
    slice_size_ = 0;
  }
  for (uint64_t begin = 0; begin < n; begin += kSliceKeys) {
    const auto count = static_cast<size_t>(std::min(kSliceKeys, n - begin));
    if (slice_size_ < count || slice_begin_ != begin) {
      for (size_t i = 0; i < count; ++i) slice_[i] = KeyAt(begin + i);
      slice_begin_ = begin;
      slice_size_ = count;
    }
    visit(Keys(std::span<const uint64_t>(slice_.data(), count)));
  }
}

Keys SuiteKeys::Last(uint64_t num_integers, KeyType form) {
  if (form != KeyType::kU64) {
    const auto [strings, added] = strings_.try_emplace(form, form, num_strings_, std::identity());
    return strings->second.keys();
  }
  const auto count = static_cast<size_t>(std::min(num_integers / 2, kMostLast));
  last_.resize(count);
  for (size_t i = 0; i < count; ++i) last_[i] = KeyAt(num_integers - count + i);
  return Keys(last_);
}

AskedKeys SuiteKeys::Queries(KeyType form, int hit_percent) {
  const auto [found, added] = batches_.try_emplace({form, hit_percent});
  Batch& batch = found->second;
  if (added) {
    const size_t n = num_queries(form);
    batch.present = HugeVector<uint8_t>(n);
    const uint64_t known =
        std::min(form == KeyType::kU64 ? num_hit_integers_ : num_strings_, uint64_t{1} << 32);
    const auto number = [&](size_t i) -> uint64_t {
      const uint64_t random = KeyAt(~uint64_t{i});  // from the other end of the sequence
      const bool hit = (random >> 32) % 100 < static_cast<uint64_t>(hit_percent);
      batch.present[i] = hit;
      if (!hit) return kAbsent + i;
      return ((random & 0xFFFFFFFF) * known) >> 32;
    };
    if (form == KeyType::kU64) {
      batch.integers = HugeVector<uint64_t>(n);
      for (size_t i = 0; i < n; ++i) batch.integers[i] = KeyAt(number(i));
    } else {
      batch.strings = std::make_unique<StringKeys>(form, n, number);
    }
  }
  if (form == KeyType::kU64) return {Keys(batch.integers), batch.present};
  return {batch.strings->keys(), batch.present};
}

Keys SuiteKeys::Absent(size_t i) {
  absent_.resize(num_queries_);
  for (size_t j = 0; j < num_queries_; ++j) {
    absent_[j] = KeyAt(kAbsentForFpr + i * num_queries_ + j);
  }
  return Keys(absent_);
}

}  // namespace tamis::bench
