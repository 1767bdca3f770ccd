// What a payload must fulfil besides its checksum, by the kind of filter.
#ifndef TAMIS_CORE_SRC_FILE_PAYLOAD_CHECK_H_
#define TAMIS_CORE_SRC_FILE_PAYLOAD_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "core/src/filters/scalable/scalable_file.h"

namespace tamis::detail {

// A checksum finds accidents; these find a payload that does not go with its header, whoever made
// it. Cuckoo filters: as many fingerprints as keys inserted, and nothing in bits that no slot has.
class PayloadCheck {
 public:
  // `extent`, whose header has passed its own checks, and `path` must outlive this.
  PayloadCheck(const Extent& extent, const std::filesystem::path& path)
      : extent_(extent), path_(path) {}

  // The payload in consecutive pieces, each a multiple of 8 bytes long but for the last, at
  // `begin`.
  void Update(std::span<const std::byte> piece, uint64_t begin);

  // After the last piece. Throws FormatError.
  void Finish() const;

 private:
  template <int kBits>
  void UpdateCuckoo(std::span<const std::byte> piece, uint64_t begin);

  static constexpr uint64_t kNone = ~uint64_t{0};

  const Extent& extent_;
  const std::filesystem::path& path_;
  uint64_t fingerprints_ = 0;
  uint64_t bad_bucket_ = kNone;  // offset in the payload of the first one with such bits
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_PAYLOAD_CHECK_H_
