// Filters: creation, description, whole filters.
#include "tamis/c/filter.h"

#include <algorithm>
#include <memory>
#include <span>
#include <variant>

#include "bindings/c/src/abilities.h"
#include "bindings/c/src/handles.h"
#include "bindings/c/src/options.h"
#include "tamis/backends.h"
#include "tamis/detail/str_cat.h"
#include "tamis/filters/any_scalable_filter.h"
#include "tamis/filters/blocks_queryable.h"
#include "tamis/filters/filter_kinds.h"
#include "tamis/filters/scalable_filter.h"
#include "tamis/filters/set_operations.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/filters/split_block_view.h"

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

void DescribeHash(const HashSpec& hash, tamis_filter_info& out) {
  out.hash_kind = static_cast<uint32_t>(hash.kind);
  out.seed = hash.seed;
}

void RequireTwo(const tamis_filter* filter, const tamis_filter* other) {
  Required(filter, "filter");
  Required(other, "other");
  if (filter == other) Refuse("filter and other are the same");
}

uint32_t AbilitiesOf(Filter& filter) {
  Abilities can = KindInfo(filter.kind()).can;
  // A scalable filter can erase keys if its layers can.
  const ChangeableFilter* const changeable = filter.changeable();
  can.erase = changeable != nullptr && changeable->change_traits().erases;
  return AbilityBits(can);
}

void Describe(const AnyFilter& filter, tamis_filter_info& out) {
  const FileHeader header = filter->Header();
  out.kind = static_cast<uint32_t>(header.kind);
  out.abilities = AbilitiesOf(*filter);
  out.read_only = filter->read_only() || filter->changeable() == nullptr;
  out.capacity = filter->capacity();
  out.inserted = filter->inserted_count();
  out.bits_per_key = filter->bits_per_key();
  out.fpr_by_count = FprByCount(*filter);
  std::copy(header.geometry.begin(), header.geometry.end(), out.geometry);
  DescribeHash(header.hash, out);
}

void Describe(const BlocksQueryable& blocks, tamis_filter_info& out) {
  out.kind = TAMIS_SPLIT_BLOCK;
  out.read_only = blocks.read_only();
  out.inserted = blocks.inserted_count();
  out.geometry[0] = blocks.view().num_blocks();
  DescribeHash(blocks.view().hash(), out);
}

void Describe(const ForeignFilter& filter, tamis_filter_info& out) {
  out.format = filter.format().name;
  out.read_only = filter.read_only();
  out.abilities = AbilityBits({.erase = filter.change_traits().erases});
}

void Describe(const std::unique_ptr<JoinFilter>& join, tamis_filter_info& out) {
  out.read_only = 1;
  DescribeHash(join->hash(), out);
}

}  // namespace
}  // namespace tamis::c

using namespace tamis;
using namespace tamis::c;

