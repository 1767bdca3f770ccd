// What other rooms of the library may do with a filter that users may not.
#ifndef TAMIS_CORE_SRC_FILTERS_BASE_FILTER_ACCESS_H_
#define TAMIS_CORE_SRC_FILTERS_BASE_FILTER_ACCESS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "core/src/bulk/change_loop.h"
#include "core/src/bulk/region_lists.h"
#include "tamis/filters/changeable_filter.h"

namespace tamis::detail {

struct FilterAccess {
  // Equal for the same filter, wherever it was moved, as long as nothing changes it; never equal
  // for one that is shared.
  struct Version {
    uint64_t identity;
    uint64_t changes;
    uint64_t inserted;

    friend bool operator==(const Version&, const Version&) = default;
  };
  static Version VersionOf(const Filter& filter) noexcept {
    const FilterBase& base = Base(filter);
    return {base.shared_ ? FilterBase::NewIdentity() : base.identity_, base.changes_,
            base.inserted_};
  }
  // Of a filter whose contents others change without its functions.
  static void SetShared(Filter& filter, bool shared) noexcept { Base(filter).shared_ = shared; }
  static bool IsShared(const Filter& filter) noexcept { return Base(filter).shared_; }

  static const Storage& StorageOf(const Filter& filter) noexcept { return Base(filter).storage_; }

  // Before the contents are copied elsewhere: throws FormatError if they are damaged.
  static void RequireIntact(const Filter& filter) { Base(filter).RequireIntact(); }

  // A filter of class F out of what was read of it, as the private constructor of F takes it.
  template <typename F, typename... Arguments>
  static F Make(Arguments&&... arguments) {
    return F(std::forward<Arguments>(arguments)...);
  }
  static void Write(const Filter& filter, const SaveOptions& options, const PartsWriter& writer) {
    Base(filter).Write(options, writer);
  }
  static uint64_t FileBytes(const Filter& filter, const SaveOptions& options) {
    return Base(filter).FileBytes(options);
  }

  // Throws Error(kReadOnly).
  static void RequireWritable(const Filter& filter) { Base(filter).RequireWritable(); }
  static std::span<std::byte> WritablePayload(Filter& filter);
  static void SetInserted(Filter& filter, uint64_t inserted) noexcept {
    Base(filter).inserted_ = inserted;
  }

  static void AddKeyTypes(Filter& filter, KeyTypes types) noexcept {
    Base(filter).key_types_.Add(types);
  }

  // Of the filter, if lookups can be ordered by region.
  static std::optional<RegionTarget> RegionsOf(const Filter& filter) noexcept {
    const uint64_t blocks = Base(filter).ordered_blocks();
    if (blocks == 0) return std::nullopt;
    return RegionTarget{filter.bytes(), blocks};
  }

  static void Probe(const Filter& filter, const Kernels& kernels, const Batch& batch,
                    uint64_t* bits) noexcept {
    Base(filter).Probe(kernels, batch, bits);
  }
  // As QueryBits.
  static void Query(const Filter& filter, const Kernels& kernels, const Keys& keys,
                    uint64_t* bits) noexcept;
  // For a filter that is part of another: counts the keys, too.
  static size_t ChangeBatch(ChangeableFilter& filter, Change change, const Kernels& kernels,
                            const Batch& batch, uint64_t first, Outcomes& outcomes) noexcept;

  // A whole call, as ChangeByAll has it. Returns how many keys changed the filter. Throws
  // Error(kReadOnly).
  static uint64_t ChangeFrom(ChangeableFilter& filter, Change change, const Kernels& kernels,
                             uint64_t n, const BatchSource& source, bool partitioned,
                             Workers& workers, uint64_t slice_keys, Outcomes outcomes);
  // The same for keys that are there, on the calling thread, with the filter's own backend and in
  // the way that the default figures favour.
  static size_t ChangeKeys(ChangeableFilter& filter, Change change, const Keys& keys,
                           const ChangeOutputs& outputs);

 private:
  // Every filter derives from it: Filter has no other friend.
  static FilterBase& Base(Filter& filter) noexcept { return static_cast<FilterBase&>(filter); }
  static const FilterBase& Base(const Filter& filter) noexcept {
    return static_cast<const FilterBase&>(filter);
  }
  static void CountChange(FilterBase& filter, Change change, uint64_t keys) noexcept;
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_BASE_FILTER_ACCESS_H_
