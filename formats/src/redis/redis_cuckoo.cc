// Follows cuckoo.c, cf.c and rebloom.c of RedisBloom 8.
#include "tamis/formats/redis_cuckoo.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "core/src/bulk/output.h"
#include "formats/src/format_lookup.h"
#include "formats/src/redis/redis_keys.h"
#include "tamis/backends.h"
#include "tamis/detail/compiler.h"
#include "tamis/detail/kernels.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis {
namespace {

using CuckooHasher = detail::RedisHasher<detail::RedisCuckooHash>;

[[noreturn]] void RefuseRedisCuckoo(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, "a cuckoo filter of RedisBloom " + message);
}

void RequireIn(const char* what, uint64_t value, uint64_t least, uint64_t most) {
  if (value >= least && value <= most) return;
  RefuseRedisCuckoo(
      detail::StrCat("cannot have ", what, " of ", value, "; allowed: [", least, ", ", most, "]"));
}

void RequireOptions(const RedisCuckooOptions& options) {
  RequireIn("a bucket_size", options.bucket_size, 1, 255);
  RequireIn("max_iterations", options.max_iterations, 1, 65535);
  RequireIn("an expansion", options.expansion, 0, 32768);
  RequireIn("a capacity", options.capacity, 2 * uint64_t{options.bucket_size}, uint64_t{1} << 30);
}

// Returns the hash of the other bucket of a fingerprint.
uint64_t OtherHash(uint8_t fingerprint, uint64_t hash) noexcept {
  return hash ^ (fingerprint * uint64_t{0x5BD1E995});
}

constexpr uint64_t kOfEachByte = 0x0101'0101'0101'0101;

// Returns the highest bit of each of the first n <= 8 bytes at `from` that has the value repeated
// in `pattern`.
uint64_t EqualBytes(const uint8_t* from, size_t n, uint64_t pattern) noexcept {
  constexpr uint64_t kLow = 0x7F * kOfEachByte;
  uint64_t bytes;
  std::memcpy(&bytes, from, sizeof(bytes));
  bytes ^= pattern;
  const uint64_t equal = ~(((bytes & kLow) + kLow) | bytes | kLow);
  return equal & (~uint64_t{0} >> (8 * (8 - n)));
}

uint64_t PatternOf(uint8_t fingerprint) noexcept { return fingerprint * kOfEachByte; }

// Returns how many of the `size` slots at `bucket` have the fingerprint.
uint64_t CountInBucket(const uint8_t* bucket, size_t size, uint8_t fingerprint) noexcept {
  uint64_t count = 0;
  for (size_t at = 0; at < size; at += 8) {
    count += static_cast<uint64_t>(std::popcount(
        EqualBytes(bucket + at, std::min<size_t>(8, size - at), PatternOf(fingerprint))));
  }
  return count;
}

// The buckets of a layer for queries. As in RedisBloom, the offset of a bucket has only 32 bits. So
// in a layer of more than 4 GiB, queries do not read the slots that InsertByMoving fills.
struct Buckets {
  uint8_t* slots;
  uint64_t mask;
  uint64_t size;

  uint8_t* At(uint64_t hash) const noexcept {
    return slots + static_cast<uint32_t>((hash & mask) * size);
  }
};

// Tests whether one of two buckets has the fingerprint. Has no branch for up to 8 slots.
class BucketTest {
 public:
  explicit BucketTest(size_t size) noexcept : size_(size) {}

  bool operator()(const uint8_t* first, const uint8_t* second, uint8_t fingerprint) const noexcept {
    const uint64_t pattern = PatternOf(fingerprint);
    const size_t begun = std::min<size_t>(8, size_);
    uint64_t equal = EqualBytes(first, begun, pattern) | EqualBytes(second, begun, pattern);
    for (size_t at = 8; at < size_; at += 8) {
      const size_t n = std::min<size_t>(8, size_ - at);
      equal |= EqualBytes(first + at, n, pattern) | EqualBytes(second + at, n, pattern);
    }
    return equal != 0;
  }

 private:
  size_t size_;
};

}  // namespace

