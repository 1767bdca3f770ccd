// Follows bloom.go of DCSO's bloom 0.2.
#include "tamis/formats/dcso.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "formats/src/bit_walk.h"
#include "formats/src/dcso_hash.h"
#include "formats/src/format_lookup.h"
#include "formats/src/key_visit.h"
#include "formats/src/value_text.h"
#include "tamis/backends.h"
#include "tamis/detail/kernels.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis {

using detail::BitsView;
using detail::DcsoWalk;
using detail::Hash128;

namespace {

constexpr size_t kShownBytes = 4096;  // of the free data, in fields()

[[noreturn]] void RefuseDcso(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, "a DCSO filter " + message);
}

void RequireStrings(const Keys& keys) {
  if (keys.empty() || keys.key_type() == KeyType::kBytes) return;
  RefuseDcso("has keys that are strings, and not integers or hashes");
}

struct DcsoHasher {
  const Keys& keys;

  uint64_t operator()(size_t begin, size_t n, Hash128* hashes) const noexcept {
    return detail::VisitStrings(keys, [&](const auto& of) {
      const uint64_t known = detail::NotNull(keys, begin, n);
      std::string_view views[64 + 3];  // empty past the last key
      size_t places[64], count = 0;
      // The entry of a null may not be a valid string.
      for (uint64_t rest = known; rest != 0; rest &= rest - 1, ++count) {
        places[count] = static_cast<size_t>(std::countr_zero(rest));
        views[count] = of(begin + places[count]);
      }
      for (size_t i = 0; i < count; i += 4) {
        uint64_t four[4];
        detail::Fnv1OfFour(views + i, four);
        for (size_t j = i; j < std::min(i + 4, count); ++j) hashes[places[j]].low = four[j - i];
      }
      return known;
    });
  }
};

BitsView DcsoView(uint64_t* words, uint64_t num_bits, uint32_t num_hashes) noexcept {
  return {words, detail::Remainder(num_bits), num_hashes};
}

}  // namespace

DcsoBloomFilter::Header DcsoBloomFilter::HeaderFor(const DcsoOptions& options) {
  if (options.capacity == 0) RefuseDcso("for 0 keys cannot be made; allowed: 1 or more");
  if (!(options.fpr > 0 && options.fpr < 1)) {
    RefuseDcso(detail::StrCat("cannot have a false-positive rate of ",
                              detail::ValueText(options.fpr),
                              "; it must be between 0 and 1, both excluded"));
  }
  // The same operations in the same order as in Go, because the last digit can matter. The ceiling
  // is of a negative number.
  const double log2 = std::log(2.0);
  const auto keys = static_cast<double>(options.capacity);
  const double bits = std::abs(std::ceil(keys * std::log(options.fpr) / (log2 * log2)));
  if (bits < 1) RefuseDcso("cannot have 0 bits; set more keys or a lower rate");
  if (bits > static_cast<double>(kMaxBits)) {
    RefuseDcso(detail::StrCat("cannot have more than ", kMaxBits, " bits (1 PiB)"));
  }
  Header header;
  header.capacity = options.capacity;
  header.fpr = options.fpr;
  header.num_hashes = static_cast<uint64_t>(std::ceil(log2 * bits / keys));
  header.num_bits = static_cast<uint64_t>(bits);
  return header;
}

DcsoBloomFilter::DcsoBloomFilter(const DcsoOptions& options)
    : header_(HeaderFor(options)),
      backend_(options.backend != nullptr ? options.backend : &DefaultBackend()),
      storage_(detail::Storage::Allocate(8 * num_words(), options.memory)) {}

DcsoBloomFilter::DcsoBloomFilter(const Header& header, const Backend* backend,
                                 detail::Storage words, detail::Storage free_data) noexcept
    : header_(header),
      backend_(backend),
      storage_(std::move(words)),
      free_data_(std::move(free_data)) {}

DcsoBloomFilter::DcsoBloomFilter(DcsoBloomFilter&& other) noexcept
    : header_(std::exchange(other.header_, {.num_hashes = 1, .num_bits = 8 * detail::kMovedBytes})),
      backend_(other.backend_),
      storage_(std::move(other.storage_)),
      free_data_(std::move(other.free_data_)) {}

DcsoBloomFilter& DcsoBloomFilter::operator=(DcsoBloomFilter&& other) noexcept {
  header_ = std::exchange(other.header_, {.num_hashes = 1, .num_bits = 8 * detail::kMovedBytes});
  backend_ = other.backend_;
  storage_ = std::move(other.storage_);
  free_data_ = std::move(other.free_data_);
  return *this;
}

DcsoBloomFilter::~DcsoBloomFilter() = default;

std::span<const std::byte> DcsoBloomFilter::free_data() const noexcept {
  if (free_data_.moved_from()) return {};
  return {free_data_.data(), free_data_.size()};
}

