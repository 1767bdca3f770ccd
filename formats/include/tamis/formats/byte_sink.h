// A function that receives the bytes of a filter in pieces.
#ifndef TAMIS_FORMATS_BYTE_SINK_H_
#define TAMIS_FORMATS_BYTE_SINK_H_

#include <cstddef>
#include <functional>
#include <span>

#include "tamis/cpp20.h"

namespace tamis {

// Called with the pieces of a stream in order. Each piece is valid only during the call. An
// exception ends the writing and reaches the caller.
using ByteSink = std::function<void(std::span<const std::byte> piece)>;

}  // namespace tamis

#endif  // TAMIS_FORMATS_BYTE_SINK_H_
