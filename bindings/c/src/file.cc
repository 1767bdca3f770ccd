// Filters in files and in memory.
#include "tamis/c/file.h"

#include <cstddef>
#include <filesystem>

#include "bindings/c/src/handles.h"
#include "bindings/c/src/memory.h"
#include "bindings/c/src/options.h"

using namespace tamis;
using namespace tamis::c;

tamis_status tamis_filter_save(const tamis_filter* filter, const char* path,
                               const tamis_save_options* options) {
  return Guard([&] { FilterOf(filter).Save(&Required(path, "path"), ReadSave(options)); });
}

tamis_status tamis_filter_open(const char* path, const tamis_open_options* options,
                               tamis_filter** out) {
  return Guard([&] {
    MakeFilterHandle(out, [&] {
      return Load(std::filesystem::path(&Required(path, "path")), ReadLoad(options));
    });
  });
}

tamis_status tamis_filter_map(const char* path, const tamis_open_options* options,
                              tamis_filter** out) {
  return Guard([&] {
    MakeFilterHandle(
        out, [&] { return Map(std::filesystem::path(&Required(path, "path")), ReadMap(options)); });
  });
}

tamis_status tamis_filter_serialized_bytes(const tamis_filter* filter,
                                           const tamis_save_options* options, uint64_t* out) {
  return Guard(
      [&] { Required(out, "out") = SerializedBytes(FilterOf(filter), ReadSave(options)); });
}

tamis_status tamis_filter_serialize(const tamis_filter* filter, const tamis_save_options* options,
                                    void* data, uint64_t capacity, uint64_t* written) {
  return Guard([&] {
    const WantedOutput written_out(written, "written");
    const uint64_t bytes =
        Serialize(FilterOf(filter), Memory<std::byte>(data, capacity), ReadSave(options));
    written_out.Set(bytes);
  });
}

tamis_status tamis_filter_deserialize(const void* data, uint64_t bytes,
                                      const tamis_open_options* options, tamis_filter** out) {
  return Guard([&] {
    MakeFilterHandle(out,
                     [&] { return Load(Memory<const std::byte>(data, bytes), ReadLoad(options)); });
  });
}

tamis_status tamis_filter_map_memory(const void* data, uint64_t bytes,
                                     const tamis_open_options* options, tamis_filter** out) {
  return Guard([&] {
    MakeFilterHandle(out,
                     [&] { return Map(Memory<const std::byte>(data, bytes), ReadMap(options)); });
  });
}