RedisCuckooFilter::RedisCuckooFilter(RedisIntegers integers, uint32_t max_expansions,
                                     const MemoryOptions& memory, const Backend* backend)
    : integers_(integers),
      max_expansions_(max_expansions),
      backend_(backend != nullptr ? backend : &DefaultBackend()),
      memory_(memory) {
  RequireIn("max_expansions", max_expansions, 1, 65536);
}

RedisCuckooFilter::RedisCuckooFilter(const RedisCuckooOptions& options)
    : RedisCuckooFilter(options.integers, options.max_expansions, options.memory, options.backend) {
  RequireOptions(options);
  bucket_size_ = options.bucket_size;
  max_iterations_ = options.max_iterations;
  expansion_ = options.expansion == 0 ? 0 : std::bit_ceil(options.expansion);
  layers_.push_back(MakeLayer(std::bit_ceil(options.capacity / options.bucket_size)));
}

RedisCuckooFilter::Layer RedisCuckooFilter::MakeLayer(uint64_t num_buckets) const {
  return {num_buckets, detail::Storage::Allocate(num_buckets * bucket_size_ + kSlack, memory_)};
}

RedisCuckooFilter::RedisCuckooFilter(RedisCuckooFilter&& other) noexcept
    : integers_(other.integers_),
      bucket_size_(other.bucket_size_),
      max_iterations_(other.max_iterations_),
      expansion_(other.expansion_),
      max_expansions_(other.max_expansions_),
      size_(std::exchange(other.size_, 0)),
      erased_(std::exchange(other.erased_, 0)),
      backend_(other.backend_),
      memory_(other.memory_),
      layers_(std::exchange(other.layers_, {})) {}

RedisCuckooFilter& RedisCuckooFilter::operator=(RedisCuckooFilter&& other) noexcept {
  integers_ = other.integers_;
  bucket_size_ = other.bucket_size_;
  max_iterations_ = other.max_iterations_;
  expansion_ = other.expansion_;
  max_expansions_ = other.max_expansions_;
  size_ = std::exchange(other.size_, 0);
  erased_ = std::exchange(other.erased_, 0);
  backend_ = other.backend_;
  memory_ = other.memory_;
  layers_ = std::exchange(other.layers_, {});
  return *this;
}

RedisCuckooFilter::~RedisCuckooFilter() = default;

double RedisCuckooFilter::expected_fpr() const noexcept {
  constexpr double kOther = 1 - 1.0 / 255;  // probability that a fingerprint differs
  double none = 1;
  for (const Layer& layer : layers_) {
    const uint64_t slots = layer.num_buckets * bucket_size_;
    const auto free = std::count(layer.slots(), layer.slots() + slots, uint8_t{0});
    const double taken = static_cast<double>(slots - static_cast<uint64_t>(free));
    none *= std::pow(kOther, 2 * taken / static_cast<double>(layer.num_buckets));
  }
  return 1 - none;
}

uint64_t RedisCuckooFilter::bytes() const noexcept {
  uint64_t sum = 0;
  for (const Layer& layer : layers_) sum += layer.num_buckets * bucket_size_;
  return sum;
}

RedisCuckooFilter::Place RedisCuckooFilter::PlaceOf(uint64_t hash) noexcept {
  const auto fingerprint = static_cast<uint8_t>(hash % 255 + 1);
  return {hash, OtherHash(fingerprint, hash), fingerprint};
}

uint8_t* RedisCuckooFilter::BucketAt(const Layer& layer, uint64_t hash) const noexcept {
  return Buckets{layer.slots(), layer.num_buckets - 1, bucket_size_}.At(hash);
}

// Returns the first slot of the bucket that has the fingerprint, or nullptr.
uint8_t* RedisCuckooFilter::FindInBucket(uint8_t* bucket, uint8_t fingerprint) const noexcept {
  for (size_t at = 0; at < bucket_size_; at += 8) {
    const uint64_t equal =
        EqualBytes(bucket + at, std::min<size_t>(8, bucket_size_ - at), PatternOf(fingerprint));
    if (equal != 0) return bucket + at + std::countr_zero(equal) / 8;
  }
  return nullptr;
}

