// The hashes of many strings.
#ifndef TAMIS_CORE_SRC_BULK_HASH_STRINGS_H_
#define TAMIS_CORE_SRC_BULK_HASH_STRINGS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tamis/detail/kernels.h"
#include "tamis/hash.h"
#include "tamis/keys.h"

namespace tamis::detail {

// Values of a fixed width, stored end to end.
struct FixedValues {
  const char* bytes;
  size_t width;

  std::string_view operator[](size_t i) const noexcept { return {bytes + i * width, width}; }
};

// Sets hashes[i] to HashBytes(strings[i], spec) for i < n. Defined for the types below.
template <typename Strings>
void HashStrings(const CommonKernels& kernels, const Strings& strings, size_t n,
                 const HashSpec& spec, uint64_t* hashes) noexcept;

extern template void HashStrings(const CommonKernels&, const std::string_view* const&, size_t,
                                 const HashSpec&, uint64_t*) noexcept;
extern template void HashStrings(const CommonKernels&, const std::string* const&, size_t,
                                 const HashSpec&, uint64_t*) noexcept;
extern template void HashStrings(const CommonKernels&, const BasicStringColumn<int32_t>&, size_t,
                                 const HashSpec&, uint64_t*) noexcept;
extern template void HashStrings(const CommonKernels&, const BasicStringColumn<int64_t>&, size_t,
                                 const HashSpec&, uint64_t*) noexcept;
extern template void HashStrings(const CommonKernels&, const FixedValues&, size_t, const HashSpec&,
                                 uint64_t*) noexcept;

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_HASH_STRINGS_H_
