// Where the bytes of a filter go, piece by piece.
#ifndef TAMIS_FORMATS_BYTE_SINK_H_
#define TAMIS_FORMATS_BYTE_SINK_H_

#include <cstddef>
#include <functional>
#include <span>

#include "tamis/cpp20.h"

namespace tamis {

// Is called with the pieces of a stream, one after the other; each lives until it returns. What it
// throws ends the writing and reaches the caller.
using ByteSink = std::function<void(std::span<const std::byte> piece)>;

}  // namespace tamis

#endif  // TAMIS_FORMATS_BYTE_SINK_H_
