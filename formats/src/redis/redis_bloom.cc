// Follows sb.c, bloom.c and rebloom.c of RedisBloom 8.
#include "tamis/formats/redis_bloom.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "formats/src/bit_walk.h"
#include "formats/src/format_lookup.h"
#include "formats/src/redis/redis_keys.h"
#include "formats/src/value_text.h"
#include "tamis/backends.h"
#include "tamis/detail/compiler.h"
#include "tamis/detail/kernels.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis {

using detail::BitsView;
using detail::Hash128;

namespace {

constexpr double kHighestErrorRate = 0.25;  // BF_ERROR_RATE_CAP of config.h
constexpr double kTightening = 0.5;         // ERROR_TIGHTENING_RATIO of sb.c
constexpr double kLn2 = 0.693147180559945;  // and its square, with the digits of bloom.c
constexpr double kLn2Squared = 0.480453013918201;

[[noreturn]] void RefuseRedisBloom(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, "a Bloom filter of RedisBloom " + message);
}

void RequireOptions(const RedisBloomOptions& options) {
  constexpr uint64_t kMaxCapacity = uint64_t{1} << 30;
  constexpr uint32_t kMaxExpansion = 32768;
  if (options.capacity == 0 || options.capacity > kMaxCapacity) {
    RefuseRedisBloom(
        detail::StrCat("for ", options.capacity, " keys cannot be made; allowed: [1, 1073741824]"));
  }
  if (!(options.error_rate > 0 && options.error_rate < 1)) {
    RefuseRedisBloom(detail::StrCat("cannot have an error rate of ",
                                    detail::ValueText(options.error_rate),
                                    "; it must be between 0 and 1, both excluded"));
  }
  if (options.expansion > kMaxExpansion) {
    RefuseRedisBloom(
        detail::StrCat("cannot have an expansion of ", options.expansion, "; allowed: [0, 32768]"));
  }
}

// Bit i of the walk is (low + i high) modulo the number of bits. The sums wrap around at 2^64.
struct RedisWalk {
  static Hash128 Start(const Hash128& hash) noexcept { return hash; }
  static uint64_t Next(Hash128& walk, const detail::Remainder& remainder) noexcept {
    const uint64_t bit = remainder(walk.low);
    walk.low += walk.high;
    return bit;
  }
};

uint64_t Modulus(const RedisBloomLink& link) noexcept {
  return link.log2_bits > 0 ? uint64_t{1} << link.log2_bits : 8 * link.bytes;
}

BitsView LinkView(const RedisBloomLink& link, uint64_t* words) noexcept {
  return {words, detail::Remainder(Modulus(link)), link.num_hashes};
}

template <typename Visit>
auto VisitHash(bool hash32, const Visit& visit) {
  return hash32 ? visit(detail::RedisHash32()) : visit(detail::RedisHash64());
}

template <typename Kind>
struct BloomHasher {
  const detail::FormatHashKernels& kernels;
  detail::RedisHasher<Kind> one_by_one;

  uint64_t operator()(size_t begin, size_t n, Hash128* hashes) const noexcept {
    if (std::is_same_v<Kind, detail::RedisHash64> && one_by_one.integers == RedisIntegers::kBytes) {
      uint64_t room[64];
      const uint64_t* const integers = detail::IntegersOf(one_by_one.keys, begin, n, room);
      if (integers != nullptr) {
        kernels.redis(integers, n, hashes);
        return detail::NotNull(one_by_one.keys, begin, n);
      }
    }
    return one_by_one(begin, n, hashes);
  }
};

template <typename Key>
Hash128 HashOf(bool hash32, RedisIntegers integers, Key key) noexcept {
  return VisitHash(hash32,
                   [&]<typename Kind>(Kind) { return detail::HashRedisKey<Kind>(integers, key); });
}

}  // namespace

