// Follows BloomFilter.java of Spark 3.5 and 4.1.
#include "tamis/formats/spark.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "formats/src/bit_walk.h"
#include "formats/src/format_lookup.h"
#include "formats/src/key_visit.h"
#include "formats/src/spark_hash.h"
#include "formats/src/spark_walk.h"
#include "formats/src/value_text.h"
#include "tamis/backends.h"
#include "tamis/detail/kernels.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis {

using detail::BitsView;
using detail::Hash128;

namespace {

[[noreturn]] void RefuseSpark(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, "a Spark filter " + message);
}

// Returns max(1, round(m/n ln 2)). The operations have the same order as in Java, because the last
// digit can matter.
double HashesFor(double keys, double bits) noexcept {
  return std::max(1.0, std::floor(bits / keys * std::log(2.0) + 0.5));
}

// Returns the number of bits, before rounding up to words, and the number of hashes.
std::pair<double, double> BitsAndHashes(const SparkOptions& options) {
  const auto given_bits = static_cast<double>(options.num_bits);
  if (options.num_hashes != 0) {
    if (options.capacity != 0) {
      RefuseSpark("is sized by its capacity, or by its bits and hashes, not by both");
    }
    if (options.num_bits == 0) RefuseSpark("requires num_bits together with num_hashes");
    return {given_bits, options.num_hashes};
  }
  constexpr uint64_t kMaxCapacity = std::numeric_limits<int64_t>::max();
  if (options.capacity == 0 || options.capacity > kMaxCapacity) {
    RefuseSpark(
        detail::StrCat("for ", options.capacity,
                       " keys cannot be made; allowed: [1, 2^63 - 1], or num_bits and num_hashes"));
  }
  const auto keys = static_cast<double>(options.capacity);
  if (options.num_bits != 0) return {given_bits, HashesFor(keys, given_bits)};
  if (!(options.fpr > 0 && options.fpr < 1)) {
    RefuseSpark(detail::StrCat("cannot have a false-positive rate of ",
                               detail::ValueText(options.fpr),
                               "; it must be between 0 and 1, both excluded"));
  }
  const double log2 = std::log(2.0);
  const double bits = std::floor(-keys * std::log(options.fpr) / (log2 * log2));
  return {bits, HashesFor(keys, bits)};
}

void RequireForm(const Keys& keys) {
  if (keys.layout() == KeyLayout::kHashes) {
    throw Error(ErrorCode::kInvalidArgument,
                "a Spark filter has keys that are integers or strings, and not hashes");
  }
}

struct Hasher {
  const detail::FormatHashKernels& kernels;
  int32_t seed;
  const Keys& keys;

  uint64_t operator()(size_t begin, size_t n, Hash128* hashes) const noexcept {
    uint64_t room[64];
    if (const uint64_t* const integers = detail::IntegersOf(keys, begin, n, room)) {
      kernels.spark(seed, integers, n, hashes);
      return detail::NotNull(keys, begin, n);
    }
    return detail::VisitStrings(keys, [&](const auto& of) {
      const uint64_t known = detail::NotNull(keys, begin, n);
      // The entry of a null may not be a valid string.
      for (uint64_t rest = known; rest != 0; rest &= rest - 1) {
        const auto i = static_cast<size_t>(std::countr_zero(rest));
        hashes[i] = detail::SparkHashes(of(begin + i), seed);
      }
      return known;
    });
  }
};

BitsView ViewOf(uint64_t* words, uint64_t num_bits, uint32_t num_hashes) noexcept {
  return {words, detail::Remainder(num_bits), num_hashes};
}

}  // namespace

uint32_t SparkBloomFilter::MaxHashes(uint64_t num_bits) noexcept {
  constexpr double kMaxInt = std::numeric_limits<int32_t>::max();
  return static_cast<uint32_t>(std::min(kMaxInt, HashesFor(1, static_cast<double>(num_bits))));
}

SparkBloomFilter::Geometry SparkBloomFilter::GeometryFor(const SparkOptions& options) {
  if (options.version != SparkVersion::kV1 && options.version != SparkVersion::kV2) {
    RefuseSpark(detail::StrCat("cannot have version ", static_cast<int>(options.version),
                               "; allowed: 1 or 2"));
  }
  if (options.version == SparkVersion::kV1 && options.seed != 0) {
    RefuseSpark(detail::StrCat("of version 1 cannot have the seed ", options.seed, "; allowed: 0"));
  }
  const auto [bits, hashes] = BitsAndHashes(options);
  if (bits < 1) RefuseSpark("cannot have 0 bits; set more keys or a lower rate");
  if (bits > 64.0 * static_cast<double>(kMaxWords)) {
    RefuseSpark(detail::StrCat("cannot have more than ", 64 * kMaxWords, " bits (16 GiB)"));
  }
  const uint64_t words = (static_cast<uint64_t>(bits) + 63) / 64;
  const uint32_t max_hashes = MaxHashes(64 * words);
  if (hashes > max_hashes) {
    RefuseSpark(detail::StrCat("of ", 64 * words, " bits cannot have ",
                               static_cast<uint64_t>(hashes), " hashes; allowed: [1, ", max_hashes,
                               "]"));
  }
  return {options.version, options.seed, static_cast<uint32_t>(hashes), words};
}

SparkBloomFilter::SparkBloomFilter(const SparkOptions& options)
    : SparkBloomFilter(GeometryFor(options), options.memory, options.backend) {}

