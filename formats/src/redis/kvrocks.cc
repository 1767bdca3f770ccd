// Follows redis_metadata.cc, encoding.h and bloom_filter.h of Apache Kvrocks.
#include "tamis/formats/kvrocks.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "core/src/file/file_format.h"
#include "formats/src/block_import.h"
#include "formats/src/value_text.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/key_types_text.h"

namespace tamis::kvrocks {

namespace {

constexpr uint8_t kTypeMask = 0x0F;
constexpr uint8_t kType = 9;  // type of keys that are Bloom filters
constexpr uint8_t kLongFields = 0x80;

[[noreturn]] void FailKvrocks(ErrorCode code, const char* check, uint64_t at,
                              const std::string& problem) {
  detail::ThrowFormatError("memory", code, check, at, problem);
}

// Decodes the fields of a record that is long enough, big-endian.
class Fields {
 public:
  explicit Fields(std::span<const std::byte> record) noexcept : next_(record.data()) {}

  template <typename T>
  T Take() noexcept {
    T value = 0;
    for (size_t i = 0; i < sizeof(T); ++i) {
      value = static_cast<T>(value << 8 | static_cast<T>(*next_++));
    }
    return value;
  }
  // Doubles are encoded as integers that sort in the order of the values.
  double TakeDouble() noexcept {
    const auto bits = Take<uint64_t>();
    constexpr uint64_t kSign = uint64_t{1} << 63;
    return std::bit_cast<double>((bits & kSign) == 0 ? ~bits : bits & ~kSign);
  }

 private:
  const std::byte* next_;
};

void CheckValue(std::span<const std::byte> value) {
  if (detail::IsArrowSize(value.size())) return;
  FailKvrocks(ErrorCode::kCorrupt, "blocks", value.size(),
              detail::StrCat("a filter of ", value.size(), " bytes, allowed: powers of two from ",
                             detail::kArrowMinBytes, " to ", detail::kArrowMaxBytes));
}

}  // namespace

Chain ReadChain(std::span<const std::byte> record) {
  if (record.empty()) FailKvrocks(ErrorCode::kCorrupt, "file length", 0, "the record is empty");
  const auto flags = static_cast<uint8_t>(record[0]);
  if ((flags & kTypeMask) != kType) {
    FailKvrocks(
        ErrorCode::kUnsupported, "type", 0,
        detail::StrCat("is ", flags & kTypeMask, ", must be ", kType, " for Bloom filters"));
  }
  const bool is_long = (flags & kLongFields) != 0;
  const uint64_t want = is_long ? 45 : 37;
  if (record.size() != want) {
    FailKvrocks(ErrorCode::kCorrupt, "file length", std::min<uint64_t>(record.size(), want),
                detail::StrCat("a record has ", want, " bytes, but there are ", record.size()));
  }
  Fields fields(record.subspan(1));
  Chain chain;
  constexpr uint64_t kMillisecondsPerSecond = 1000;
  chain.expires =
      is_long ? fields.Take<uint64_t>() : kMillisecondsPerSecond * fields.Take<uint32_t>();
  chain.version = fields.Take<uint64_t>();
  chain.keys = is_long ? fields.Take<uint64_t>() : fields.Take<uint32_t>();
  chain.filters = fields.Take<uint16_t>();
  chain.expansion = fields.Take<uint16_t>();
  chain.base_capacity = fields.Take<uint32_t>();
  chain.fpr = fields.TakeDouble();
  chain.bytes = fields.Take<uint32_t>();
  constexpr uint64_t kFiltersFromEnd = 20, kFprFromEnd = 12;
  if (chain.filters == 0) {
    FailKvrocks(ErrorCode::kCorrupt, "filters", want - kFiltersFromEnd,
                "is 0, allowed: [1, 65535]");
  }
  if (!(chain.fpr > 0 && chain.fpr < 1)) {  // also true for NaN
    FailKvrocks(ErrorCode::kCorrupt, "error rate", want - kFprFromEnd,
                detail::StrCat("is ", detail::ValueText(chain.fpr),
                               ", allowed: between 0 and 1, both excluded"));
  }
  return chain;
}

uint64_t BytesFor(uint32_t capacity, double fpr) {
  constexpr double kMinRate = 1e-12, kMaxRate = 0.99;
  return detail::ArrowBytes(capacity, fpr, kMinRate, kMaxRate);
}

ConstSplitBlockView View(std::span<const std::byte> value, const Backend* backend) {
  CheckValue(value);
  return ConstSplitBlockView(value, detail::kParquetHash, backend);
}

SplitBlockBloomFilter FromBytes(std::span<const std::byte> value, const MemoryOptions& memory,
                                const Backend* backend) {
  CheckValue(value);
  return detail::CopyOfBlocks(value, detail::kParquetHash, 0, KeyType::kBytes, memory, backend);
}

std::vector<std::byte> ToBytes(const SplitBlockBloomFilter& filter) {
  const KeyTypes forms = filter.key_types();
  if (!forms.Admit(KeyType::kBytes)) {
    throw Error(ErrorCode::kIncompatible, "the keys of this filter are " + KeyTypesText(forms) +
                                              "; those of Kvrocks are strings");
  }
  detail::RequireArrowExportable(filter, "Kvrocks");
  const std::span<const std::byte> blocks = filter.payload();
  return {blocks.begin(), blocks.end()};
}

}  // namespace tamis::kvrocks
