#include "tamis/parquet/column_keys.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "parquet/src/stored_value.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/hash_keys.h"
#include "tamis/keys.h"
#include "tamis/parquet/bloom_filter.h"

namespace tamis::parquet {
namespace {

constexpr uint64_t kSign = uint64_t{1} << 63;

// Maps numbers to unsigned integers of the same order. Both zeros map to the same integer.
uint64_t OrderOfDouble(double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(value == 0 ? 0.0 : value);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

double DoubleOfOrder(uint64_t order) {
  return std::bit_cast<double>((order & kSign) != 0 ? order ^ kSign : ~order);
}

uint64_t SignExtended(uint64_t bits, uint32_t width) {
  return width == 4 ? static_cast<uint64_t>(int64_t{static_cast<int32_t>(bits)}) : bits;
}

double DoubleOfBits(uint64_t bits, uint32_t width) {
  return width == 4 ? double{std::bit_cast<float>(static_cast<uint32_t>(bits))}
                    : std::bit_cast<double>(bits);
}

uint64_t BitsOfDouble(double value, uint32_t width) {
  return width == 4 ? std::bit_cast<uint32_t>(static_cast<float>(value))
                    : std::bit_cast<uint64_t>(value);
}

}  // namespace

std::string KeyList::TextOf(size_t i) const {
  switch (type_) {
    case Type::kIntegers:
    case Type::kTimestamps:
      return std::to_string(values<int64_t>()[i]);
    case Type::kUnsigned:
      return std::to_string(values<uint64_t>()[i]);
    case Type::kDoubles: {
      char text[32];
      const auto [end, error] = std::to_chars(text, text + sizeof(text), values<double>()[i]);
      return {text, end};
    }
    case Type::kBytes:
    case Type::kText:
      break;
  }
  return std::string(values<std::string_view>()[i]);
}

ColumnKeys::ColumnKeys(const Column& column, const KeyList& keys) {
  if (const char* const why = WhyNotAsked(column)) {
    throw Error(ErrorCode::kUnsupported, TypeText(column) + ": " + why);
  }
  if (keys.size() > std::numeric_limits<uint32_t>::max()) {
    throw Error(ErrorCode::kInvalidArgument,
                detail::StrCat("a list of ", keys.size(), " keys; allowed: at most 2^32 - 1"));
  }
  if (NumberKindOf(column)) {
    MakeNumbers(column, keys);
  } else {
    MakeBytes(column, keys);
  }
}

void ColumnKeys::AddMisfit(size_t key) {
  if (misfits_++ < kNamedMisfits) first_misfits_.push_back(static_cast<uint32_t>(key));
}

void ColumnKeys::AddNumber(uint64_t order, uint32_t key, std::vector<uint64_t>& stored) {
  const auto add = [&](uint64_t bits) {
    ordered_.push_back(order);
    keys_.push_back(key);
    stored.push_back(bits);
  };
  if (order_ == Order::kUnsigned) return add(order);
  if (order_ == Order::kSigned) return add(order ^ kSign);
  const double value = DoubleOfOrder(order);
  add(BitsOfDouble(value, width_));
  if (value == 0) {
    zero_ = keys_.size() - 1;
    add(BitsOfDouble(-0.0, width_));
  }
}

void ColumnKeys::MakeNumbers(const Column& column, const KeyList& keys) {
  struct Entry {
    uint64_t order;
    uint32_t key;
  };
  const NumberKind kind = *NumberKindOf(column);
  const bool floating = kind == NumberKind::kFloat || kind == NumberKind::kDouble;
  order_ = floating                        ? Order::kFloating
           : kind == NumberKind::kUnsigned ? Order::kUnsigned
                                           : Order::kSigned;
  width_ = column.physical == PhysicalType::kInt32 || kind == NumberKind::kFloat ? 4 : 8;
  std::vector<Entry> entries;
  entries.reserve(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto bits = NumberBits(column, kind, keys, i);
    const auto key = static_cast<uint32_t>(i);
    if (!bits) {
      AddMisfit(i);
    } else if (!floating) {
      entries.push_back(
          {order_ == Order::kUnsigned ? *bits : SignExtended(*bits, width_) ^ kSign, key});
    } else if (const double value = DoubleOfBits(*bits, width_); std::isnan(value)) {
      not_numbers_.push_back(key);
    } else {
      entries.push_back({OrderOfDouble(value), key});
    }
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.order != b.order ? a.order < b.order : a.key < b.key;
  });
  std::vector<uint64_t> stored;
  stored.reserve(entries.size());
  ordered_.reserve(entries.size());
  keys_.reserve(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i > 0 && entries[i].order == entries[i - 1].order) continue;
    AddNumber(entries[i].order, entries[i].key, stored);
  }
  hashes_.resize(stored.size());
  if (width_ == 8) {
    HashKeys(stored, kFilterHash, hashes_);
    return;
  }
  std::vector<uint32_t> narrow(stored.size());
  for (size_t i = 0; i < stored.size(); ++i) narrow[i] = static_cast<uint32_t>(stored[i]);
  HashKeys(FixedColumn{narrow.data(), 4, narrow.size(), KeyType::kInt32}, kFilterHash, hashes_);
}

