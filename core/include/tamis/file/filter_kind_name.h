// The names of the kinds of filters.
#ifndef TAMIS_FILE_FILTER_KIND_NAME_H_
#define TAMIS_FILE_FILTER_KIND_NAME_H_

#include <string_view>

#include "tamis/file/file.h"

namespace tamis {

// Returns the name of a kind: "split-block", "cuckoo8" ... "unknown" for any other number.
const char* FilterKindName(FilterKind kind) noexcept;
// Sets `kind` to the kind of that name. Returns false, and sets nothing, if the name is unknown.
bool ParseFilterKind(std::string_view name, FilterKind& kind) noexcept;

}  // namespace tamis

#endif  // TAMIS_FILE_FILTER_KIND_NAME_H_
