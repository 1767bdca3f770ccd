// The kinds of filters that have kernels, and the geometry in their headers.
#ifndef TAMIS_CUDA_SRC_GEOMETRY_H_
#define TAMIS_CUDA_SRC_GEOMETRY_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "tamis/cuda/device_filter.h"
#include "tamis/file/file.h"

namespace tamis::cuda {

// Returns whether devices have kernels for filters of this kind and size.
bool HasKernels(FilterKind kind, uint64_t bytes) noexcept;

// Throws Error(kUnsupported) for a filter without kernels, and Error(kInvalidArgument) if the
// geometry or the number of bytes is invalid.
void RequireGeometry(const FileHeader& header);

// Returns a view of the filter at `data`. `header` must have passed RequireGeometry.
detail::AnyRef RefOf(const FileHeader& header, void* data) noexcept;

// Returns the number of inserted keys: the number in the header, or for a cuckoo filter the number
// of fingerprints in `payload`.
uint64_t CountInserted(const FileHeader& header, std::span<const std::byte> payload) noexcept;

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_SRC_GEOMETRY_H_
