// Reads untrusted bytes as a part of a join filter. For any bytes, the outcome is a FormatError or
// a part that can be used, and that is unchanged when it is written. The right checksum replaces
// the one of the input.
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "tamis/error.h"
#include "tamis/join/join_filter.h"
#include "tamis/keys.h"
#include "tests/fuzz/memory_file.h"

namespace tamis {
namespace {

// Offsets of join/FORMAT.md.
constexpr size_t kMaxBytes = 72;
constexpr size_t kChecksum = 144;
constexpr size_t kPayload = 152;

void SetChecksum(Bytes& bytes) {
  if (bytes.size() < kPayload) return;
  const uint64_t header = XXH3_64bits(bytes.data(), kChecksum);
  const uint64_t sum =
      XXH3_64bits_withSeed(bytes.data() + kPayload, bytes.size() - kPayload, header);
  std::memcpy(bytes.data() + kChecksum, &sum, sizeof(sum));
}

void Use(const Bytes& bytes) {
  JoinFilter::Part part = JoinFilter::Part::FromBytes(std::as_bytes(std::span(bytes)));
  const std::vector<std::byte> written = part.Serialize();
  Require(written.size() == bytes.size() &&
          std::memcmp(written.data(), bytes.data(), bytes.size()) == 0);
  uint64_t max_bytes = 0;
  std::memcpy(&max_bytes, bytes.data() + kMaxBytes, sizeof(max_bytes));
  if (max_bytes > uint64_t{1} << 20) return;  // a part may take so much memory
  const uint64_t inserted = part.inserted_count();
  const std::vector<uint64_t> keys = {0, 1, 2, ~uint64_t{0}, uint64_t{1} << 63, bytes.size()};
  part.Insert(keys);
  Require(part.inserted_count() >= inserted);  // the count stops at its maximum
  Require(part.bytes() <= max_bytes);
  const JoinFilter::Part again = JoinFilter::Part::FromBytes(part.Serialize());
  Require(again.contents() == part.contents() && again.Serialize() == part.Serialize());
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tamis;
  Bytes bytes(data, data + size);
  SetChecksum(bytes);
  try {
    Use(bytes);
  } catch (const FormatError& error) {
    Require(error.offset() <= size);
  }
  return 0;
}
