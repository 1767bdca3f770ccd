#include "tests/c/key_sets.h"

#include <cstring>
#include <span>

#include "tests/test_util.h"

namespace tamis {
namespace {

constexpr uint32_t kWidth = 5;

}  // namespace

KeySets::KeySets(size_t n, uint64_t offset, bool with_nulls, uint64_t seed)
    : n_(n), offset_(offset), seed_(seed) {
  const size_t all = n + offset;
  Random random(seed);
  if (with_nulls) {
    validity_.resize(all / 8 + 1);
    for (uint8_t& byte : validity_) byte = static_cast<uint8_t>(random() | random());
  }
  AddIntegers("u8", TAMIS_KEYS_U8, u8_, widened_[0]);
  AddIntegers("i8", TAMIS_KEYS_I8, i8_, widened_[1]);
  AddIntegers("u16", TAMIS_KEYS_U16, u16_, widened_[2]);
  AddIntegers("i16", TAMIS_KEYS_I16, i16_, widened_[3]);
  AddIntegers("u32", TAMIS_KEYS_U32, u32_, widened_[4]);
  AddIntegers("i32", TAMIS_KEYS_I32, i32_, widened_[5]);
  AddIntegers("u64", TAMIS_KEYS_U64, u64_, widened_[6]);
  AddIntegers("i64", TAMIS_KEYS_I64, i64_, widened_[7]);
  hashes_ = RandomKeys(all, seed + 1);
  tamis_keys c{};
  c.layout = TAMIS_KEYS_HASHES;
  c.data = hashes_.data();
  Add("hashes", c, Hashes{std::span(hashes_).subspan(offset)});
  AddStrings();
  AddTimes();
}

void KeySets::Add(const char* name, tamis_keys c, const Keys& cpp) {
  c.count = n_;
  c.offset = offset_;
  c.validity = validity_.empty() ? nullptr : validity_.data();
  sets_.push_back({name, c, cpp.WithValidity(c.validity, offset_)});
}

template <typename T>
void KeySets::AddIntegers(const char* name, uint32_t layout, std::vector<T>& values,
                          std::vector<int64_t>& widened) {
  Random random(seed_ + layout);
  values.resize(n_ + offset_);
  for (T& value : values) value = static_cast<T>(random());
  // Converted as in C++: a uint64_t keeps its bits.
  for (size_t i = offset_; i < values.size(); ++i) {
    widened.push_back(static_cast<int64_t>(values[i]));
  }
  tamis_keys c{};
  c.layout = layout;
  c.data = values.data();
  Add(name, c, widened);
}

// Counts of all magnitudes, so that some need 128 bits in coarse units.
void KeySets::AddTimes() {
  Random random(seed_);
  for (size_t i = 0; i < n_ + offset_; ++i) {
    times_.push_back(static_cast<int64_t>(random()) >> random() % 64);
  }
  constexpr const char* kNames[] = {"days", "seconds", "millis", "micros", "nanos"};
  for (uint32_t unit = 0; unit < 5; ++unit) {
    time_keys_.emplace_back(std::span(times_).subspan(offset_), static_cast<TimeUnit>(unit));
    tamis_keys c{};
    c.layout = TAMIS_KEYS_DAYS + unit;
    c.data = times_.data();
    Add(kNames[unit], c, time_keys_.back().keys());
  }
}

void KeySets::AddStrings() {
  strings_ = RandomStrings(n_ + offset_, seed_);
  Random random(seed_);
  bytes_ = "junk";
  for (const std::string& s : strings_) {
    offsets32_.push_back(static_cast<int32_t>(bytes_.size()));
    offsets64_.push_back(static_cast<int64_t>(bytes_.size()));
    bytes_ += s;
  }
  offsets32_.push_back(static_cast<int32_t>(bytes_.size()));
  offsets64_.push_back(static_cast<int64_t>(bytes_.size()));
  const Keys cpp(std::span<const std::string>(strings_).subspan(offset_));

  tamis_keys c{};
  c.layout = TAMIS_KEYS_STRINGS32;
  c.data = offsets32_.data();
  c.bytes = bytes_.data();
  c.num_bytes = bytes_.size();
  Add("strings32", c, cpp);
  c.layout = TAMIS_KEYS_STRINGS64;
  c.data = offsets64_.data();
  c.num_bytes = UINT64_MAX;
  Add("strings64", c, cpp);

  for (size_t i = 0; i < strings_.size(); ++i) {
    // The element of a null key may be anything.
    const bool null = !validity_.empty() && ((validity_[i / 8] >> (i % 8)) & 1) == 0;
    pointers_.push_back(null || strings_[i].empty() ? nullptr : strings_[i].data());
    lengths_.push_back(null ? UINT64_MAX : strings_[i].size());
  }
  c = {};
  c.layout = TAMIS_KEYS_POINTERS;
  c.data = pointers_.data();
  c.lengths = lengths_.data();
  Add("pointers", c, cpp);
  AddViews(cpp);

  // Both at an odd address.
  fixed_ = "x";
  for (size_t i = 0; i < (n_ + offset_) * kWidth; ++i) fixed_ += static_cast<char>(random());
  c = {};
  c.layout = TAMIS_KEYS_FIXED;
  c.width = kWidth;
  c.data = fixed_.data() + 1;
  Add("fixed", c, FixedColumn{fixed_.data() + 1 + offset_ * kWidth, kWidth, n_, KeyType::kBytes});
  int32s_ = "x";
  for (size_t i = 0; i < (n_ + offset_) * 4; ++i) int32s_ += static_cast<char>(random());
  c = {};
  c.layout = TAMIS_KEYS_PARQUET_INT32;
  c.data = int32s_.data() + 1;
  Add("parquet_int32", c, FixedColumn{int32s_.data() + 1 + offset_ * 4, 4, n_, KeyType::kInt32});
}

// At an odd address. Long strings alternate between two buffers.
void KeySets::AddViews(const Keys& cpp) {
  views_ = "x";
  for (size_t i = 0; i < strings_.size(); ++i) {
    const std::string& s = strings_[i];
    std::string& buffer = view_bytes_[i % 2];
    const bool null = !validity_.empty() && ((validity_[i / 8] >> (i % 8)) & 1) == 0;
    char view[16] = {};
    const auto put = [&view](size_t at, auto value) {
      const auto number = static_cast<int32_t>(value);
      std::memcpy(view + at, &number, sizeof(number));
    };
    if (null) {
      std::memset(view, 0xFF, sizeof(view));
    } else {
      put(0, s.size());
      std::memcpy(view + 4, s.data(), s.size() <= 12 ? s.size() : 4);
      if (s.size() > 12) {
        put(8, i % 2);
        put(12, buffer.size());
        buffer += s;
      }
    }
    views_.append(view, sizeof(view));
  }
  for (size_t i = 0; i < 2; ++i) {
    view_buffers_[i] = view_bytes_[i].data();
    view_lengths_[i] = view_bytes_[i].size();
  }
  tamis_keys c{};
  c.layout = TAMIS_KEYS_VIEWS;
  c.data = views_.data() + 1;
  c.bytes = view_buffers_;
  c.num_bytes = 2;
  c.lengths = view_lengths_;
  Add("views", c, cpp);
}

}  // namespace tamis
