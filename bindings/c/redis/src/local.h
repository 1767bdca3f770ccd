// Filters of libtamis_c, whose handles are known to it alone: what goes between the two libraries
// goes through its functions, as the bytes of a file.
#ifndef TAMIS_BINDINGS_C_REDIS_SRC_LOCAL_H_
#define TAMIS_BINDINGS_C_REDIS_SRC_LOCAL_H_

#include <cstddef>
#include <memory>
#include <optional>

#include "tamis/any_filter.h"
#include "tamis/c/filter.h"
#include "tamis/hash.h"
#include "tamis/split_block_filter.h"

namespace tamis::c {

// A handle of a copy of the filter. The second has none of its memory any more when libtamis_c
// makes the copy. The secret of a keyed hash is in no file of the new filter unless that is asked
// for.
tamis_filter* LocalHandle(const SplitBlockBloomFilter& filter);
tamis_filter* LocalHandle(SplitBlockBloomFilter&& filter);

// What a handle has, read-only, for a filter on servers of such a hash.
class Local {
 public:
  // Throws Error(kIncompatible) unless it is of the kind and the hash, Error(kSecret) if only the
  // secret differs.
  Local(const tamis_filter* handle, const HashSpec& hash);

  const SplitBlockBloomFilter& filter() const { return *filter_->As<SplitBlockBloomFilter>(); }

 private:
  // Where filters may be mapped.
  struct Aligned {
    void operator()(std::byte* bytes) const;
  };
  std::unique_ptr<std::byte, Aligned> bytes_;
  std::optional<AnyFilter> filter_;
};

}  // namespace tamis::c

#endif  // TAMIS_BINDINGS_C_REDIS_SRC_LOCAL_H_
