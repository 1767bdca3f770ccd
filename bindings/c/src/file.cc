// Filters in files and in memory.
#include "tamis/c/file.h"

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <variant>

#include "bindings/c/src/handles.h"
#include "bindings/c/src/memory.h"
#include "bindings/c/src/options.h"
#include "bindings/c/src/path.h"
#include "tamis/detail/str_cat.h"
#include "tamis/filters/serialize.h"

namespace tamis::c {
namespace {

namespace fs = std::filesystem;

using Object = decltype(tamis_filter::object);
using Bytes = std::span<const std::byte>;

// Throws for options that do not apply to a filter of another library.
ForeignLoadOptions ReadForeign(const OpenOptions& options) {
  if (options.load.secret) {
    Refuse("filters of other libraries have no secret", ErrorCode::kSecret);
  }
  return {.memory = options.load.memory, .backend = options.load.backend};
}

void RefuseToMap(const OpenOptions& options, const char* what) {
  if (options.map) Refuse(std::string(what) + " cannot be mapped", ErrorCode::kUnsupported);
}

Object Open(const fs::path& path, const OpenOptions& options) {
  if (options.format != nullptr) {
    return options.map ? ForeignFilter::Map(path, options.format, ReadForeign(options))
                       : ForeignFilter::Load(path, options.format, ReadForeign(options));
  }
  if (ForeignFilter::IsImported(path)) {
    RefuseToMap(options, "imported filters");
    return ForeignFilter::Open(path, ReadForeign(options));
  }
  return options.map ? Map(path, options.AsMap()) : Load(path, options.load);
}

Object Open(Bytes bytes, const OpenOptions& options) {
  if (options.format != nullptr) {
    RefuseToMap(options, "filters of other libraries in memory");
    return ForeignFilter::FromBytes(bytes, options.format, ReadForeign(options));
  }
  return options.map ? Map(bytes, options.AsMap()) : Load(bytes, options.load);
}

// Returns the number of bytes of the saved filter. If `out` is not nullptr, also writes the bytes
// to it.
uint64_t Write(const Filter& filter, const SaveOptions& options, std::span<std::byte>* out) {
  return out != nullptr ? Serialize(filter, *out, options) : SerializedBytes(filter, options);
}

uint64_t Write(const ForeignFilter& filter, std::span<std::byte>* out) {
  const uint64_t needed = filter.serialized_bytes();
  if (out == nullptr) return needed;
  if (out->size() < needed) {
    Refuse(
        detail::StrCat("data has room for ", out->size(), " bytes, and the filter has ", needed));
  }
  std::byte* to = out->data();
  filter.Write([&](Bytes piece) {
    if (!piece.empty()) std::memcpy(to, piece.data(), piece.size());
    to += piece.size();
  });
  return needed;
}

}  // namespace
}  // namespace tamis::c

using namespace tamis;
using namespace tamis::c;

tamis_status tamis_filter_save(const tamis_filter* filter, const char* path,
                               const tamis_save_options* options) {
  return Guard([&] {
    const auto* const foreign = std::get_if<ForeignFilter>(&Required(filter, "filter").object);
    const fs::path to = PathFrom(&Required(path, "path"));
    const bool imported = ReadImported(options);
    if (foreign != nullptr && imported) return foreign->SaveImported(to, ReadSave(options));
    if (foreign != nullptr) return foreign->Save(to, ReadSave(options));
    const Filter& saved = FilterOf(filter, "saved");
    if (imported) Refuse("imported is for filters of other libraries");
    saved.Save(to, ReadSave(options));
  });
}

tamis_status tamis_filter_open(const char* path, const tamis_open_options* options,
                               tamis_filter** out) {
  return Guard([&] {
    MakeFilterHandle(out,
                     [&] { return Open(PathFrom(&Required(path, "path")), ReadOpen(options)); });
  });
}

tamis_status tamis_filter_open_memory(const void* data, uint64_t bytes,
                                      const tamis_open_options* options, tamis_filter** out) {
  return Guard([&] {
    MakeFilterHandle(out,
                     [&] { return Open(Memory<const std::byte>(data, bytes), ReadOpen(options)); });
  });
}

tamis_status tamis_filter_serialize(const tamis_filter* filter, const tamis_save_options* options,
                                    void* data, uint64_t capacity, uint64_t* written) {
  return Guard([&] {
    const WantedOutput written_out(written, "written");
    const auto* const foreign = std::get_if<ForeignFilter>(&Required(filter, "filter").object);
    std::span room = Memory<std::byte>(data, capacity);
    std::span<std::byte>* const to = data != nullptr || capacity != 0 ? &room : nullptr;
    if (ReadImported(options)) {
      Refuse("imported is for tamis_filter_save", ErrorCode::kUnsupported);
    }
    const SaveOptions save = ReadSave(options);
    written_out.Set(foreign != nullptr ? Write(*foreign, to)
                                       : Write(FilterOf(filter, "serialized"), save, to));
  });
}

const char* tamis_format_name(size_t index) {
  const std::span formats = ForeignFormats();
  return index < formats.size() ? formats[index].name : nullptr;
}