// Computes the link of bloom_init. The operations have the same order, because the last digit can
// matter.
RedisBloomLink RedisBloomFilter::Geometry(uint64_t capacity, double error_rate, uint32_t flags) {
  if (capacity == 0 || !(error_rate > 0 && error_rate < 1)) {
    RefuseRedisBloom(detail::StrCat("cannot have a link for ", capacity,
                                    " keys at an error rate of ", detail::ValueText(error_rate)));
  }
  RedisBloomLink link;
  link.capacity = capacity;
  link.error_rate = error_rate;
  link.bits_per_key = std::abs(-(std::log(error_rate) / kLn2Squared));
  const double wanted = static_cast<double>(capacity) * link.bits_per_key;
  const bool rounded = (flags & (kNoRound | kCapacityIsLog2)) == 0;
  if (rounded ? wanted < 1 : wanted >= 8.0 * static_cast<double>(kMaxBytes)) {
    RefuseRedisBloom(detail::StrCat("cannot have a link of ", detail::ValueText(wanted), " bits"));
  }
  uint64_t bits = 0;
  if ((flags & kCapacityIsLog2) != 0) {
    if (capacity > 62) {
      RefuseRedisBloom(detail::StrCat("cannot have a link of 2^", capacity, " bits"));
    }
    link.log2_bits = static_cast<uint8_t>(capacity);
    bits = uint64_t{1} << link.log2_bits;
    link.capacity = static_cast<uint64_t>(static_cast<double>(bits) / link.bits_per_key);
  } else if (!rounded) {
    bits = std::max<uint64_t>(1, static_cast<uint64_t>(wanted));
  } else {
    const double log2 = std::logb(wanted);
    if (log2 > 61) {
      RefuseRedisBloom(
          detail::StrCat("cannot have a link of 2^", detail::ValueText(log2), " bits"));
    }
    link.log2_bits = static_cast<uint8_t>(log2 + 1);
    bits = uint64_t{1} << link.log2_bits;
    const auto more_bits = static_cast<uint64_t>(static_cast<double>(bits) - wanted);
    link.capacity += static_cast<uint64_t>(static_cast<double>(more_bits) / link.bits_per_key);
  }
  link.bytes = (bits + 63) / 64 * 8;
  link.num_hashes = static_cast<uint32_t>(std::ceil(kLn2 * link.bits_per_key));
  return link;
}

RedisBloomFilter::RedisBloomFilter(RedisIntegers integers, const MemoryOptions& memory,
                                   const Backend* backend)
    : integers_(integers),
      backend_(backend != nullptr ? backend : &DefaultBackend()),
      memory_(memory) {}

RedisBloomFilter::RedisBloomFilter(const RedisBloomOptions& options)
    : RedisBloomFilter(options.integers, options.memory, options.backend) {
  RequireOptions(options);
  const bool scales = !options.non_scaling && options.expansion > 0;
  flags_ = (options.power_of_two ? 0 : kNoRound) | (options.hash32 ? 0 : kForce64) |
           (scales ? 0 : kNoScaling);
  growth_ = options.expansion;
  const double rate = std::min(options.error_rate, kHighestErrorRate);
  links_.push_back(
      MakeLink(Geometry(options.capacity, scales ? rate * kTightening : rate, flags_)));
}

RedisBloomFilter::Link RedisBloomFilter::MakeLink(const RedisBloomLink& info) const {
  return {info, detail::Storage::Allocate((info.bytes + 7) / 8 * 8, memory_)};
}

RedisBloomFilter::RedisBloomFilter(RedisBloomFilter&& other) noexcept
    : integers_(other.integers_),
      flags_(other.flags_),
      growth_(other.growth_),
      size_(std::exchange(other.size_, 0)),
      backend_(other.backend_),
      memory_(other.memory_),
      links_(std::exchange(other.links_, {})) {}

RedisBloomFilter& RedisBloomFilter::operator=(RedisBloomFilter&& other) noexcept {
  integers_ = other.integers_;
  flags_ = other.flags_;
  growth_ = other.growth_;
  size_ = std::exchange(other.size_, 0);
  backend_ = other.backend_;
  memory_ = other.memory_;
  links_ = std::exchange(other.links_, {});
  return *this;
}

RedisBloomFilter::~RedisBloomFilter() = default;

uint64_t RedisBloomFilter::capacity() const noexcept {
  uint64_t sum = 0;
  for (const Link& link : links_) sum += link.info.capacity;
  return sum;
}