void ColumnKeys::MakeBytes(const Column& column, const KeyList& keys) {
  struct Entry {
    std::string_view bytes;
    uint32_t key;
  };
  width_ = column.width;
  order_ = column.logical.kind == LogicalType::Kind::kDecimal ? Order::kSignedBytes : Order::kBytes;
  std::vector<Entry> entries;
  entries.reserve(keys.size());
  std::vector<size_t> made_entries;
  std::string made;
  for (size_t i = 0; i < keys.size(); ++i) {
    made.clear();
    const auto bytes = StoredBytes(column, keys, i, made);
    if (!bytes) {
      AddMisfit(i);
      continue;
    }
    if (!made.empty()) {  // all have the column's width
      made_entries.push_back(entries.size());
      made_.insert(made_.end(), made.begin(), made.end());
    }
    entries.push_back({*bytes, static_cast<uint32_t>(i)});
  }
  for (size_t i = 0; i < made_entries.size(); ++i) {
    entries[made_entries[i]].bytes = {made_.data() + i * width_, width_};
  }
  std::sort(entries.begin(), entries.end(), [this](const Entry& a, const Entry& b) {
    return a.bytes != b.bytes ? Less(a.bytes, b.bytes) : a.key < b.key;
  });
  bytes_.reserve(entries.size());
  keys_.reserve(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i > 0 && entries[i].bytes == entries[i - 1].bytes) continue;
    bytes_.push_back(entries[i].bytes);
    keys_.push_back(entries[i].key);
  }
  hashes_.resize(bytes_.size());
  HashKeys(bytes_, kFilterHash, hashes_);
}

// Bytes compare as unsigned. Decimals have equal lengths, and their highest bit is the sign.
bool ColumnKeys::Less(std::string_view a, std::string_view b) const {
  if (order_ == Order::kSignedBytes && !a.empty() && !b.empty() && a[0] != b[0]) {
    return static_cast<int8_t>(a[0]) < static_cast<int8_t>(b[0]);
  }
  return a < b;  // char_traits compares as unsigned
}

std::optional<uint64_t> ColumnKeys::OrderOf(std::string_view stored) const {
  if (stored.size() != width_) return std::nullopt;
  uint64_t bits = 0;
  for (size_t i = 0; i < stored.size(); ++i) {
    bits |= uint64_t{static_cast<uint8_t>(stored[i])} << (8 * i);
  }
  if (order_ == Order::kUnsigned) return bits;
  if (order_ == Order::kSigned) return SignExtended(bits, width_) ^ kSign;
  const double value = DoubleOfBits(bits, width_);
  if (std::isnan(value)) return std::nullopt;
  return OrderOfDouble(value);
}

std::pair<size_t, size_t> ColumnKeys::Within(const Statistics& statistics) const {
  if (order_ == Order::kBytes || order_ == Order::kSignedBytes) return WithinBytes(statistics);
  uint64_t low = 0;
  uint64_t high = std::numeric_limits<uint64_t>::max();
  for (const auto& [bound, order] : {std::pair(statistics.min, &low), {statistics.max, &high}}) {
    if (!bound) continue;
    const auto known = OrderOf(*bound);
    if (!known) return {0, size()};
    *order = *known;
  }
  if (low > high) return {0, size()};
  const auto begin = std::lower_bound(ordered_.begin(), ordered_.end(), low);
  const auto end = std::upper_bound(begin, ordered_.end(), high);
  return {begin - ordered_.begin(), end - ordered_.begin()};
}

std::pair<size_t, size_t> ColumnKeys::WithinBytes(const Statistics& statistics) const {
  const auto less = [this](std::string_view a, std::string_view b) { return Less(a, b); };
  for (const auto& bound : {statistics.min, statistics.max}) {
    const bool whole = order_ == Order::kBytes || !bound || bound->size() == width_;
    if (!whole) return {0, size()};
  }
  if (statistics.min && statistics.max && Less(*statistics.max, *statistics.min)) {
    return {0, size()};
  }
  auto begin = bytes_.begin();
  auto end = bytes_.end();
  if (statistics.min) begin = std::lower_bound(begin, end, *statistics.min, less);
  if (statistics.max) end = std::upper_bound(begin, end, *statistics.max, less);
  if (statistics.prefixes_are_outside && statistics.min) {
    // Adds the keys that are prefixes of `min`. They come before `min`, the shortest first.
    for (size_t length = 0; length < statistics.min->size(); ++length) {
      const std::string_view prefix = statistics.min->substr(0, length);
      const auto found = std::lower_bound(bytes_.begin(), begin, prefix, less);
      if (found == begin || *found != prefix) continue;
      begin = found;
      break;
    }
  }
  if (statistics.prefixes_are_outside && statistics.max) {
    // Keys that begin with `max` come directly after `max`.
    end = std::partition_point(
        end, bytes_.end(), [&](std::string_view key) { return key.starts_with(*statistics.max); });
  }
  return {begin - bytes_.begin(), end - bytes_.begin()};
}

}  // namespace tamis::parquet
