// Follows block_bloom_filter.cc of Apache Kudu.
#include "tamis/formats/kudu.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "core/src/filters/base/sizing_checks.h"
#include "formats/src/format_lookup.h"
#include "formats/src/kudu_hash.h"
#include "formats/src/value_text.h"
#include "tamis/backends.h"
#include "tamis/detail/kernels.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/filters/sizing.h"

namespace tamis {

using detail::KuduHasher;

namespace {

constexpr uint32_t kLogBlockBytes = 5;
static_assert(split_block::kBlockBytes == 1 << kLogBlockBytes);
static_assert(detail::kMovedBytes == 1 << KuduBlockBloomFilter::kMinLogSpaceBytes);

[[noreturn]] void RefuseKudu(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, "a Kudu filter " + message);
}

[[noreturn]] void RefuseKey(KuduType type, uint64_t key) {
  throw Error(ErrorCode::kInvalidArgument,
              detail::StrCat("the key ", static_cast<int64_t>(key), " does not fit the type ",
                             KuduTypeName(type)));
}

KuduHasher HasherOf(const KuduBlockBloomFilter& filter) noexcept {
  return {filter.type(), filter.hash_seed(), filter.log_space_bytes() - kLogBlockBytes};
}

}  // namespace

const char* KuduTypeName(KuduType type) noexcept {
  switch (type) {
    case KuduType::kInt8:
      return "int8";
    case KuduType::kInt16:
      return "int16";
    case KuduType::kInt32:
      return "int32";
    case KuduType::kInt64:
      return "int64";
    case KuduType::kBytes:
      return "bytes";
  }
  return "unknown";
}

uint32_t KuduBlockBloomFilter::LogSpaceFor(const KuduOptions& options) {
  const std::string allowed = detail::StrCat("[", kMinLogSpaceBytes, ", ", kMaxLogSpaceBytes, "]");
  if (options.log_space_bytes != 0) {
    if (options.capacity != 0) RefuseKudu("is sized by its capacity or by its bytes, not by both");
    if (options.log_space_bytes < kMinLogSpaceBytes ||
        options.log_space_bytes > kMaxLogSpaceBytes) {
      RefuseKudu(detail::StrCat("cannot have 2^", options.log_space_bytes,
                                " bytes; allowed exponents: ", allowed));
    }
    return options.log_space_bytes;
  }
  constexpr uint64_t kMaxCapacity = std::numeric_limits<int64_t>::max();
  if (options.capacity == 0 || options.capacity > kMaxCapacity) {
    RefuseKudu(detail::StrCat("for ", options.capacity,
                              " keys cannot be made; allowed: [1, 2^63 - 1], or log_space_bytes"));
  }
  detail::CheckFpr(options.fpr);
  const auto rate = [&](uint32_t log) {
    return detail::PoissonSplitBlockFpr(static_cast<double>(options.capacity),
                                        uint64_t{1} << (log - kLogBlockBytes));
  };
  for (uint32_t log = kMinLogSpaceBytes; log <= kMaxLogSpaceBytes; ++log) {
    if (rate(log) <= options.fpr) return log;
  }
  RefuseKudu(detail::StrCat("for ", options.capacity, " keys at a rate of ",
                            detail::ValueText(options.fpr), " needs more than 2^",
                            kMaxLogSpaceBytes, " bytes; allowed exponents: ", allowed));
}

KuduBlockBloomFilter::KuduBlockBloomFilter(KuduType type, const KuduOptions& options)
    : KuduBlockBloomFilter(type, LogSpaceFor(options), options.hash_seed, options.memory,
                           options.backend) {}

KuduBlockBloomFilter::KuduBlockBloomFilter(KuduType type, uint32_t log_space_bytes,
                                           uint32_t hash_seed, const MemoryOptions& memory,
                                           const Backend* backend)
    : type_(type),
      log_space_bytes_(log_space_bytes),
      hash_seed_(hash_seed),
      backend_(backend != nullptr ? backend : &DefaultBackend()),
      storage_(detail::Storage::Allocate(uint64_t{1} << log_space_bytes, memory)) {}

KuduBlockBloomFilter::KuduBlockBloomFilter(KuduBlockBloomFilter&& other) noexcept
    : type_(other.type_),
      always_false_(std::exchange(other.always_false_, true)),
      log_space_bytes_(std::exchange(other.log_space_bytes_, kMinLogSpaceBytes)),
      hash_seed_(other.hash_seed_),
      backend_(other.backend_),
      storage_(std::move(other.storage_)) {}

KuduBlockBloomFilter& KuduBlockBloomFilter::operator=(KuduBlockBloomFilter&& other) noexcept {
  type_ = other.type_;
  always_false_ = std::exchange(other.always_false_, true);
  log_space_bytes_ = std::exchange(other.log_space_bytes_, kMinLogSpaceBytes);
  hash_seed_ = other.hash_seed_;
  backend_ = other.backend_;
  storage_ = std::move(other.storage_);
  return *this;
}

KuduBlockBloomFilter::~KuduBlockBloomFilter() = default;

double KuduBlockBloomFilter::estimated_count() const noexcept {
  if (always_false_) return 0;
  const uint64_t bits_set = backend_->kernels->popcount(
      reinterpret_cast<const uint64_t*>(storage_.data()), bytes() / sizeof(uint64_t));
  return SplitBlockEstimatedCount(bits_set, num_blocks());
}

double KuduBlockBloomFilter::expected_fpr() const noexcept {
  return SplitBlockFpr(estimated_count(), num_blocks());
}