uint64_t RedisBloomFilter::bytes() const noexcept {
  uint64_t sum = 0;
  for (const Link& link : links_) sum += link.info.bytes;
  return sum;
}

double RedisBloomFilter::expected_fpr() const noexcept {
  double absent = 1;
  for (const Link& link : links_) {
    // Bits past the modulus are only set by damage, and never queried.
    const auto set =
        static_cast<double>(backend_->kernels->popcount(link.words(), link.num_words()));
    const double share = std::min(1.0, set / static_cast<double>(Modulus(link.info)));
    absent *= 1 - std::pow(share, link.info.num_hashes);
  }
  return 1 - absent;
}

bool RedisBloomFilter::ContainsHash(const Hash128& hash) const noexcept {
  for (size_t i = links_.size(); i-- > 0;) {
    if (detail::ContainsWalk<RedisWalk>(LinkView(links_[i].info, links_[i].words()), hash)) {
      return true;
    }
  }
  return false;
}

bool RedisBloomFilter::InsertHash(const Hash128& hash) {
  if (ContainsHash(hash)) return false;
  if (links_.back().info.size >= links_.back().info.capacity) {
    const RedisBloomLink& full = links_.back().info;
    if (non_scaling()) {
      throw Error(ErrorCode::kOutOfMemory,
                  detail::StrCat("a filter of RedisBloom that does not scale is full: it has its ",
                                 full.size, " keys"));
    }
    if (links_.size() == kMaxLinks) {  // only after a dump with unusual error rates
      RefuseRedisBloom(detail::StrCat("cannot have more than ", kMaxLinks, " links"));
    }
    // RedisBloom would add a link of 2^(capacity * growth) bits, which can be any size for a dump
    // of a hundred bytes. No command makes such filters.
    if ((flags_ & kCapacityIsLog2) != 0) {
      RefuseRedisBloom("whose capacities are logarithms is full, and does not grow");
    }
    // The product wraps around, as in RedisBloom.
    links_.push_back(
        MakeLink(Geometry(full.capacity * growth_, full.error_rate * kTightening, flags_)));
  }
  Link& link = links_.back();
  // This always sets a bit: otherwise ContainsHash would have found the key, even after damage.
  detail::InsertWalk<RedisWalk>(LinkView(link.info, link.words()), hash);
  ++link.info.size;
  ++size_;
  return true;
}

// Prefetches the words that InsertHash will read: all words in the newest link, and in each other
// link the word of the first bit, which is usually not set.
void RedisBloomFilter::Prefetch(const Hash128& hash) const noexcept {
  for (size_t i = 0; i < links_.size(); ++i) {
    const RedisBloomLink& link = links_[i].info;
    const BitsView view = LinkView(link, links_[i].words());
    Hash128 walk = RedisWalk::Start(hash);
    const uint32_t bits = i + 1 == links_.size() ? link.num_hashes : 1;
    for (uint32_t k = 0; k < bits; ++k) {
      detail::PrefetchWrite(view.words + RedisWalk::Next(walk, view.remainder) / 64);
    }
  }
}

bool RedisBloomFilter::Contains(uint64_t key) const {
  return ContainsHash(HashOf(hash32(), integers_, key));
}

bool RedisBloomFilter::Contains(std::string_view key) const {
  return ContainsHash(HashOf(hash32(), integers_, key));
}

bool RedisBloomFilter::Insert(uint64_t key) {
  return !links_.empty() && InsertHash(HashOf(hash32(), integers_, key));
}

bool RedisBloomFilter::Insert(std::string_view key) {
  return !links_.empty() && InsertHash(HashOf(hash32(), integers_, key));
}

QueryTraits RedisBloomFilter::traits() const noexcept { return {.backend = backend_}; }

KeyTypes RedisBloomFilter::key_types() const noexcept { return detail::kIntegersAndStrings; }

