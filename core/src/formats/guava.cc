// Made after BloomFilter.java and BloomFilterStrategies.java of Guava 31.1.
#include "tamis/formats/guava.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "core/src/bulk/lookup.h"
#include "core/src/bulk/outputs.h"
#include "core/src/formats/guava_keys.h"
#include "core/src/formats/guava_walk.h"
#include "tamis/detail/kernels.h"
#include "tamis/error.h"

namespace tamis {

using detail::GuavaView;
using detail::Hash128;

namespace {

[[noreturn]] void Refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, "a Guava filter " + message);
}

// Bits of which only whole words are made, and hashes.
std::pair<double, double> BitsAndHashes(const GuavaOptions& options) {
  if (options.num_bits != 0 || options.num_hashes != 0) {
    if (options.capacity != 0) {
      Refuse("is sized by its capacity, or by its bits and hashes, not by both");
    }
    if (options.num_bits == 0) Refuse("needs num_bits with num_hashes");
    return {static_cast<double>(options.num_bits), options.num_hashes};
  }
  constexpr uint64_t kMaxCapacity = std::numeric_limits<int64_t>::max();
  if (options.capacity == 0 || options.capacity > kMaxCapacity) {
    Refuse("for " + std::to_string(options.capacity) +
           " keys cannot be made; allowed: [1, 2^63 - 1], or num_bits and num_hashes");
  }
  if (!(options.fpr > 0 && options.fpr < 1)) {
    Refuse("cannot have a false-positive rate of " + std::to_string(options.fpr) +
           "; it must be between 0 and 1, both excluded");
  }
  // The operations of Java in their order, as a last digit can decide.
  const double log2 = std::log(2.0);
  const auto keys = static_cast<double>(options.capacity);
  const double bits = std::floor(-keys * std::log(options.fpr) / (log2 * log2));
  return {bits, std::max(1.0, std::floor(bits / keys * log2 + 0.5))};
}

GuavaView ViewOf(uint64_t* words, uint64_t num_bits, uint32_t num_hashes) noexcept {
  return {words, detail::Remainder(num_bits), num_hashes};
}

}  // namespace

const char* GuavaFunnelName(GuavaFunnel funnel) noexcept {
  switch (funnel) {
    case GuavaFunnel::kLong:
      return "long";
    case GuavaFunnel::kInt:
      return "int";
    case GuavaFunnel::kBytes:
      return "bytes";
    case GuavaFunnel::kUtf8:
      return "utf8";
    case GuavaFunnel::kUnencodedChars:
      return "unencoded-chars";
  }
  return "unknown";
}

GuavaBloomFilter::Geometry GuavaBloomFilter::GeometryFor(const GuavaOptions& options) {
  if (options.strategy != GuavaStrategy::kMurmur128Mitz32 &&
      options.strategy != GuavaStrategy::kMurmur128Mitz64) {
    Refuse("has no strategy " + std::to_string(static_cast<int>(options.strategy)));
  }
  const auto [bits, hashes] = BitsAndHashes(options);
  if (bits < 1) Refuse("of 0 bits cannot be made: more keys or a lower rate need some");
  if (hashes < 1 || hashes > 255) {
    Refuse("cannot have " + std::to_string(static_cast<uint64_t>(hashes)) +
           " hashes; allowed: [1, 255]");
  }
  if (bits > 64.0 * static_cast<double>(kMaxWords)) {
    Refuse("cannot have so many bits; allowed: " + std::to_string(64 * kMaxWords) + " (16 GiB)");
  }
  return {options.strategy, static_cast<uint32_t>(hashes), (static_cast<uint64_t>(bits) + 63) / 64};
}

GuavaBloomFilter::GuavaBloomFilter(GuavaFunnel funnel, const GuavaOptions& options)
    : GuavaBloomFilter(funnel, GeometryFor(options), options.memory, options.backend) {}

GuavaBloomFilter::GuavaBloomFilter(GuavaFunnel funnel, const Geometry& geometry,
                                   const MemoryOptions& memory, const Backend* backend)
    : funnel_(funnel),
      strategy_(geometry.strategy),
      num_hashes_(geometry.num_hashes),
      num_words_(geometry.num_words),
      backend_(backend != nullptr ? backend : &DefaultBackend()),
      storage_(detail::Storage::Allocate(8 * geometry.num_words, memory)) {}

