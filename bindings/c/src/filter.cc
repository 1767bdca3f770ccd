// Filters: made, described, combined.
#include "tamis/c/filter.h"

#include <optional>

#include "bindings/c/src/handles.h"
#include "bindings/c/src/options.h"
#include "tamis/bloom_filter.h"
#include "tamis/filter_kinds.h"
#include "tamis/scalable_filter.h"
#include "tamis/set_operations.h"
#include "tamis/split_block_filter.h"

namespace tamis::c {
namespace {

ScalableOptions ReadScalable(const tamis_scalable_options& given) {
  ScalableOptions options;
  const auto take = [](auto& option, auto value) {
    if (value != 0) option = value;
  };
  take(options.initial_capacity, given.initial_capacity);
  take(options.fpr, given.fpr);
  take(options.growth, given.growth);
  take(options.tightening, given.tightening);
  options.max_bytes = given.max_bytes;
  options.hash = ReadNewHash(given.hash);
  options.memory = ReadMemory(given.no_huge_pages);
  options.backend = ReadBackend(given.backend);
  return options;
}

// Of a kind that has no such function.
[[noreturn]] void RefuseKind(const Filter& filter, const char* action) {
  Refuse(std::string("filters of kind ") + FilterKindName(filter.kind()) + " cannot be " + action,
         ErrorCode::kUnsupported);
}

void RequireTwo(const Filter& filter, const Filter& other) {
  if (&filter == &other) Refuse("filter and other are the same");
}

}  // namespace
}  // namespace tamis::c

using namespace tamis;
using namespace tamis::c;

tamis_status tamis_filter_create(uint32_t kind, const tamis_filter_options* options,
                                 tamis_filter** out) {
  return Guard([&] {
    MakeFilterHandle(out, [&] {
      const tamis_filter_options given = ReadOptions(Required(options, "options"), "options");
      RequireZero(given.reserved);
      return MakeFilter(static_cast<FilterKind>(kind), {.capacity = given.capacity,
                                                        .fpr = given.fpr,
                                                        .bytes = given.bytes,
                                                        .hash = ReadNewHash(given.hash),
                                                        .memory = ReadMemory(given.no_huge_pages),
                                                        .backend = ReadBackend(given.backend)});
    });
  });
}

tamis_status tamis_filter_create_scalable(const tamis_scalable_options* options,
                                          tamis_filter** out) {
  return Guard([&] {
    MakeFilterHandle(out, [&] {
      const tamis_scalable_options given = ReadOptions(options, "options");
      const auto layers =
          given.layers != 0 ? static_cast<FilterKind>(given.layers) : FilterKinds().front().kind;
      return MakeScalableFilter(layers, ReadScalable(given));
    });
  });
}

tamis_status tamis_filter_clone(const tamis_filter* filter, tamis_filter** out) {
  return Guard([&] { MakeFilterHandle(out, [&] { return Clone(FilterOf(filter)); }); });
}

void tamis_filter_free(tamis_filter* filter) { delete filter; }

tamis_status tamis_filter_get_info(const tamis_filter* filter, tamis_filter_info* out) {
  return Guard([&] {
    const Filter& from = FilterOf(filter);
    const FileHeader header = from.Header();
    tamis_filter_info made{};
    made.kind = static_cast<uint32_t>(header.kind);
    made.read_only = from.read_only();
    made.capacity = from.capacity();
    made.inserted = from.inserted_count();
    made.bytes = from.bytes();
    made.bits_per_key = from.bits_per_key();
    made.hash_kind = static_cast<uint32_t>(header.hash.kind);
    made.key_forms = from.key_forms().bits();
    made.seed = header.hash.seed;
    std::copy(header.geometry.begin(), header.geometry.end(), made.geometry);
    WriteInfo(out, "out", made);
  });
}

tamis_status tamis_filter_estimated_count(const tamis_filter* filter, double* out) {
  return Guard([&] { Required(out, "out") = FilterOf(filter).estimated_count(); });
}

tamis_status tamis_filter_expected_fpr(const tamis_filter* filter, double* out) {
  return Guard([&] { Required(out, "out") = FilterOf(filter).expected_fpr(); });
}

tamis_status tamis_filter_fpr_by_count(const tamis_filter* filter, double* out) {
  return Guard([&] { Required(out, "out") = FprByCount(FilterOf(filter)); });
}

tamis_status tamis_filter_payload(const tamis_filter* filter, const void** data, uint64_t* bytes) {
  return Guard([&] {
    const std::span<const std::byte> payload = FilterOf(filter).payload();
    const void*& first = Required(data, "data");
    Required(bytes, "bytes") = payload.size();
    first = payload.data();
  });
}

tamis_status tamis_filter_set_backend(tamis_filter* filter, const char* name) {
  return Guard([&] { FilterOf(filter).set_backend(FindBackend(&Required(name, "name"))); });
}

tamis_status tamis_filter_clear(tamis_filter* filter) {
  return Guard([&] { RequireChangeable(FilterOf(filter)).Clear(); });
}

tamis_status tamis_filter_merge(tamis_filter* filter, const tamis_filter* other) {
  return Guard([&] {
    Filter& into = FilterOf(filter);
    const Filter& from = *Required(other, "other").filter;
    RequireTwo(into, from);
    Merge(into, from);
  });
}

tamis_status tamis_filter_intersect(tamis_filter* filter, const tamis_filter* other) {
  return Guard([&] {
    Filter& into = FilterOf(filter);
    const Filter& from = *Required(other, "other").filter;
    RequireTwo(into, from);
    Intersect(into, from);
  });
}

tamis_status tamis_filter_fold(const tamis_filter* filter, tamis_filter** out) {
  return Guard([&] {
    MakeFilterHandle(out, [&]() -> AnyFilter {
      const Filter& from = FilterOf(filter);
      const auto* const blocks = dynamic_cast<const SplitBlockBloomFilter*>(&from);
      if (blocks == nullptr) RefuseKind(from, "folded");
      return blocks->Folded();
    });
  });
}