uint8_t* RedisCuckooFilter::Find(const Layer& layer, const Place& place,
                                 uint8_t fingerprint) const noexcept {
  uint8_t* const slot = FindInBucket(BucketAt(layer, place.first), fingerprint);
  return slot != nullptr ? slot : FindInBucket(BucketAt(layer, place.second), fingerprint);
}

bool RedisCuckooFilter::ContainsPlace(const Place& place) const noexcept {
  return std::ranges::any_of(layers_, [&](const Layer& layer) {
    return Find(layer, place, place.fingerprint) != nullptr;
  });
}

uint64_t RedisCuckooFilter::CountPlace(const Place& place) const noexcept {
  uint64_t count = 0;
  for (const Layer& layer : layers_) {
    for (const uint64_t hash : {place.first, place.second}) {
      count += CountInBucket(BucketAt(layer, hash), bucket_size_, place.fingerprint);
    }
  }
  return count;
}

bool RedisCuckooFilter::InsertPlace(const Place& place) {
  if (layers_.size() >= max_expansions_) return false;
  for (;;) {
    for (size_t i = layers_.size(); i-- > 0;) {
      uint8_t* const slot = Find(layers_[i], place, 0);
      if (slot == nullptr) continue;
      *slot = place.fingerprint;
      ++size_;
      return true;
    }
    if (InsertByMoving(layers_.back(), place)) {
      ++size_;
      return true;
    }
    if (!Grow()) return false;
  }
}

bool RedisCuckooFilter::InsertPlaceIfAbsent(const Place& place) {
  return !ContainsPlace(place) && InsertPlace(place);
}

// Evicts fingerprints, one after the other: each evicted fingerprint takes the slot of another
// fingerprint in its other bucket. Stops at an empty slot. If no empty slot is found, undoes all
// moves.
bool RedisCuckooFilter::InsertByMoving(Layer& layer, const Place& place) noexcept {
  const uint64_t mask = layer.num_buckets - 1;
  uint8_t fingerprint = place.fingerprint;
  uint64_t bucket = place.first & mask;
  uint32_t victim = 0;
  const auto slots = [&] { return layer.slots() + bucket * bucket_size_; };
  for (uint32_t i = 0; i < max_iterations_; ++i) {
    std::swap(slots()[victim], fingerprint);
    bucket = OtherHash(fingerprint, bucket) & mask;
    if (uint8_t* const slot = FindInBucket(slots(), 0); slot != nullptr) {
      *slot = fingerprint;
      return true;
    }
    victim = (victim + 1) % bucket_size_;
  }
  for (uint32_t i = 0; i < max_iterations_; ++i) {
    victim = (victim + bucket_size_ - 1) % bucket_size_;
    bucket = OtherHash(fingerprint, bucket) & mask;
    std::swap(slots()[victim], fingerprint);
  }
  return false;
}

// Adds a layer. Returns false if the filter cannot have another layer.
bool RedisCuckooFilter::Grow() {
  if (expansion_ == 0 || layers_.size() == kMaxLayers) return false;
  const uint64_t newest = layers_.back().num_buckets;
  if (expansion_ > kMaxBuckets / newest) return false;
  layers_.push_back(MakeLayer(newest * expansion_));
  return true;
}

bool RedisCuckooFilter::ErasePlace(const Place& place) {
  for (size_t i = layers_.size(); i-- > 0;) {
    uint8_t* const slot = Find(layers_[i], place, place.fingerprint);
    if (slot == nullptr) continue;
    *slot = 0;
    --size_;  // wraps around if the header had a smaller number, as in RedisBloom
    ++erased_;
    if (layers_.size() > 1 && static_cast<double>(erased_) > static_cast<double>(size_) * 0.10) {
      EmptyLayers(false);
    }
    return true;
  }
  return false;
}