GuavaBloomFilter::GuavaBloomFilter(GuavaBloomFilter&& other) noexcept
    : funnel_(other.funnel_),
      strategy_(other.strategy_),
      num_hashes_(other.num_hashes_),
      num_words_(std::exchange(other.num_words_, detail::kMovedBytes / 8)),
      backend_(other.backend_),
      storage_(std::move(other.storage_)) {}

GuavaBloomFilter& GuavaBloomFilter::operator=(GuavaBloomFilter&& other) noexcept {
  funnel_ = other.funnel_;
  strategy_ = other.strategy_;
  num_hashes_ = other.num_hashes_;
  num_words_ = std::exchange(other.num_words_, detail::kMovedBytes / 8);
  backend_ = other.backend_;
  storage_ = std::move(other.storage_);
  return *this;
}

GuavaBloomFilter::~GuavaBloomFilter() = default;

uint64_t GuavaBloomFilter::BitsSet() const noexcept {
  return backend_->kernels->popcount(data(), num_words_);
}

double GuavaBloomFilter::estimated_count() const noexcept {
  const auto m = static_cast<double>(num_bits());
  return -m / num_hashes_ * std::log1p(-static_cast<double>(BitsSet()) / m);
}

double GuavaBloomFilter::expected_fpr() const noexcept {
  return std::pow(static_cast<double>(BitsSet()) / static_cast<double>(num_bits()), num_hashes_);
}

bool GuavaBloomFilter::Contains(uint64_t key) const {
  Hash128 hash;
  if (!detail::HashGuavaKey(funnel_, key, hash)) return false;
  return detail::VisitStrategy(strategy_, [&]<typename S>(S) {
    return detail::ContainsGuava<S>(ViewOf(data(), num_bits(), num_hashes_), hash);
  });
}

bool GuavaBloomFilter::Contains(std::string_view key) const {
  Hash128 hash;
  if (!detail::HashGuavaKey(funnel_, key, hash)) return false;
  return detail::VisitStrategy(strategy_, [&]<typename S>(S) {
    return detail::ContainsGuava<S>(ViewOf(data(), num_bits(), num_hashes_), hash);
  });
}

bool GuavaBloomFilter::Insert(uint64_t key) {
  Hash128 hash;
  if (!detail::HashGuavaKey(funnel_, key, hash)) {
    Refuse("of the funnel int cannot have the key " + std::to_string(static_cast<int64_t>(key)) +
           "; allowed: [-2147483648, 2147483647]");
  }
  if (storage_.read_only()) return false;
  return detail::VisitStrategy(strategy_, [&]<typename S>(S) {
    return detail::InsertGuava<S>(ViewOf(data(), num_bits(), num_hashes_), hash);
  });
}

bool GuavaBloomFilter::Insert(std::string_view key) {
  Hash128 hash;
  if (!detail::HashGuavaKey(funnel_, key, hash)) {
    Refuse("of the funnel unencoded-chars cannot have a key that is not text in UTF-8");
  }
  if (storage_.read_only()) return false;
  return detail::VisitStrategy(strategy_, [&]<typename S>(S) {
    return detail::InsertGuava<S>(ViewOf(data(), num_bits(), num_hashes_), hash);
  });
}

// The sum of write(bits, n, begin), which is handed the bits of consecutive blocks of n keys.
template <typename Write>
size_t GuavaBloomFilter::LookUp(const Keys& keys, const Write& write) const {
  detail::RequireGuavaForm(funnel_, keys);
  const GuavaView view = ViewOf(data(), num_bits(), num_hashes_);
  return detail::VisitStrategy(strategy_, [&]<typename S>(S) {
    Hash128 hashes[detail::kGuavaBlock];
    uint64_t bits[detail::kGuavaBlock / 64];
    size_t found = 0;
    for (size_t begin = 0, n = 0; begin < keys.size(); begin += n) {
      n = std::min(detail::kGuavaBlock, keys.size() - begin);
      for (size_t i = 0; i < n; i += 64) {
        bits[i / 64] = detail::HashGuavaKeys(funnel_, keys, begin + i, std::min<size_t>(64, n - i),
                                             hashes + i);
      }
      detail::ProbeGuava<S>(view, hashes, n, bits);
      found += write(bits, n, begin);
    }
    return found;
  });
}