SparkBloomFilter::SparkBloomFilter(const Geometry& geometry, const MemoryOptions& memory,
                                   const Backend* backend)
    : version_(geometry.version),
      seed_(geometry.seed),
      num_hashes_(geometry.num_hashes),
      num_words_(geometry.num_words),
      backend_(backend != nullptr ? backend : &DefaultBackend()),
      storage_(detail::Storage::Allocate(8 * geometry.num_words, memory)) {}

SparkBloomFilter::SparkBloomFilter(SparkBloomFilter&& other) noexcept
    : version_(other.version_),
      seed_(other.seed_),
      num_hashes_(std::exchange(other.num_hashes_, 1)),  // any number is valid for so few bits
      num_words_(std::exchange(other.num_words_, detail::kMovedBytes / 8)),
      backend_(other.backend_),
      storage_(std::move(other.storage_)) {}

SparkBloomFilter& SparkBloomFilter::operator=(SparkBloomFilter&& other) noexcept {
  version_ = other.version_;
  seed_ = other.seed_;
  num_hashes_ = std::exchange(other.num_hashes_, 1);
  num_words_ = std::exchange(other.num_words_, detail::kMovedBytes / 8);
  backend_ = other.backend_;
  storage_ = std::move(other.storage_);
  return *this;
}

SparkBloomFilter::~SparkBloomFilter() = default;

uint64_t SparkBloomFilter::BitsSet() const noexcept {
  return backend_->kernels->popcount(data(), num_words_);
}

double SparkBloomFilter::estimated_count() const noexcept {
  const auto m = static_cast<double>(num_bits());
  return -m / num_hashes_ * std::log1p(-static_cast<double>(BitsSet()) / m);
}

double SparkBloomFilter::expected_fpr() const noexcept {
  return std::pow(static_cast<double>(BitsSet()) / static_cast<double>(num_bits()), num_hashes_);
}

bool SparkBloomFilter::Contains(uint64_t key) const noexcept {
  return detail::VisitSparkVersion(version_, [&]<typename V>(V) {
    return detail::ContainsWalk<V>(ViewOf(data(), num_bits(), num_hashes_),
                                   detail::SparkHashes(key, seed_));
  });
}

bool SparkBloomFilter::Contains(std::string_view key) const noexcept {
  return detail::VisitSparkVersion(version_, [&]<typename V>(V) {
    return detail::ContainsWalk<V>(ViewOf(data(), num_bits(), num_hashes_),
                                   detail::SparkHashes(key, seed_));
  });
}

bool SparkBloomFilter::Insert(uint64_t key) noexcept {
  if (storage_.read_only()) return false;
  return detail::VisitSparkVersion(version_, [&]<typename V>(V) {
    return detail::InsertWalk<V>(ViewOf(data(), num_bits(), num_hashes_),
                                 detail::SparkHashes(key, seed_));
  });
}

bool SparkBloomFilter::Insert(std::string_view key) noexcept {
  if (storage_.read_only()) return false;
  return detail::VisitSparkVersion(version_, [&]<typename V>(V) {
    return detail::InsertWalk<V>(ViewOf(data(), num_bits(), num_hashes_),
                                 detail::SparkHashes(key, seed_));
  });
}

QueryTraits SparkBloomFilter::traits() const noexcept { return {.backend = backend_}; }

KeyTypes SparkBloomFilter::key_types() const noexcept { return detail::kIntegersAndStrings; }

void SparkBloomFilter::Query(const Keys& keys, uint64_t* bits) const {
  RequireForm(keys);
  const BitsView view = ViewOf(data(), num_bits(), num_hashes_);
  detail::VisitSparkVersion(version_, [&]<typename V>(V) {
    Hash128 hashes[detail::kFormatBlock];
    const auto probe = [&](size_t begin, size_t n, uint64_t* out) {
      detail::HashBlock(Hasher{backend_->kernels->format_hash, seed_, keys}, begin, n, hashes, out);
      detail::ProbeWalks<V>(view, hashes, n, out);
    };
    detail::ProbeBlocks(keys.size(), bits, probe);
  });
}

size_t SparkBloomFilter::Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) {
  RequireWritable();
  RequireForm(keys);
  const BitsView view = ViewOf(data(), num_bits(), num_hashes_);
  return detail::VisitSparkVersion(version_, [&]<typename V>(V) {
    return detail::ChangeBlocks<Hash128>(
        change, keys, outputs, Hasher{backend_->kernels->format_hash, seed_, keys},
        [&](const Hash128* hashes, size_t n, detail::BlockChanges& changes) {
          detail::InsertWalks<V>(view, hashes, n, changes.fresh);
        });
  });
}

void SparkBloomFilter::RequireWritable() const {
  if (storage_.read_only()) {
    throw Error(ErrorCode::kReadOnly, "the filter was moved from, and cannot be changed");
  }
}

void SparkBloomFilter::Merge(const SparkBloomFilter& other) {
  RequireWritable();
  const auto compare = [](const char* what, auto mine, auto theirs) {
    if (mine == theirs) return;
    throw Error(ErrorCode::kIncompatible,
                detail::StrCat("Spark filters with different ", what, " cannot be merged: ", mine,
                               " and ", theirs));
  };
  compare("versions", static_cast<int>(version_), static_cast<int>(other.version_));
  compare("seeds", seed_, other.seed_);
  compare("numbers of hashes", num_hashes_, other.num_hashes_);
  compare("numbers of bits", num_bits(), other.num_bits());
  backend_->kernels->merge(data(), other.data(), num_words_);
}

void SparkBloomFilter::Clear() {
  RequireWritable();
  std::memset(storage_.data(), 0, storage_.size());
}

}  // namespace tamis
