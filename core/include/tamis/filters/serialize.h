// Writes a filter to memory, as the bytes of its file. Load and Map (any_filter.h) read them.
#ifndef TAMIS_FILTERS_SERIALIZE_H_
#define TAMIS_FILTERS_SERIALIZE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tamis/file/file.h"
#include "tamis/filters/filter.h"

namespace tamis {

// Return the bytes of the file that filter.Save would write with these options, or write them to
// `out` and return their number. `out` needs SerializedBytes(filter, options) bytes or more. Only
// with_secret and version of the options matter. Throw Error(kInvalidArgument), with nothing
// written, if `out` is too small, for a filter that was moved from, or for options that do not fit
// it. Throw FormatError for a filter that is mapped from a damaged file.
std::vector<std::byte> Serialize(const Filter& filter, const SaveOptions& options = {});
uint64_t Serialize(const Filter& filter, std::span<std::byte> out, const SaveOptions& options = {});
// Returns the number of bytes that Serialize returns or writes. O(1), or O(layers) for a scalable
// filter.
uint64_t SerializedBytes(const Filter& filter, const SaveOptions& options = {});

}  // namespace tamis

#endif  // TAMIS_FILTERS_SERIALIZE_H_