size_t GuavaBloomFilter::Contains(Keys keys, Bitmap out) const {
  detail::RequireRoom(out, keys.size());
  return LookUp(keys, [&](const uint64_t* bits, size_t n, size_t begin) {
    const size_t words = BitmapWords(n);
    std::copy_n(bits, words, out.words().data() + begin / 64);
    return backend_->kernels->popcount(bits, words);
  });
}

size_t GuavaBloomFilter::Contains(Keys keys, std::span<uint8_t> out) const {
  detail::RequireRoom(out, keys.size());
  return LookUp(keys, [&](const uint64_t* bits, size_t n, size_t begin) {
    backend_->kernels->bits_to_bytes(bits, n, out.data() + begin);
    return backend_->kernels->popcount(bits, BitmapWords(n));
  });
}

size_t GuavaBloomFilter::Select(Keys keys, std::span<uint32_t> out) const {
  detail::RequireRoom(out, keys.size());
  uint32_t* next = out.data();
  return LookUp(keys, [&](const uint64_t* bits, size_t n, size_t begin) {
    const size_t found = detail::BitsToIndices(*backend_->kernels, bits, n, begin, next);
    next += found;
    return found;
  });
}

size_t GuavaBloomFilter::Select(Keys keys, std::span<uint64_t> out) const {
  detail::RequireRoom(out, keys.size());
  uint64_t* next = out.data();
  return LookUp(keys, [&](const uint64_t* bits, size_t n, size_t begin) {
    const size_t found = detail::BitsToIndices(*backend_->kernels, bits, n, begin, next);
    next += found;
    return found;
  });
}

size_t GuavaBloomFilter::Count(Keys keys) const {
  return LookUp(keys, [&](const uint64_t* bits, size_t n, size_t) {
    return backend_->kernels->popcount(bits, BitmapWords(n));
  });
}

size_t GuavaBloomFilter::Insert(Keys keys) {
  RequireWritable();
  detail::RequireGuavaKeys(funnel_, keys);
  const GuavaView view = ViewOf(data(), num_bits(), num_hashes_);
  return detail::VisitStrategy(strategy_, [&]<typename S>(S) {
    Hash128 hashes[detail::kGuavaBlock];
    size_t changed = 0;
    for (size_t begin = 0; begin < keys.size(); begin += detail::kGuavaBlock) {
      const size_t end = std::min(begin + detail::kGuavaBlock, keys.size());
      size_t packed = 0;
      for (size_t i = begin; i < end; i += 64) {
        Hash128* const here = hashes + packed;
        // Nulls leave gaps.
        uint64_t rest =
            detail::HashGuavaKeys(funnel_, keys, i, std::min<size_t>(64, end - i), here);
        for (size_t kept = 0; rest != 0; rest &= rest - 1, ++kept, ++packed) {
          here[kept] = here[std::countr_zero(rest)];
        }
      }
      changed += detail::InsertGuavaKeys<S>(view, hashes, packed);
    }
    return changed;
  });
}

void GuavaBloomFilter::RequireWritable() const {
  if (storage_.read_only()) {
    throw Error(ErrorCode::kReadOnly, "the filter was moved from, and cannot be changed");
  }
}

void GuavaBloomFilter::Merge(const GuavaBloomFilter& other) {
  RequireWritable();
  const auto require = [](bool equal, const char* what, const std::string& mine,
                          const std::string& theirs) {
    if (equal) return;
    throw Error(ErrorCode::kIncompatible, std::string("Guava filters with different ") + what +
                                              " cannot be merged: " + mine + " and " + theirs);
  };
  const auto compare = [&](const char* what, uint64_t mine, uint64_t theirs) {
    require(mine == theirs, what, std::to_string(mine), std::to_string(theirs));
  };
  require(funnel_ == other.funnel_, "funnels", GuavaFunnelName(funnel_),
          GuavaFunnelName(other.funnel_));
  compare("strategies", static_cast<uint64_t>(strategy_), static_cast<uint64_t>(other.strategy_));
  compare("numbers of hashes", num_hashes_, other.num_hashes_);
  compare("numbers of bits", num_bits(), other.num_bits());
  backend_->kernels->merge(data(), other.data(), num_words_);
}

void GuavaBloomFilter::Clear() {
  RequireWritable();
  std::memset(storage_.data(), 0, storage_.size());
}

}  // namespace tamis