// Moves fingerprints to older layers with room. No older layer has more buckets than this layer. So
// the index of a bucket in this layer has enough bits of the hash to compute the index in an older
// layer. Returns whether the layer is empty afterwards.
bool RedisCuckooFilter::EmptyLayer(size_t index) {
  const Layer& layer = layers_[index];
  bool emptied = true;
  for (uint64_t bucket = 0; bucket < layer.num_buckets; ++bucket) {
    uint8_t* const slots = layer.slots() + bucket * bucket_size_;
    for (uint32_t i = 0; i < bucket_size_; ++i) {
      if (slots[i] == 0) continue;
      const Place place = {bucket, OtherHash(slots[i], bucket), slots[i]};
      uint8_t* room = nullptr;
      for (size_t older = 0; older < index && room == nullptr; ++older) {
        room = Find(layers_[older], place, 0);
      }
      if (room == nullptr) {
        emptied = false;
        continue;
      }
      *room = place.fingerprint;
      slots[i] = 0;
    }
  }
  if (emptied && index + 1 == layers_.size()) layers_.pop_back();
  return emptied;
}

void RedisCuckooFilter::EmptyLayers(bool all) {
  for (size_t i = layers_.size(); --i > 0;) {
    if (!EmptyLayer(i) && !all) break;
  }
  erased_ = 0;
}

void RedisCuckooFilter::Compact() {
  RequireWritable();
  EmptyLayers(true);
}

void RedisCuckooFilter::Clear() {
  RequireWritable();
  layers_.erase(layers_.begin() + 1, layers_.end());
  std::memset(layers_.front().storage.data(), 0, layers_.front().storage.size());
  size_ = erased_ = 0;
}

bool RedisCuckooFilter::Contains(uint64_t key) const {
  return ContainsPlace(PlaceOf(detail::HashRedisKey<detail::RedisCuckooHash>(integers_, key)));
}

bool RedisCuckooFilter::Contains(std::string_view key) const {
  return ContainsPlace(PlaceOf(detail::HashRedisKey<detail::RedisCuckooHash>(integers_, key)));
}

uint64_t RedisCuckooFilter::Occurrences(uint64_t key) const {
  return CountPlace(PlaceOf(detail::HashRedisKey<detail::RedisCuckooHash>(integers_, key)));
}

uint64_t RedisCuckooFilter::Occurrences(std::string_view key) const {
  return CountPlace(PlaceOf(detail::HashRedisKey<detail::RedisCuckooHash>(integers_, key)));
}

bool RedisCuckooFilter::Insert(uint64_t key) {
  if (layers_.empty()) return false;
  return InsertPlace(PlaceOf(detail::HashRedisKey<detail::RedisCuckooHash>(integers_, key)));
}

bool RedisCuckooFilter::Insert(std::string_view key) {
  if (layers_.empty()) return false;
  return InsertPlace(PlaceOf(detail::HashRedisKey<detail::RedisCuckooHash>(integers_, key)));
}

bool RedisCuckooFilter::InsertIfAbsent(uint64_t key) {
  if (layers_.empty()) return false;
  return InsertPlaceIfAbsent(
      PlaceOf(detail::HashRedisKey<detail::RedisCuckooHash>(integers_, key)));
}

bool RedisCuckooFilter::InsertIfAbsent(std::string_view key) {
  if (layers_.empty()) return false;
  return InsertPlaceIfAbsent(
      PlaceOf(detail::HashRedisKey<detail::RedisCuckooHash>(integers_, key)));
}

bool RedisCuckooFilter::Erase(uint64_t key) {
  return ErasePlace(PlaceOf(detail::HashRedisKey<detail::RedisCuckooHash>(integers_, key)));
}

bool RedisCuckooFilter::Erase(std::string_view key) {
  return ErasePlace(PlaceOf(detail::HashRedisKey<detail::RedisCuckooHash>(integers_, key)));
}

QueryTraits RedisCuckooFilter::traits() const noexcept { return {.backend = backend_}; }

KeyTypes RedisCuckooFilter::key_types() const noexcept { return detail::kIntegersAndStrings; }