tamis_status tamis_filter_create(uint32_t kind, const tamis_filter_options* options,
                                 tamis_filter** out) {
  return Guard([&] {
    MakeFilterHandle(out, [&] {
      const FilterOptions read = ReadFilter(ReadOptions(Required(options, "options"), "options"));
      const FilterKindInfo& info = KindInfo(static_cast<FilterKind>(kind));
      if (info.is_static) {
        Refuse(detail::StrCat("a ", info.name,
                              " filter never changes: tamis_filter_build builds it from all its "
                              "keys"));
      }
      return MakeFilter(info.kind, read);
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

tamis_status tamis_filter_view(void* blocks, uint64_t bytes, const tamis_view_options* options,
                               tamis_filter** out) {
  return Guard([&] {
    MakeFilterHandle(out, [&] {
      const tamis_view_options given = ReadOptions(options, "options");
      RequireZero(given.reserved);
      const HashSpec hash = ReadHash(given.hash);
      const Backend* const backend = ReadBackend(given.backend);
      const std::span all(&Required(static_cast<std::byte*>(blocks), "blocks"),
                          static_cast<size_t>(bytes));
      if (ReadFlag(given.read_only, "read_only")) {
        if (given.inserted != nullptr) Refuse("inserted must be NULL in a read-only view");
        return BlocksQueryable(ConstSplitBlockView(all, hash, backend));
      }
      if (given.inserted != nullptr) RequireArray<uint64_t>(given.inserted, "inserted");
      return BlocksQueryable(SplitBlockView(all, hash, given.inserted, backend));
    });
  });
}

tamis_status tamis_filter_clone(const tamis_filter* filter, tamis_filter** out) {
  return Guard([&] { MakeFilterHandle(out, [&] { return Clone(FilterOf(filter, "cloned")); }); });
}

tamis_status tamis_filter_fold(const tamis_filter* filter, tamis_filter** out) {
  return Guard([&] {
    MakeFilterHandle(out, [&]() -> AnyFilter {
      const Filter& from = FilterOf(filter, "folded");
      const auto* const blocks = dynamic_cast<const SplitBlockBloomFilter*>(&from);
      if (blocks == nullptr) RefuseAction(*filter, "folded");
      return blocks->Folded();
    });
  });
}

void tamis_filter_free(tamis_filter* filter) { delete filter; }

tamis_status tamis_filter_get_info(const tamis_filter* filter, tamis_filter_info* out) {
  return Guard([&] {
    const Queryable& queryable = QueryableOf(filter);
    tamis_filter_info made{};
    made.bytes = queryable.bytes();
    made.key_types = queryable.key_types().bits();
    std::visit([&](const auto& object) { Describe(object, made); }, filter->object);
    WriteInfo(out, "out", made);
  });
}

tamis_status tamis_filter_estimated_count(const tamis_filter* filter, double* out) {
  return Guard([&] {
    const Queryable& queryable = QueryableOf(filter);
    Required(out, "out") = queryable.estimated_count();
  });
}

tamis_status tamis_filter_expected_fpr(const tamis_filter* filter, double* out) {
  return Guard([&] {
    const Queryable& queryable = QueryableOf(filter);
    Required(out, "out") = queryable.expected_fpr();
  });
}

tamis_status tamis_filter_payload(const tamis_filter* filter, const void** data, uint64_t* bytes) {
  return Guard([&] {
    const auto* const view = std::get_if<BlocksQueryable>(&Required(filter, "filter").object);
    const std::span<const std::byte> payload =
        view != nullptr ? view->view().blocks() : FilterOf(filter, "read in place").payload();
    const void*& first = Required(data, "data");
    Required(bytes, "bytes") = payload.size();
    first = payload.data();
  });
}

tamis_status tamis_filter_set_backend(tamis_filter* filter, const char* name) {
  return Guard([&] {
    FilterOf(filter, "given another backend").set_backend(FindBackend(&Required(name, "name")));
  });
}

tamis_status tamis_filter_clear(tamis_filter* filter) {
  return Guard([&] { RequireChangeable(FilterOf(filter, "cleared")).Clear(); });
}

tamis_status tamis_filter_merge(tamis_filter* filter, const tamis_filter* other) {
  return Guard([&] {
    RequireTwo(filter, other);
    auto* const into = std::get_if<ForeignFilter>(&filter->object);
    const auto* const from = std::get_if<ForeignFilter>(&other->object);
    if (into != nullptr && from != nullptr) return into->Merge(*from);
    if (filter->object.index() != other->object.index()) {
      Refuse(
          "filters of tamis, views, and filters of other libraries cannot be merged with each "
          "other",
          ErrorCode::kIncompatible);
    }
    Merge(FilterOf(filter, "merged"), FilterOf(other, "merged"));
  });
}

tamis_status tamis_filter_intersect(tamis_filter* filter, const tamis_filter* other) {
  return Guard([&] {
    RequireTwo(filter, other);
    Intersect(FilterOf(filter, "intersected"), FilterOf(other, "intersected"));
  });
}
