// What the parts of the library that keep copies of a filter elsewhere may do to it.
#ifndef TAMIS_CORE_SRC_FILTER_ACCESS_H_
#define TAMIS_CORE_SRC_FILTER_ACCESS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "tamis/filter.h"

namespace tamis {

struct FilterAccess {
  // Throws Error(kReadOnly).
  static std::span<std::byte> WritablePayload(Filter& filter) {
    filter.RequireWritable();
    return {filter.storage_.data(), filter.storage_.size()};
  }
  static void SetInserted(Filter& filter, uint64_t inserted) noexcept {
    filter.inserted_ = inserted;
  }
};

}  // namespace tamis

#endif  // TAMIS_CORE_SRC_FILTER_ACCESS_H_
