#include "tamis/filters/any_filter.h"

#include <cstring>

#include "core/src/file/input_file.h"
#include "core/src/filters/base/filter_access.h"
#include "core/src/filters/registry/kinds.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/filters/serialize.h"

namespace tamis {
namespace {

constexpr char kMemory[] = "memory";

AnyFilter LoadFrom(const detail::InputFile& file, const LoadOptions& options) {
  return detail::KindOf(file.header().kind).load(file, options);
}

AnyFilter MapFrom(const detail::InputFile& file, const MapOptions& options) {
  return detail::KindOf(file.header().kind).map(file, options);
}

class ToMemory final : public detail::PartsWriter {
 public:
  explicit ToMemory(std::byte* out) : out_(out) {}

  void Write(std::span<const std::span<const std::byte>> parts) const override {
    std::byte* to = out_;
    for (const std::span<const std::byte> part : parts) {
      if (!part.empty()) std::memcpy(to, part.data(), part.size());
      to += part.size();
    }
  }

 private:
  std::byte* out_;
};

}  // namespace

AnyFilter Load(const std::filesystem::path& path, const LoadOptions& options) {
  return LoadFrom(detail::InputFile(path), options);
}

AnyFilter Map(const std::filesystem::path& path, const MapOptions& options) {
  return MapFrom(detail::InputFile(path), options);
}

AnyFilter Load(std::span<const std::byte> bytes, const LoadOptions& options) {
  const std::filesystem::path name(kMemory);
  return LoadFrom(detail::InputFile(bytes, name), options);
}

AnyFilter Map(std::span<const std::byte> bytes, const MapOptions& options) {
  const std::filesystem::path name(kMemory);
  return MapFrom(detail::InputFile(bytes, name), options);
}

uint64_t SerializedBytes(const Filter& filter, const SaveOptions& options) {
  return detail::FilterAccess::FileBytes(filter, options);
}

uint64_t Serialize(const Filter& filter, std::span<std::byte> out, const SaveOptions& options) {
  const uint64_t bytes = SerializedBytes(filter, options);
  if (out.size() < bytes) {
    throw Error(ErrorCode::kInvalidArgument,
                detail::StrCat("the filter has ", bytes,
                               " bytes when serialized, and there is room for ", out.size()));
  }
  detail::FilterAccess::Write(filter, options, ToMemory(out.data()));
  return bytes;
}

std::vector<std::byte> Serialize(const Filter& filter, const SaveOptions& options) {
  std::vector<std::byte> bytes(SerializedBytes(filter, options));
  Serialize(filter, bytes, options);
  return bytes;
}

AnyFilter Clone(const Filter& filter, const MemoryOptions& memory) {
  return detail::KindOf(filter.kind()).clone(filter, memory);
}

}  // namespace tamis
