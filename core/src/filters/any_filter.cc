#include "tamis/any_filter.h"

#include "core/src/file/input_file.h"
#include "core/src/filters/kinds.h"

namespace tamis {

AnyFilter Open(const std::filesystem::path& path, const LoadOptions& options) {
  const FileHeader header = ReadHeader(path);
  return detail::KindOf(header.kind).load(path, header, options);
}

AnyFilter OpenMapped(const std::filesystem::path& path, const MapOptions& options) {
  const FileHeader header = ReadHeader(path);
  return detail::KindOf(header.kind).map(path, header, options);
}

AnyFilter Clone(const Filter& filter, const MemoryOptions& memory) {
  return detail::KindOf(filter.kind()).clone(filter, memory);
}

}  // namespace tamis
