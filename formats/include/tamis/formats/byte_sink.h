// A function that receives the bytes of a filter in pieces.
#ifndef TAMIS_FORMATS_BYTE_SINK_H_
#define TAMIS_FORMATS_BYTE_SINK_H_

#include <cstddef>
#include <functional>
#include <span>

#include "tamis/cpp20.h"

namespace tamis {

// Called with the pieces of a stream in order. Each piece is valid only during the call. If it
// throws, writing stops, and the exception reaches the caller of Write.
using ByteSink = std::function<void(std::span<const std::byte> piece)>;

}  // namespace tamis

#endif  // TAMIS_FORMATS_BYTE_SINK_H_
