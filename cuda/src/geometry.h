// The kinds of filters that kernels are there for, and what their headers say.
#ifndef TAMIS_CUDA_SRC_GEOMETRY_H_
#define TAMIS_CUDA_SRC_GEOMETRY_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "tamis/cuda/device_filter.h"
#include "tamis/file/file.h"

namespace tamis::cuda {

bool HasKernels(FilterKind kind) noexcept;

// Throws Error(kUnsupported) unless HasKernels, Error(kInvalidArgument) unless the geometry and the
// number of bytes are such as a filter has.
void RequireGeometry(const FileHeader& header);

// A view of a filter at `data`; the header has passed RequireGeometry.
detail::AnyRef RefOf(const FileHeader& header, void* data) noexcept;

// Keys inserted: what the header says, or for a cuckoo filter the fingerprints that are there.
uint64_t CountInserted(const FileHeader& header, std::span<const std::byte> payload) noexcept;

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_SRC_GEOMETRY_H_