void DcsoBloomFilter::SetFreeData(std::span<const std::byte> bytes) {
  RequireWritable();
  detail::Storage data = detail::Storage::Allocate(bytes.size(), {});
  if (!bytes.empty()) std::memcpy(data.data(), bytes.data(), bytes.size());
  free_data_ = std::move(data);
}

uint64_t DcsoBloomFilter::BitsSet() const noexcept {
  return backend_->kernels->popcount(data(), num_words());
}

double DcsoBloomFilter::estimated_count() const noexcept {
  const auto m = static_cast<double>(num_bits());
  return -m / num_hashes() * std::log1p(-static_cast<double>(BitsSet()) / m);
}

double DcsoBloomFilter::expected_fpr() const noexcept {
  return std::pow(static_cast<double>(BitsSet()) / static_cast<double>(num_bits()), num_hashes());
}

std::vector<FormatField> DcsoBloomFilter::fields() const {
  const std::span<const std::byte> data =
      free_data().first(std::min<size_t>(kShownBytes, free_data().size()));
  return {{"capacity", capacity()},
          {"requested_fpr", fpr()},
          {"hashes", uint64_t{num_hashes()}},
          {"bits", num_bits()},
          {"inserted", inserted_count()},
          {"free_data_bytes", uint64_t{free_data().size()}},
          {"free_data", std::string(reinterpret_cast<const char*>(data.data()), data.size())}};
}

bool DcsoBloomFilter::Contains(std::string_view key) const noexcept {
  return detail::ContainsWalk<DcsoWalk>(DcsoView(data(), num_bits(), num_hashes()),
                                        {detail::Fnv1(key), 0});
}

bool DcsoBloomFilter::Insert(std::string_view key) noexcept {
  if (storage_.read_only()) return false;
  const bool is_new = detail::InsertWalk<DcsoWalk>(DcsoView(data(), num_bits(), num_hashes()),
                                                   {detail::Fnv1(key), 0});
  AddInserted(is_new);
  return is_new;
}

QueryTraits DcsoBloomFilter::traits() const noexcept { return {.backend = backend_}; }

KeyTypes DcsoBloomFilter::key_types() const noexcept { return KeyType::kBytes; }

void DcsoBloomFilter::Query(const Keys& keys, uint64_t* bits) const {
  RequireStrings(keys);
  const BitsView view = DcsoView(data(), num_bits(), num_hashes());
  Hash128 hashes[detail::kFormatBlock];
  const auto probe = [&](size_t begin, size_t n, uint64_t* out) {
    detail::HashBlock(DcsoHasher{keys}, begin, n, hashes, out);
    detail::ProbeWalks<DcsoWalk>(view, hashes, n, out);
  };
  detail::ProbeBlocks(keys.size(), bits, probe);
}

size_t DcsoBloomFilter::Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) {
  RequireWritable();
  RequireStrings(keys);
  const BitsView view = DcsoView(data(), num_bits(), num_hashes());
  return detail::ChangeBlocks<Hash128>(
      change, keys, outputs, DcsoHasher{keys},
      [&](const Hash128* hashes, size_t n, detail::BlockChanges& changes) {
        detail::InsertWalks<DcsoWalk>(view, hashes, n, changes.fresh);
        for (const uint64_t word : changes.fresh)
          AddInserted(static_cast<uint64_t>(std::popcount(word)));
      });
}

void DcsoBloomFilter::AddInserted(uint64_t n) noexcept {
  header_.inserted += std::min(n, std::numeric_limits<uint64_t>::max() - header_.inserted);
}

void DcsoBloomFilter::RequireWritable() const {
  if (storage_.read_only()) {
    throw Error(ErrorCode::kReadOnly,
                "the filter is mapped from a file, or was moved from, and cannot be changed");
  }
}

void DcsoBloomFilter::Merge(const DcsoBloomFilter& other) {
  RequireWritable();
  if (&other == this) return;
  const auto compare = [](const char* what, auto mine, auto theirs) {
    if (mine == theirs) return;
    throw Error(ErrorCode::kIncompatible,
                detail::StrCat("DCSO filters with different ", what, " cannot be merged: ",
                               detail::ValueText(mine), " and ", detail::ValueText(theirs)));
  };
  compare("capacities", capacity(), other.capacity());
  compare("requested rates", fpr(), other.fpr());
  compare("numbers of hashes", num_hashes(), other.num_hashes());
  compare("numbers of bits", num_bits(), other.num_bits());
  backend_->kernels->merge(data(), other.data(), num_words());
  AddInserted(other.inserted_count());
}

void DcsoBloomFilter::Clear() {
  RequireWritable();
  std::memset(storage_.data(), 0, storage_.size());
  header_.inserted = 0;
}

}  // namespace tamis
