// Reads untrusted bytes as the fields that Milvus, Kvrocks and Vortex store before and next to
// their blocks. For any bytes, the outcome is a FormatError or a filter that can be queried and
// changed, and is written as it was read.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tamis/error.h"
#include "tamis/formats/kvrocks.h"
#include "tamis/formats/milvus.h"
#include "tamis/formats/vortex.h"

namespace tamis {
namespace {

void Require(bool condition) {
  if (!condition) __builtin_trap();
}

void Use(SplitBlockBloomFilter filter, const ConstSplitBlockView& view) {
  std::vector<uint64_t> keys(100);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = i << (i % 50);
  Require(filter.Count(keys) == view.Count(keys));
  filter.Insert(keys);
  Require(filter.Count(keys) == keys.size());
}

void UseMilvus(std::span<const std::byte> bytes) {
  const milvus::Header header = milvus::ReadHeader(bytes);
  SplitBlockBloomFilter filter = milvus::FromBytes(bytes);
  Require(std::ranges::equal(milvus::ToBytes(filter, header), bytes));
  Use(std::move(filter), milvus::View(bytes));
}

void UseKvrocks(std::span<const std::byte> bytes) {
  SplitBlockBloomFilter filter = kvrocks::FromBytes(bytes);
  Require(std::ranges::equal(kvrocks::ToBytes(filter), bytes));
  Use(std::move(filter), kvrocks::View(bytes));
}

// The options, followed by blocks.
void UseVortex(std::span<const std::byte> bytes) {
  const size_t first = std::min<size_t>(bytes.size(), vortex::kOptionsBytes);
  const uint64_t blocks = vortex::ReadOptions(bytes.first(first));
  const auto rest = bytes.subspan(first);
  SplitBlockBloomFilter filter = vortex::FromBytes(rest, blocks);
  Require(std::ranges::equal(vortex::ToBytes(filter), rest));
  Require(std::ranges::equal(vortex::OptionsOf(filter), bytes.first(first)));
  Use(std::move(filter), vortex::View(rest, blocks));
}

}  // namespace
}  // namespace tamis

// The first byte selects the format.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tamis;
  if (size == 0) return 0;
  // Copies the bytes to an address that is valid for a view.
  const auto all = std::as_bytes(std::span(data + 1, size - 1));
  const std::vector<std::byte> bytes(all.begin(), all.end());
  try {
    switch (data[0] % 4) {
      case 0:
        UseMilvus(bytes);
        break;
      case 1:
        UseKvrocks(bytes);
        break;
      case 2:
        Require(kvrocks::ReadChain(bytes).filters > 0);
        break;
      default:
        UseVortex(bytes);
    }
  } catch (const FormatError& error) {
    Require(error.offset() <= bytes.size());
  }
  return 0;
}
