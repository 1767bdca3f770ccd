#include "redis/src/filter/descriptor.h"

#include <charconv>
#include <chrono>

#include "redis/src/client/line_reader.h"
#include "redis/src/client/url.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/filters/sizing.h"
#include "tamis/hash_kinds.h"
#include "tamis/units.h"

namespace tamis::redis {
namespace {

constexpr uint64_t kAny = ~uint64_t{0};
constexpr size_t kMaxText = 1024;  // longer than any text of DescriptorText
constexpr std::string_view kFirstWord = "tamis-redis";

HashKind ParseHashKind(LineReader& reader) {
  const std::string_view name = reader.Value("hash");
  for (const HashKind kind : kHashKinds) {
    if (name == HashKindName(kind)) return kind;
  }
  reader.Refuse("does not name a known hash");
}

double ParseFpr(LineReader& reader) {
  const std::string_view text = reader.Value("fpr");
  double fpr = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), fpr);
  if (error != std::errc() || !(fpr >= kMinFpr && fpr <= kMaxFpr) || NumberText(fpr) != text) {
    reader.Refuse("is not a rate in [1e-12, 0.5] in its shortest form");
  }
  return fpr;
}

}  // namespace

std::string DescriptorText(const Descriptor& descriptor) {
  std::string text(kFirstWord);
  const auto line = [&text](const char* name, const std::string& value) {
    text.append(name).append(" ").append(value).append("\n");
  };
  line("", std::to_string(kDescriptorVersion));
  line("kind", "split-block");
  line("blocks", std::to_string(descriptor.layout.blocks));
  line("segment-bytes", std::to_string(descriptor.layout.segment_bytes()));
  line("hash", HashKindName(descriptor.hash.kind));
  line("seed", std::to_string(descriptor.hash.seed));
  line("key-tag-1", HexText(descriptor.key_tag[0]));
  line("key-tag-2", HexText(descriptor.key_tag[1]));
  line("capacity", std::to_string(descriptor.capacity));
  line("fpr", NumberText(descriptor.fpr));
  line("generation", HexText(descriptor.generation));
  line("origin", HexText(descriptor.origin));
  line("deadline", std::to_string(descriptor.deadline));
  return text;
}

std::string ExpiryText(const Descriptor& descriptor) {
  // Scripts represent integers exactly only up to 2^53. A later expiry becomes "never".
  constexpr uint64_t kLast = (uint64_t{1} << 53) - kKeptAfterDeadlineMs;
  if (descriptor.deadline == 0 || descriptor.deadline > kLast) return "0";
  return std::to_string(descriptor.deadline + kKeptAfterDeadlineMs);
}

uint64_t NowMs() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

Descriptor ParseDescriptor(std::string_view text) {
  LineReader reader("the descriptor", text.size() > kMaxText ? std::string_view() : text);
  const std::string_view version = reader.Value(kFirstWord);
  uint64_t number = 0;
  if (!ParseDecimal(version, kAny, number)) reader.Refuse("does not name a version");
  if (number != kDescriptorVersion) {
    throw Error(ErrorCode::kUnsupported,
                detail::StrCat("the filter has version ", number,
                               " of the format, but this library supports version 1"));
  }
  if (reader.Value("kind") != "split-block") {
    throw Error(ErrorCode::kUnsupported, "the filter is of an unknown kind");
  }
  Descriptor descriptor;
  descriptor.layout.blocks = reader.Number("blocks", 1, split_block::kMaxBlocks32);
  const uint64_t segment_bytes = reader.Number("segment-bytes", 1, kAny);
  if (!IsSegmentBytes(segment_bytes)) reader.Refuse("is not a possible size of segments");
  descriptor.layout.segment_blocks = segment_bytes / split_block::kBlockBytes;
  descriptor.hash.kind = ParseHashKind(reader);
  const bool keyed = IsKeyed(descriptor.hash.kind);
  descriptor.hash.seed = reader.Number("seed", 0, keyed ? 0 : kAny);
  for (size_t i = 0; i < 2; ++i) {
    descriptor.key_tag[i] = reader.Hex(i == 0 ? "key-tag-1" : "key-tag-2");
    if (!keyed && descriptor.key_tag[i] != 0)
      reader.Refuse("has a tag, but the hash has no secret");
  }
  descriptor.capacity = reader.Number("capacity", 1, kAny);
  descriptor.fpr = ParseFpr(reader);
  descriptor.generation = reader.Hex("generation");
  descriptor.origin = reader.Hex("origin");
  descriptor.deadline = reader.Number("deadline", 0, kAny);
  reader.End();
  return descriptor;
}

std::array<uint64_t, 2> KeyTag(const HashSpec& hash) {
  if (!IsKeyed(hash.kind)) return {};
  return {HashBytes("tamis key tag 1", hash), HashBytes("tamis key tag 2", hash)};
}

}  // namespace tamis::redis
