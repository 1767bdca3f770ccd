// Views.
#include "tamis/c/view.h"

#include <cstddef>
#include <span>
#include <string>

#include "bindings/c/src/handles.h"
#include "bindings/c/src/lookup.h"
#include "bindings/c/src/options.h"
#include "bindings/c/src/string_key.h"

namespace tamis::c {
namespace {

const ConstSplitBlockView& Reader(const tamis_view* view) { return Required(view, "view").reader; }

const SplitBlockView& Writer(tamis_view* view) {
  if (Required(view, "view").writer == nullptr) {
    Refuse("the view can be asked only, and not be changed", ErrorCode::kReadOnly);
  }
  return *view->writer;
}

// Whatever is wrong with them is found by the views, but for NULL.
template <typename Byte, typename Void>
std::span<Byte> Blocks(Void* blocks, uint64_t bytes) {
  return {&Required(static_cast<Byte*>(blocks), "blocks"), static_cast<size_t>(bytes)};
}

// Inserts one key.
template <typename Key>
tamis_answer Insert(tamis_view* view, const Key& key) noexcept {
  return Answer([&] {
    Writer(view).Insert(key());
    return true;
  });
}

}  // namespace
}  // namespace tamis::c

using namespace tamis;
using namespace tamis::c;

tamis_status tamis_view_create(void* blocks, uint64_t bytes, const tamis_view_options* options,
                               tamis_view** out) {
  return Guard([&] {
    tamis_view*& handle = Required(out, "out");
    const tamis_view_options given = ReadOptions(options, "options");
    if (given.inserted != nullptr) RequireArray<uint64_t>(given.inserted, "inserted");
    const SplitBlockView view(Blocks<std::byte>(blocks, bytes), ReadHash(given.hash),
                              given.inserted, ReadBackend(given.backend));
    handle = new tamis_view{view, std::make_unique<SplitBlockView>(view)};
  });
}

tamis_status tamis_view_create_const(const void* blocks, uint64_t bytes,
                                     const tamis_view_options* options, tamis_view** out) {
  return Guard([&] {
    tamis_view*& handle = Required(out, "out");
    const tamis_view_options given = ReadOptions(options, "options");
    if (given.inserted != nullptr) Refuse("inserted must be NULL, as nothing can be inserted");
    const ConstSplitBlockView view(Blocks<const std::byte>(blocks, bytes), ReadHash(given.hash),
                                   ReadBackend(given.backend));
    handle = new tamis_view{view, nullptr};
  });
}

void tamis_view_free(tamis_view* view) { delete view; }

tamis_status tamis_view_estimated_count(const tamis_view* view, double* out) {
  return Guard([&] { Required(out, "out") = Reader(view).estimated_count(); });
}

tamis_status tamis_view_expected_fpr(const tamis_view* view, double* out) {
  return Guard([&] { Required(out, "out") = Reader(view).expected_fpr(); });
}

tamis_answer tamis_view_contains_u64(const tamis_view* view, uint64_t key) {
  return Answer([&] { return Reader(view).Contains(key); });
}

tamis_answer tamis_view_contains_string(const tamis_view* view, const char* string, size_t bytes) {
  return Answer([&] { return Reader(view).Contains(StringKey(string, bytes)); });
}

tamis_answer tamis_view_contains_hash(const tamis_view* view, uint64_t hash) {
  return Answer([&] { return Reader(view).ContainsHash(hash); });
}

tamis_answer tamis_view_insert_u64(tamis_view* view, uint64_t key) {
  return Insert(view, [&] { return key; });
}

tamis_answer tamis_view_insert_string(tamis_view* view, const char* string, size_t bytes) {
  return Insert(view, [&] { return StringKey(string, bytes); });
}

tamis_answer tamis_view_insert_hash(tamis_view* view, uint64_t hash) {
  return Answer([&] {
    Writer(view).InsertHash(hash);
    return true;
  });
}

tamis_status tamis_view_contains_bitmap(const tamis_view* view, const tamis_keys* keys,
                                        uint64_t* bits, uint64_t words, uint64_t* hits) {
  return Guard([&] { LookUpBitmap(Reader(view), keys, bits, words, hits); });
}

tamis_status tamis_view_contains_bytes(const tamis_view* view, const tamis_keys* keys,
                                       uint8_t* bytes, uint64_t capacity, uint64_t* hits) {
  return Guard([&] { LookUpBytes(Reader(view), keys, bytes, capacity, hits); });
}

tamis_status tamis_view_select32(const tamis_view* view, const tamis_keys* keys, uint32_t* indices,
                                 uint64_t capacity, uint64_t* hits) {
  return Guard([&] { LookUpIndices(Reader(view), keys, indices, capacity, hits); });
}

tamis_status tamis_view_select64(const tamis_view* view, const tamis_keys* keys, uint64_t* indices,
                                 uint64_t capacity, uint64_t* hits) {
  return Guard([&] { LookUpIndices(Reader(view), keys, indices, capacity, hits); });
}

tamis_status tamis_view_count(const tamis_view* view, const tamis_keys* keys, uint64_t* hits) {
  return Guard([&] { LookUpCount(Reader(view), keys, hits); });
}

tamis_status tamis_view_insert(tamis_view* view, const tamis_keys* keys) {
  return Guard([&] {
    const SplitBlockView& writer = Writer(view);
    KeyArray(keys).ForRuns([&](const Keys& run, size_t) { writer.Insert(run); });
  });
}
