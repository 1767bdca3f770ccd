// Access to functions of Filter that are not public, for the library itself.
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
  // Two versions are equal if they belong to one filter, even if it was moved, and nothing has
  // changed it in between. The version of a shared filter is never equal to another one.
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
  // Marks a filter whose contents other code changes without calling the functions of the filter.
  static void SetShared(Filter& filter, bool shared) noexcept { Base(filter).shared_ = shared; }
  static bool IsShared(const Filter& filter) noexcept { return Base(filter).shared_; }

  static const Storage& StorageOf(const Filter& filter) noexcept { return Base(filter).storage_; }
  static const Kernels& KernelsOf(const Filter& filter) noexcept {
    return *Base(filter).backend_->kernels;
  }

  // Throws FormatError if the contents are damaged. Must be called before the contents are copied
  // elsewhere.
  static void RequireIntact(const Filter& filter) { Base(filter).RequireIntact(); }

  // Makes a filter of class F by its private constructor, from the parts of a file.
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

  // Throws Error(kReadOnly) if the filter is read-only.
  static void RequireWritable(const Filter& filter) { Base(filter).RequireWritable(); }
  static std::span<std::byte> WritablePayload(Filter& filter);
  static void SetInserted(Filter& filter, uint64_t inserted) noexcept {
    Base(filter).inserted_ = inserted;
  }

  static void AddKeyTypes(Filter& filter, KeyTypes types) noexcept {
    Base(filter).key_types_.Add(types);
  }

  // Returns the regions of the filter, if lookups can be ordered by region.
  static std::optional<RegionTarget> RegionsOf(const Filter& filter) noexcept {
    const uint64_t blocks = Base(filter).ordered_blocks();
    if (blocks == 0) return std::nullopt;
    return RegionTarget{filter.bytes(), blocks};
  }

  static void Probe(const Filter& filter, const Kernels& kernels, const Batch& batch,
                    uint64_t* bits) noexcept {
    Base(filter).Probe(kernels, batch, bits);
  }
  // Does the same as QueryBits.
  static void Query(const Filter& filter, const Kernels& kernels, const Keys& keys,
                    uint64_t* bits) noexcept;
  // Changes a filter that is part of another one. Also updates its number of keys.
  static size_t ChangeBatch(ChangeableFilter& filter, Change change, const Kernels& kernels,
                            const Batch& batch, uint64_t first, Outcomes& outcomes) noexcept;

  // Carries out a whole call by ChangeByAll, with the writer by region if `partitioned`. Otherwise
  // several threads insert with the union writer, or the calling thread works alone. Returns how
  // many keys changed the filter. Throws Error(kReadOnly).
  static uint64_t ChangeFrom(ChangeableFilter& filter, Change change, const Kernels& kernels,
                             uint64_t n, const BatchSource& source, bool partitioned,
                             Workers& workers, uint64_t slice_keys, Outcomes outcomes);
  // Does the same for keys in memory, on the calling thread and with the backend of the filter.
  // Takes the route that is faster on a typical machine.
  static size_t ChangeKeys(ChangeableFilter& filter, Change change, const Keys& keys,
                           const ChangeOutputs& outputs);

 private:
  // These casts are safe: every filter derives from FilterBase, because Filter has no other friend.
  static FilterBase& Base(Filter& filter) noexcept { return static_cast<FilterBase&>(filter); }
  static const FilterBase& Base(const Filter& filter) noexcept {
    return static_cast<const FilterBase&>(filter);
  }
  static void CountChange(FilterBase& filter, Change change, uint64_t keys) noexcept;
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_BASE_FILTER_ACCESS_H_
