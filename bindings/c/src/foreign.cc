// Filters of other libraries.
#include "tamis/c/foreign.h"

#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "bindings/c/src/handles.h"
#include "bindings/c/src/key_array.h"
#include "bindings/c/src/lookup.h"
#include "bindings/c/src/memory.h"
#include "bindings/c/src/options.h"
#include "bindings/c/src/string_key.h"

namespace tamis::c {
namespace {

const ForeignFilter& ForeignOf(const tamis_foreign* filter) {
  return Required(filter, "filter").filter;
}
ForeignFilter& ForeignOf(tamis_foreign* filter) { return Required(filter, "filter").filter; }

template <typename Make>
tamis_status MakeForeign(tamis_foreign** out, const Make& make) {
  return Guard([&] {
    tamis_foreign*& handle = Required(out, "out");
    handle = new tamis_foreign{make()};
  });
}

}  // namespace
}  // namespace tamis::c

using namespace tamis;
using namespace tamis::c;

const char* tamis_foreign_format_name(size_t index) {
  const std::span formats = ForeignFormats();
  return index < formats.size() ? formats[index].name : nullptr;
}

tamis_status tamis_foreign_load(const char* path, const char* format, tamis_foreign** out) {
  return MakeForeign(out, [&] {
    return ForeignFilter::Load(&Required(path, "path"), &Required(format, "format"));
  });
}

tamis_status tamis_foreign_deserialize(const void* data, uint64_t bytes, const char* format,
                                       tamis_foreign** out) {
  return MakeForeign(out, [&] {
    return ForeignFilter::FromBytes(Memory<const std::byte>(data, bytes),
                                    &Required(format, "format"));
  });
}

tamis_status tamis_foreign_open(const char* path, tamis_foreign** out) {
  return MakeForeign(out, [&] { return ForeignFilter::Open(&Required(path, "path")); });
}

void tamis_foreign_free(tamis_foreign* filter) { delete filter; }

tamis_status tamis_foreign_save(const tamis_foreign* filter, const char* path,
                                const tamis_save_options* options) {
  return Guard([&] { ForeignOf(filter).Save(&Required(path, "path"), ReadSave(options)); });
}

tamis_status tamis_foreign_save_imported(const tamis_foreign* filter, const char* path,
                                         const tamis_save_options* options) {
  return Guard([&] { ForeignOf(filter).SaveImported(&Required(path, "path"), ReadSave(options)); });
}

tamis_status tamis_foreign_serialize(const tamis_foreign* filter, void* data, uint64_t capacity,
                                     uint64_t* written) {
  return Guard([&] {
    const WantedOutput written_out(written, "written");
    const ForeignFilter& in = ForeignOf(filter);
    const uint64_t needed = in.serialized_bytes();
    if (data != nullptr || capacity != 0) {
      const std::span out = Memory<std::byte>(data, capacity);
      if (out.size() < needed) {
        Refuse("data has room for " + std::to_string(capacity) + " bytes, and the filter has " +
               std::to_string(needed));
      }
      const std::vector<std::byte> bytes = in.ToBytes();
      std::memcpy(out.data(), bytes.data(), bytes.size());
    }
    written_out.Set(needed);
  });
}

tamis_status tamis_foreign_get_info(const tamis_foreign* filter, tamis_foreign_info* out) {
  return Guard([&] {
    const ForeignFilter& in = ForeignOf(filter);
    tamis_foreign_info info{};
    info.format = in.format().name;
    info.bytes = in.bytes();
    info.key_forms = in.format().key_forms.bits();
    info.estimated_count = in.estimated_count();
    info.expected_fpr = in.expected_fpr();
    WriteInfo(out, "out", info);
  });
}

tamis_answer tamis_foreign_contains_u64(const tamis_foreign* filter, uint64_t key) {
  return Answer([&] { return ForeignOf(filter).Count(Keys(std::span(&key, 1))) == 1; });
}

tamis_answer tamis_foreign_contains_string(const tamis_foreign* filter, const char* string,
                                           size_t bytes) {
  return Answer([&] {
    const std::string_view key = StringKey(string, bytes);
    return ForeignOf(filter).Count(Keys(std::span(&key, 1))) == 1;
  });
}

tamis_status tamis_foreign_contains_bitmap(const tamis_foreign* filter, const tamis_keys* keys,
                                           uint64_t* bits, uint64_t words, uint64_t* hits) {
  return Guard([&] { LookUpBitmap(ForeignOf(filter), keys, bits, words, hits); });
}

tamis_status tamis_foreign_contains_bytes(const tamis_foreign* filter, const tamis_keys* keys,
                                          uint8_t* bytes, uint64_t capacity, uint64_t* hits) {
  return Guard([&] { LookUpBytes(ForeignOf(filter), keys, bytes, capacity, hits); });
}

tamis_status tamis_foreign_select64(const tamis_foreign* filter, const tamis_keys* keys,
                                    uint64_t* indices, uint64_t capacity, uint64_t* hits) {
  return Guard([&] { LookUpIndices(ForeignOf(filter), keys, indices, capacity, hits); });
}

tamis_status tamis_foreign_count(const tamis_foreign* filter, const tamis_keys* keys,
                                 uint64_t* hits) {
  return Guard([&] { LookUpCount(ForeignOf(filter), keys, hits); });
}

tamis_status tamis_foreign_insert(tamis_foreign* filter, const tamis_keys* given,
                                  uint64_t* inserted) {
  return Guard([&] {
    ForeignFilter& in = ForeignOf(filter);
    const WantedOutput inserted_out(inserted, "inserted");
    // In one run, as all keys are inserted or none.
    const KeyArray keys(given, size_t{1} << 62);
    uint64_t sum = 0;
    keys.ForRuns([&](const Keys& run, size_t) { sum += in.Insert(run); });
    inserted_out.Set(sum);
  });
}

tamis_status tamis_foreign_merge(tamis_foreign* filter, const tamis_foreign* other) {
  return Guard([&] {
    ForeignFilter& into = ForeignOf(filter);
    const ForeignFilter& from = Required(other, "other").filter;
    if (&into != &from) into.Merge(from);
  });
}
