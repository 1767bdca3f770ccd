// What both filters of RedisBloom, the module of Redis, share: the chunks of a dump, and the bytes
// of a key that is an integer.
#ifndef TAMIS_FORMATS_REDIS_DUMP_H_
#define TAMIS_FORMATS_REDIS_DUMP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tamis/cpp20.h"

namespace tamis {

// The keys of RedisBloom are strings of bytes. An integer is one of these, as who wrote the filter
// has made it one, and a dump does not say how.
enum class RedisIntegers : uint8_t {
  // The decimal text, as clients send integers: -1 is "-1". A uint64_t above 2^63 - 1 is the
  // negative number with its bits.
  kSigned,
  kUnsigned,  // the decimal text of 0 to 2^64 - 1; a negative number is the one with its bits
  kBytes,     // the 8 bytes of the number, the lowest first
};

// A reply of BF.SCANDUMP or CF.SCANDUMP, which is what BF.LOADCHUNK or CF.LOADCHUNK takes. A dump
// is a list of them: one with the iterator 1, whose bytes are the header, then others with the
// bytes of the filter from its beginning to its end, each with an iterator of 1 more than the bytes
// of the filter up to its end. The last reply, 0 with no bytes, may follow.
//
// In a file each is its iterator and the number of its bytes, of 8 bytes each, little-endian, and
// its bytes: what Python writes by struct.pack("<qQ", iterator, len(chunk)) + chunk.
struct RedisChunk {
  int64_t iterator = 0;
  std::vector<std::byte> bytes;

  friend bool operator==(const RedisChunk&, const RedisChunk&) = default;
};

}  // namespace tamis

#endif  // TAMIS_FORMATS_REDIS_DUMP_H_
