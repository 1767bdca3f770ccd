#include "core/src/file/payload_check.h"

#include <cstring>
#include <string>

#include "core/src/file/file_format.h"
#include "tamis/cuckoo.h"

namespace tamis::detail {
namespace {

bool IsCuckoo(FilterKind kind) {
  return kind == FilterKind::kCuckoo8 || kind == FilterKind::kCuckoo12 ||
         kind == FilterKind::kCuckoo16;
}

}  // namespace

template <int kBits>
void PayloadCheck::UpdateCuckoo(std::span<const std::byte> piece, uint64_t begin) {
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

void PayloadCheck::Update(std::span<const std::byte> piece, uint64_t begin) {
  switch (extent_.header.kind) {
    case FilterKind::kSplitBlock:
    case FilterKind::kBloom:
    case FilterKind::kCounting:
    case FilterKind::kScalable:  // whose layers are checked
      break;                     // any bytes will do
    case FilterKind::kCuckoo8:
      return UpdateCuckoo<8>(piece, begin);
    case FilterKind::kCuckoo12:
      return UpdateCuckoo<12>(piece, begin);
    case FilterKind::kCuckoo16:
      return UpdateCuckoo<16>(piece, begin);
  }
}

void PayloadCheck::Finish() const {
  if (!IsCuckoo(extent_.header.kind)) return;
  if (bad_bucket_ != kNone) {
    ThrowFormatError(path_, ErrorCode::kCorrupt, "bucket", extent_.payload_at() + bad_bucket_,
                     "bits that belong to no slot are set");
  }
  if (fingerprints_ != extent_.header.inserted) {
    ThrowFormatError(path_, ErrorCode::kCorrupt, "inserted", extent_.header_at + offset::kInserted,
                     "is " + std::to_string(extent_.header.inserted) + ", and the table has " +
                         std::to_string(fingerprints_) + " fingerprints");
  }
}

}  // namespace tamis::detail
