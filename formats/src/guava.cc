// Follows BloomFilter.java and BloomFilterStrategies.java of Guava 31.1.
#include "tamis/formats/guava.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "formats/src/bit_walk.h"
#include "formats/src/format_lookup.h"
#include "formats/src/guava_keys.h"
#include "formats/src/guava_walk.h"
#include "formats/src/value_text.h"
#include "tamis/backends.h"
#include "tamis/detail/kernels.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis {

using detail::BitsView;
using detail::Hash128;

namespace {

[[noreturn]] void RefuseGuava(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, "a Guava filter " + message);
}

// Returns the number of bits, before rounding up to words, and the number of hashes.
std::pair<double, double> BitsAndHashes(const GuavaOptions& options) {
  if (options.num_bits != 0 || options.num_hashes != 0) {
    if (options.capacity != 0) {
      RefuseGuava("is sized by its capacity, or by its bits and hashes, not by both");
    }
    if (options.num_bits == 0) RefuseGuava("requires num_bits together with num_hashes");
    return {static_cast<double>(options.num_bits), options.num_hashes};
  }
  constexpr uint64_t kMaxCapacity = std::numeric_limits<int64_t>::max();
  if (options.capacity == 0 || options.capacity > kMaxCapacity) {
    RefuseGuava(
        detail::StrCat("for ", options.capacity,
                       " keys cannot be made; allowed: [1, 2^63 - 1], or num_bits and num_hashes"));
  }
  if (!(options.fpr > 0 && options.fpr < 1)) {
    RefuseGuava(detail::StrCat("cannot have a false-positive rate of ",
                               detail::ValueText(options.fpr),
                               "; it must be between 0 and 1, both excluded"));
  }
  // The same operations in the same order as in Java, because the last digit can matter.
  const double log2 = std::log(2.0);
  const auto keys = static_cast<double>(options.capacity);
  const double bits = std::floor(-keys * std::log(options.fpr) / (log2 * log2));
  return {bits, std::max(1.0, std::floor(bits / keys * log2 + 0.5))};
}

struct GuavaHasher {
  const detail::FormatHashKernels& kernels;
  GuavaFunnel funnel;
  const Keys& keys;

  uint64_t operator()(size_t begin, size_t n, Hash128* hashes) const noexcept {
    return detail::HashGuavaKeys(kernels, funnel, keys, begin, n, hashes);
  }
};

BitsView GuavaView(uint64_t* words, uint64_t num_bits, uint32_t num_hashes) noexcept {
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
    RefuseGuava(detail::StrCat("cannot have strategy ", static_cast<int>(options.strategy),
                               "; allowed: 0 or 1"));
  }
  const auto [bits, hashes] = BitsAndHashes(options);
  if (bits < 1) RefuseGuava("cannot have 0 bits; set more keys or a lower rate");
  if (hashes < 1 || hashes > 255) {
    RefuseGuava(detail::StrCat("cannot have ", static_cast<uint64_t>(hashes),
                               " hashes; allowed: [1, 255]"));
  }
  if (bits > 64.0 * static_cast<double>(kMaxWords)) {
    RefuseGuava(detail::StrCat("cannot have more than ", 64 * kMaxWords, " bits (16 GiB)"));
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
    return detail::ContainsWalk<S>(GuavaView(data(), num_bits(), num_hashes_), hash);
  });
}

bool GuavaBloomFilter::Contains(std::string_view key) const {
  Hash128 hash;
  if (!detail::HashGuavaKey(funnel_, key, hash)) return false;
  return detail::VisitStrategy(strategy_, [&]<typename S>(S) {
    return detail::ContainsWalk<S>(GuavaView(data(), num_bits(), num_hashes_), hash);
  });
}

bool GuavaBloomFilter::Insert(uint64_t key) {
  Hash128 hash;
  if (!detail::HashGuavaKey(funnel_, key, hash)) {
    RefuseGuava(detail::StrCat("of the funnel int cannot have the key ", static_cast<int64_t>(key),
                               "; allowed: [-2147483648, 2147483647]"));
  }
  if (storage_.read_only()) return false;
  return detail::VisitStrategy(strategy_, [&]<typename S>(S) {
    return detail::InsertWalk<S>(GuavaView(data(), num_bits(), num_hashes_), hash);
  });
}

bool GuavaBloomFilter::Insert(std::string_view key) {
  Hash128 hash;
  if (!detail::HashGuavaKey(funnel_, key, hash)) {
    RefuseGuava("of the funnel unencoded-chars cannot have this key: it is not text in UTF-8");
  }
  if (storage_.read_only()) return false;
  return detail::VisitStrategy(strategy_, [&]<typename S>(S) {
    return detail::InsertWalk<S>(GuavaView(data(), num_bits(), num_hashes_), hash);
  });
}

QueryTraits GuavaBloomFilter::traits() const noexcept { return {.backend = backend_}; }

KeyTypes GuavaBloomFilter::key_types() const noexcept {
  const bool integers = funnel_ == GuavaFunnel::kInt || funnel_ == GuavaFunnel::kLong;
  return integers ? KeyType::kInteger : KeyType::kBytes;
}

void GuavaBloomFilter::Query(const Keys& keys, uint64_t* bits) const {
  detail::RequireGuavaForm(funnel_, keys);
  const BitsView view = GuavaView(data(), num_bits(), num_hashes_);
  detail::VisitStrategy(strategy_, [&]<typename S>(S) {
    Hash128 hashes[detail::kFormatBlock];
    const auto probe = [&](size_t begin, size_t n, uint64_t* out) {
      detail::HashBlock(GuavaHasher{backend_->kernels->format_hash, funnel_, keys}, begin, n,
                        hashes, out);
      detail::ProbeWalks<S>(view, hashes, n, out);
    };
    detail::ProbeBlocks(keys.size(), bits, probe);
  });
}

size_t GuavaBloomFilter::Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) {
  RequireWritable();
  detail::RequireGuavaKeys(backend_->kernels->format_hash, funnel_, keys);
  const BitsView view = GuavaView(data(), num_bits(), num_hashes_);
  return detail::VisitStrategy(strategy_, [&]<typename S>(S) {
    return detail::ChangeBlocks<Hash128>(
        change, keys, outputs, GuavaHasher{backend_->kernels->format_hash, funnel_, keys},
        [&](const Hash128* hashes, size_t n, detail::BlockChanges& changes) {
          detail::InsertWalks<S>(view, hashes, n, changes.fresh);
        });
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
