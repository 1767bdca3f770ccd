#include "core/src/filters/kinds/cuckoo/cuckoo_kind.h"

#include <cstring>
#include <memory>

#include "tamis/detail/str_cat.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/sizing.h"

namespace tamis::detail {
namespace {

template <int kBits>
uint64_t CheckGeometry(const FileHeader& header, const FieldCheck& check) {
  const auto& [chunks, chunk_buckets, unused] = header.geometry;
  check.InRange("chunks", offset::kGeometry, chunks, 1, cuckoo::kMaxChunks);
  check.InRange("chunk buckets", offset::kGeometry + 8, chunk_buckets, 2,
                cuckoo::kMaxChunkBuckets<kBits>);
  if (chunk_buckets % 2 != 0) {
    check.Fail(ErrorCode::kCorrupt, "chunk buckets", offset::kGeometry + 8,
               StrCat("is ", chunk_buckets, ", must be even"));
  }
  check.UnusedGeometry(header, 2);
  const uint64_t buckets = chunks * chunk_buckets;
  check.InRange("inserted", offset::kInserted, header.inserted, 0,
                buckets * cuckoo::Bucket<kBits>::kSlots);
  return buckets * sizeof(cuckoo::Word<kBits>);
}

// Checks that the payload has a fingerprint for each inserted key, and zeros above the last slot.
template <int kBits>
class TableCheck final : public PayloadCheck {
 public:
  void Update(std::span<const std::byte> piece, uint64_t begin) override {
    using Word = cuckoo::Word<kBits>;
    constexpr int kUsedBits = kBits * cuckoo::Bucket<kBits>::kSlots;
    for (size_t i = 0; i < piece.size(); i += sizeof(Word)) {
      Word word;
      std::memcpy(&word, piece.data() + i, sizeof(word));
      fingerprints_ += static_cast<uint64_t>(cuckoo::NumUsed<kBits>(word));
      if constexpr (kUsedBits < 8 * sizeof(Word)) {
        if (word >> kUsedBits != 0 && bad_bucket_ == kNone) bad_bucket_ = begin + i;
      }
    }
  }

  void Finish(const Extent& extent, const std::filesystem::path& path) const override {
    if (bad_bucket_ != kNone) {
      ThrowFormatError(path, ErrorCode::kCorrupt, "bucket", extent.payload_at() + bad_bucket_,
                       "bits that belong to no slot are set");
    }
    if (fingerprints_ != extent.header.inserted) {
      ThrowFormatError(path, ErrorCode::kCorrupt, "inserted", extent.header_at + offset::kInserted,
                       StrCat("is ", extent.header.inserted, ", and the table has ", fingerprints_,
                              " fingerprints"));
    }
  }

 private:
  static constexpr uint64_t kNone = ~uint64_t{0};

  uint64_t fingerprints_ = 0;
  uint64_t bad_bucket_ = kNone;  // offset of the first bucket with bits above its last slot
};

template <int kBits>
uint64_t BytesFor(uint64_t capacity, double fpr) {
  return CuckooGeometry(kBits, capacity, fpr).buckets() * sizeof(cuckoo::Word<kBits>);
}

template <int kBits>
double FprOfBytes(double keys, uint64_t bytes) {
  return CuckooFpr(kBits, keys, bytes / sizeof(cuckoo::Word<kBits>));
}

template <int kBits>
double FprWhenFull(const FileHeader& header) {
  return CuckooFpr(kBits, static_cast<double>(header.capacity),
                   header.geometry[0] * header.geometry[1]);
}

LookupFacts Facts(uint64_t, uint64_t) {
  return {.cache_lines = 2, .note = "holds this many keys and few more; copies take room"};
}

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * kKiB;

// These costs were measured like the costs of split-block filters, but until the filters were full,
// up to 256 MiB. The costs with 16 bits are used for all widths, because filters of the same size
// have the same costs with any fingerprints.
constexpr CostAtSize kPortableCosts[] = {
    {256 * kKiB, {6.4, 15.4, 15.4}}, {kMiB, {6.7, 14.3, 15.1}},     {4 * kMiB, {12.2, 17.4, 17}},
    {16 * kMiB, {14.4, 20, 17.5}},   {64 * kMiB, {42, 36.5, 20.5}}, {256 * kMiB, {60, 55, 28}},
};
constexpr CostAtSize kVector128Costs[] = {
    {256 * kKiB, {3.95, 12.9, 13}}, {kMiB, {4, 11.8, 12.8}},       {4 * kMiB, {5, 14.9, 15}},
    {16 * kMiB, {7.6, 18, 15.2}},   {64 * kMiB, {10.8, 40, 16.2}}, {256 * kMiB, {16.1, 53, 22.3}},
};
constexpr CostAtSize kVector256Costs[] = {
    {256 * kKiB, {2.2, 11.7, 11.6}}, {kMiB, {2.3, 10.5, 11.6}},    {4 * kMiB, {3.3, 13.9, 13.5}},
    {16 * kMiB, {5.5, 16.6, 14.5}},  {64 * kMiB, {9, 33.6, 15.4}}, {256 * kMiB, {12.4, 52, 21.9}},
};
constexpr CostAtSize kVector512Costs[] = {
    {256 * kKiB, {1.43, 11.8, 11.1}}, {kMiB, {1.5, 10.5, 10.6}},    {4 * kMiB, {2.9, 14, 12.4}},
    {16 * kMiB, {5.3, 16.8, 12.8}},   {64 * kMiB, {9.3, 28, 14.3}}, {256 * kMiB, {15, 50, 21.7}},
};

template <int kBits>
constexpr Kind RowOf(const char* name) {
  using F = CuckooFilter<kBits>;
  return {
      .info = {.kind = F::kKind,
               .name = name,
               .can = {.erase = true, .parallel_build = true},
               .geometry = {"chunks", "chunk_buckets"},
               .no_merge = "a cuckoo filter has one slot for each key, and two full tables do not "
                           "fit in one",
               .can_be_layer = true},
      .file = {.check_geometry = CheckGeometry<kBits>,
               .make_payload_check = []() -> std::unique_ptr<PayloadCheck> {
                 return std::make_unique<TableCheck<kBits>>();
               }},
      .make = MakeAs<F>,
      .load = LoadAs<F>,
      .map = MapAs<F>,
      .clone = CloneAs<F>,
      .bytes_for = BytesFor<kBits>,
      .fpr_of_bytes = FprOfBytes<kBits>,
      .fpr_when_full = FprWhenFull<kBits>,
      .lookup_facts = Facts,
      .calibration = {.costs_as = FilterKind::kCuckoo16,
                      .max_bytes = 64 * kMiB,  // filling larger filters takes too long
                      .until_full = true,
                      .on_device = true,
                      .typical = {kPortableCosts, kVector128Costs, kVector256Costs,
                                  kVector512Costs}},
  };
}

}  // namespace

constexpr Kind kCuckoo8Kind = RowOf<8>("cuckoo8");
constexpr Kind kCuckoo12Kind = RowOf<12>("cuckoo12");
constexpr Kind kCuckoo16Kind = RowOf<16>("cuckoo16");

}  // namespace tamis::detail