void RedisCuckooFilter::Query(const Keys& keys, uint64_t* bits) const {
  detail::RequireRedisForm(keys);
  // Works layer by layer: prefetches the buckets of all keys that no older layer contains, before
  // it reads the first bucket.
  const auto probe = [&](size_t begin, size_t n, uint64_t* out) {
    constexpr size_t kBlock = detail::kFormatBlock;
    uint64_t hashes[kBlock];
    detail::HashBlock(CuckooHasher{integers_, keys}, begin, n, hashes, out);
    const BucketTest test(bucket_size_);
    uint16_t left[kBlock];
    uint8_t fingerprints[kBlock];
    const uint8_t* first[kBlock];
    const uint8_t* second[kBlock];
    size_t count = 0;
    for (size_t word = 0; word < BitmapWords(n); ++word) {
      for (uint64_t rest = out[word]; rest != 0; rest &= rest - 1) {
        left[count++] =
            static_cast<uint16_t>(64 * word + static_cast<size_t>(std::countr_zero(rest)));
      }
      out[word] = 0;
    }
    for (size_t i = 0; i < layers_.size() && count != 0; ++i) {
      // Copied, because otherwise the compiler assumes that writes to fingerprints[] may change the
      // layer.
      const Buckets buckets{layers_[i].slots(), layers_[i].num_buckets - 1, bucket_size_};
      for (size_t j = 0; j < count; ++j) {
        const Place place = PlaceOf(hashes[left[j]]);
        first[j] = buckets.At(place.first);
        second[j] = buckets.At(place.second);
        fingerprints[j] = place.fingerprint;
        detail::PrefetchRead(first[j]);
        detail::PrefetchRead(second[j]);
      }
      size_t kept = 0;
      for (size_t j = 0; j < count; ++j) {
        const uint16_t key = left[j];
        const bool in = test(first[j], second[j], fingerprints[j]);
        out[key / 64] |= uint64_t{in} << (key % 64);
        left[kept] = key;
        kept += in ? 0 : 1;
      }
      count = kept;
    }
  };
  detail::ProbeBlocks(keys.size(), bits, probe);
}

void RedisCuckooFilter::Prefetch(const Place& place) const noexcept {
  for (const Layer& layer : layers_) {
    detail::PrefetchWrite(BucketAt(layer, place.first));
    detail::PrefetchWrite(BucketAt(layer, place.second));
  }
}

void RedisCuckooFilter::Occurrences(Keys keys, std::span<uint64_t> out) const {
  detail::RequireRedisForm(keys);
  detail::RequireRoom(out, keys.size());
  const CuckooHasher hash{integers_, keys};
  uint64_t hashes[64];
  for (size_t begin = 0; begin < keys.size(); begin += 64) {
    const size_t n = std::min<size_t>(64, keys.size() - begin);
    const uint64_t valid = hash(begin, n, hashes);
    for (uint64_t rest = valid; rest != 0; rest &= rest - 1) {
      Prefetch(PlaceOf(hashes[std::countr_zero(rest)]));
    }
    for (size_t i = 0; i < n; ++i) {
      out[begin + i] = (valid >> i & 1) != 0 ? CountPlace(PlaceOf(hashes[i])) : 0;
    }
  }
}

size_t RedisCuckooFilter::Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) {
  RequireWritable();
  detail::RequireRedisForm(keys);
  const auto change_one = [&](const Place& place, size_t i, detail::BlockChanges& changes) {
    if (change == Change::kInsertIfAbsent && ContainsPlace(place)) return;
    const bool done = change == Change::kErase ? ErasePlace(place) : InsertPlace(place);
    detail::SetBitIf(done ? changes.fresh : changes.rejected, i, true);
  };
  const auto change_block = [&](const uint64_t* hashes, size_t n, detail::BlockChanges& changes) {
    detail::ForEachFetched(
        n, [&](size_t i) { Prefetch(PlaceOf(hashes[i])); },
        [&](size_t i) { change_one(PlaceOf(hashes[i]), i, changes); });
  };
  return detail::ChangeBlocks<uint64_t>(change, keys, outputs, CuckooHasher{integers_, keys},
                                        change_block);
}

void RedisCuckooFilter::RequireWritable() const {
  if (layers_.empty()) {
    throw Error(ErrorCode::kReadOnly,
                "the filter was moved from, and can be neither changed nor saved");
  }
}

}  // namespace tamis
