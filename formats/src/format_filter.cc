#include "tamis/formats/format_filter.h"

#include <span>

#include "core/src/file/atomic_file.h"
#include "tamis/error.h"

namespace tamis {

std::vector<FormatField> FormatFilter::fields() const { return {}; }

std::vector<std::byte> FormatFilter::ToBytes() const {
  std::vector<std::byte> bytes;
  bytes.reserve(serialized_bytes());
  Write([&](std::span<const std::byte> piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  });
  return bytes;
}

void FormatFilter::Save(const std::filesystem::path& path, const SaveOptions& options) const {
  const auto write = [&](os::TemporaryFile& file) {
    Write([&](std::span<const std::byte> piece) { file.Write(piece); });
  };
  detail::WriteFileAtomicallyBy(path, write, options);
}

void FormatFilter::MergeFrom(const FormatFilter&) {
  throw Error(ErrorCode::kIncompatible, "filters of this format cannot be merged");
}

}  // namespace tamis