bool KuduBlockBloomFilter::ContainsHash(uint32_t hash) const noexcept {
  return !always_false_ &&
         backend_->kernels->split_block.contains_one(
             words(), num_blocks(), detail::KuduBlockHash(hash, log_space_bytes_ - kLogBlockBytes));
}

bool KuduBlockBloomFilter::InsertHash(uint32_t hash) noexcept {
  if (storage_.read_only()) return false;
  const bool is_new = !ContainsHash(hash);
  always_false_ = false;
  backend_->kernels->split_block.insert_one(
      words(), num_blocks(), detail::KuduBlockHash(hash, log_space_bytes_ - kLogBlockBytes));
  return is_new;
}

// The low half of a block hash (KuduBlockHash) is the hash of the key.
bool KuduBlockBloomFilter::Contains(uint64_t key) const {
  uint64_t hash = 0;
  return HasherOf(*this).OfKey(key, hash) && ContainsHash(static_cast<uint32_t>(hash));
}

bool KuduBlockBloomFilter::Contains(std::string_view key) const {
  uint64_t hash = 0;
  return HasherOf(*this).OfKey(key, hash) && ContainsHash(static_cast<uint32_t>(hash));
}

bool KuduBlockBloomFilter::Insert(uint64_t key) {
  uint64_t hash = 0;
  if (!HasherOf(*this).OfKey(key, hash)) RefuseKey(type_, key);
  return InsertHash(static_cast<uint32_t>(hash));
}

bool KuduBlockBloomFilter::Insert(std::string_view key) {
  uint64_t hash = 0;
  HasherOf(*this).OfKey(key, hash);
  return InsertHash(static_cast<uint32_t>(hash));
}

QueryTraits KuduBlockBloomFilter::traits() const noexcept { return {.backend = backend_}; }

KeyTypes KuduBlockBloomFilter::key_types() const noexcept {
  return type_ == KuduType::kBytes ? KeyType::kBytes : KeyType::kInteger;
}

void KuduBlockBloomFilter::Query(const Keys& keys, uint64_t* bits) const {
  const KuduHasher hasher = HasherOf(*this);
  hasher.RequireForm(keys);
  if (always_false_) {
    std::fill_n(bits, BitmapWords(keys.size()), 0);
    return;
  }
  const detail::Kernels& kernels = *backend_->kernels;
  const auto hash = [&](size_t begin, size_t n, uint64_t* hashes) {
    return hasher.OfKeys(keys, begin, n, hashes);
  };
  detail::ProbeBlocks(keys.size(), bits, [&](size_t begin, size_t n, uint64_t* out) {
    uint64_t hashes[detail::kFormatBlock];
    uint64_t known[detail::kFormatBlock / 64];
    detail::HashBlock(hash, begin, n, hashes, known);
    kernels.split_block.contains(words(), num_blocks(), detail::HashBatch(hashes, n), out);
    for (size_t i = 0; i < BitmapWords(n); ++i) out[i] &= known[i];
  });
}

size_t KuduBlockBloomFilter::Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) {
  RequireWritable();
  const KuduHasher hasher = HasherOf(*this);
  hasher.RequireKeys(keys);
  const detail::Kernels& kernels = *backend_->kernels;
  const auto hash = [&](size_t begin, size_t n, uint64_t* hashes) {
    return hasher.OfKeys(keys, begin, n, hashes);
  };
  const auto insert = [&](const uint64_t* hashes, size_t n, detail::BlockChanges& changes) {
    if (n == 0) return;
    const detail::Batch batch = detail::HashBatch(hashes, n);
    if (change == Change::kInsert) {
      kernels.split_block.insert(words(), num_blocks(), batch);
    } else {
      kernels.split_block.insert_if_absent(words(), num_blocks(), batch, changes.fresh);
    }
    // The first key that is inserted into such a filter is new, whatever the blocks contain.
    changes.fresh[0] |= uint64_t{std::exchange(always_false_, false)};
  };
  return detail::ChangeBlocks<uint64_t>(change, keys, outputs, hash, insert);
}

void KuduBlockBloomFilter::RequireWritable() const {
  if (storage_.read_only()) {
    throw Error(ErrorCode::kReadOnly, "the filter was moved from, and cannot be changed");
  }
}

void KuduBlockBloomFilter::Merge(const KuduBlockBloomFilter& other) {
  RequireWritable();
  const auto require = [](bool equal, const char* what, const std::string& mine,
                          const std::string& theirs) {
    if (equal) return;
    throw Error(ErrorCode::kIncompatible, std::string("Kudu filters with different ") + what +
                                              " cannot be merged: " + mine + " and " + theirs);
  };
  require(type_ == other.type_, "types of keys", KuduTypeName(type_), KuduTypeName(other.type_));
  require(hash_seed_ == other.hash_seed_, "seeds", std::to_string(hash_seed_),
          std::to_string(other.hash_seed_));
  require(log_space_bytes_ == other.log_space_bytes_, "numbers of bytes", std::to_string(bytes()),
          std::to_string(other.bytes()));
  if (this == &other || other.always_false_) return;
  backend_->kernels->merge(reinterpret_cast<uint64_t*>(storage_.data()),
                           reinterpret_cast<const uint64_t*>(other.storage_.data()),
                           bytes() / sizeof(uint64_t));
  always_false_ = false;
}

void KuduBlockBloomFilter::Clear() {
  RequireWritable();
  std::memset(storage_.data(), 0, storage_.size());
  always_false_ = true;
}

}  // namespace tamis