void RedisBloomFilter::Query(const Keys& keys, uint64_t* bits) const {
  detail::RequireRedisForm(keys);
  VisitHash(hash32(), [&]<typename Kind>(Kind) {
    Hash128 hashes[detail::kFormatBlock];
    Hash128 walks[detail::kFormatBlock];
    const auto probe = [&](size_t begin, size_t n, uint64_t* out) {
      detail::HashBlock(BloomHasher<Kind>{backend_->kernels->format_hash, {integers_, keys}}, begin,
                        n, hashes, out);
      if (links_.size() == 1) {
        const Link& link = links_.front();
        return detail::ProbeWalks<RedisWalk>(LinkView(link.info, link.words()), hashes, n, out);
      }
      const size_t words = BitmapWords(n);
      uint64_t left[detail::kFormatBlock / 64];  // keys that no link has contained yet
      std::copy_n(out, words, left);
      std::fill_n(out, words, uint64_t{0});
      for (size_t i = links_.size(); i-- > 0;) {
        std::copy_n(hashes, n, walks);
        uint64_t here[detail::kFormatBlock / 64];
        std::copy_n(left, words, here);
        const Link& link = links_[i];
        detail::ProbeWalks<RedisWalk>(LinkView(link.info, link.words()), walks, n, here);
        for (size_t word = 0; word < words; ++word) {
          out[word] |= here[word];
          left[word] &= ~here[word];
        }
      }
    };
    detail::ProbeBlocks(keys.size(), bits, probe);
  });
}

size_t RedisBloomFilter::Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) {
  RequireWritable();
  detail::RequireRedisForm(keys);
  const auto insert = [&](const Hash128* hashes, size_t n, detail::BlockChanges& changes) {
    detail::ForEachFetched(
        n, [&](size_t i) { Prefetch(hashes[i]); },
        [&](size_t i) { detail::SetBitIf(changes.fresh, i, InsertHash(hashes[i])); });
  };
  return VisitHash(hash32(), [&]<typename Kind>(Kind) {
    const BloomHasher<Kind> hasher{backend_->kernels->format_hash, {integers_, keys}};
    return detail::ChangeBlocks<Hash128>(change, keys, outputs, hasher, insert);
  });
}

void RedisBloomFilter::RequireWritable() const {
  if (links_.empty()) {
    throw Error(ErrorCode::kReadOnly,
                "the filter was moved from, and can be neither changed nor saved");
  }
}

void RedisBloomFilter::Merge(const RedisBloomFilter& other) {
  RequireWritable();
  if (this == &other) return;
  const auto compare = [](const char* what, auto mine, auto theirs) {
    if (mine == theirs) return;
    throw Error(ErrorCode::kIncompatible,
                detail::StrCat("Bloom filters of RedisBloom with different ", what,
                               " cannot be merged: ", detail::ValueText(mine), " and ",
                               detail::ValueText(theirs)));
  };
  compare("flags", flags_, other.flags_);
  compare("expansions", growth_, other.growth_);
  compare("numbers of links", links_.size(), other.links_.size());
  for (size_t i = 0; i < links_.size(); ++i) {
    const RedisBloomLink& mine = links_[i].info;
    const RedisBloomLink& theirs = other.links_[i].info;
    compare("sizes of a link", mine.bytes, theirs.bytes);
    compare("numbers of hashes", mine.num_hashes, theirs.num_hashes);
    compare("bits that a link uses", mine.log2_bits, theirs.log2_bits);
    compare("capacities of a link", mine.capacity, theirs.capacity);
    compare("error rates of a link", mine.error_rate, theirs.error_rate);
  }
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  if (other.size_ > kMax - size_) {
    throw Error(ErrorCode::kIncompatible, "the two filters together have more than 2^64 - 1 keys");
  }
  for (size_t i = 0; i < links_.size(); ++i) {
    backend_->kernels->merge(links_[i].words(), other.links_[i].words(), links_[i].num_words());
    links_[i].info.size += other.links_[i].info.size;
  }
  size_ += other.size_;
}

void RedisBloomFilter::Clear() {
  RequireWritable();
  links_.resize(1);
  Link& first = links_.front();
  std::memset(first.storage.data(), 0, first.storage.size());
  first.info.size = 0;
  size_ = 0;
}

}  // namespace tamis
