#include "redis/src/filter/layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

#include "redis/src/client/slot.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis::redis {
namespace {

constexpr size_t kSizes = 29;

// The sizes of segments, ascending.
constexpr std::array<uint64_t, kSizes> SegmentSizes() {
  std::array<uint64_t, kSizes> sizes{};
  for (size_t i = 0; i < kSizes; ++i) {
    sizes[i] = (kMinSegment << (i / 4)) / 4 * (4 + i % 4) - kSegmentHeadroom;
  }
  return sizes;
}
static_assert(SegmentSizes().back() == kMaxSegment - kSegmentHeadroom);

std::string Tagged(uint32_t slot, std::string_view kind) {
  std::string key = detail::StrCat("tamis:{", TagOfSlot(slot), "}:");
  key += kind;
  return key += ':';
}

bool IsEven(const Layout& layout, uint64_t masters) {
  std::array<uint64_t, std::end(kEvenMasters)[-1]> bytes{};
  for (uint64_t s = 0; s < layout.segments(); ++s) {
    bytes[layout.SlotOf(s) * masters / kSlots] += layout.BytesOf(s);
  }
  const double share = static_cast<double>(layout.bytes()) / static_cast<double>(masters);
  return std::all_of(
      bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(masters),
      [&](uint64_t b) { return std::abs(static_cast<double>(b) / share - 1) <= kUnevenness; });
}

}  // namespace

uint32_t Layout::SlotOf(uint64_t segment) const {
  // (i + 1/2) * 16384 / n; both factors are below 2^33.
  return static_cast<uint32_t>((2 * segment + 1) * kSlots / (2 * segments()));
}

Layout LayoutFor(uint64_t blocks) {
  constexpr auto sizes = SegmentSizes();
  const auto layout_of = [&](uint64_t bytes) {
    return Layout{blocks, bytes / split_block::kBlockBytes};
  };
  const auto is_even = [&](uint64_t bytes) {
    return std::all_of(std::begin(kEvenMasters), std::end(kEvenMasters),
                       [&](uint64_t masters) { return IsEven(layout_of(bytes), masters); });
  };
  const auto are_many = [&](uint64_t bytes) {
    return layout_of(bytes).segments() >= kManySegments;
  };
  auto size = std::find_if(sizes.rbegin(), sizes.rend(), is_even);
  if (size == sizes.rend()) size = std::find_if(sizes.rbegin(), sizes.rend(), are_many);
  return layout_of(size == sizes.rend() ? sizes.front() : *size);
}

bool IsSegmentBytes(uint64_t bytes) {
  constexpr auto sizes = SegmentSizes();
  return std::find(sizes.begin(), sizes.end(), bytes) != sizes.end();
}

void RequireName(std::string_view name) {
  std::string problem;
  if (name.empty()) problem = "is empty";
  if (name.size() > kMaxNameBytes) {
    problem = detail::StrCat("has ", name.size(), " bytes");
  }
  for (size_t i = 0; problem.empty() && i < name.size(); ++i) {
    const auto byte = static_cast<uint8_t>(name[i]);
    if (byte == '{' || byte == '}') problem = "has a brace";
    if (byte < 0x20 || byte == 0x7F) problem = "has a control character";
  }
  if (problem.empty()) return;
  throw Error(ErrorCode::kInvalidArgument,
              detail::StrCat("the name of a filter ", problem, "; it is 1 to ", kMaxNameBytes,
                             " bytes without braces and control characters"));
}

std::string DescriptorKey(std::string_view name) {
  std::string key = "tamis:{";
  key += name;
  return key += '}';
}

std::string RebuildKey(std::string_view name) { return DescriptorKey(name) + ":rebuild"; }

std::string LeaseKey(std::string_view name) { return DescriptorKey(name) + ":lease"; }

SegmentKey KeyOfSegment(std::string_view name, const Layout& layout, uint64_t generation,
                        uint64_t segment) {
  const uint32_t slot = layout.SlotOf(segment);
  std::string text = detail::StrCat(Tagged(slot, "bits"), HexText(generation), ":", segment);
  text += ':';
  text += name;
  return {slot, std::move(text)};
}

std::string DeltaKey(std::string_view name, uint32_t slot, uint64_t number) {
  std::string key = Tagged(slot, "delta") + HexText(number) + ":";
  return key += name;
}

std::string HexText(uint64_t value) {
  std::string text(16, '0');
  for (size_t i = 16; i-- > 0; value >>= 4) text[i] = "0123456789abcdef"[value & 15];
  return text;
}

}  // namespace tamis::redis
