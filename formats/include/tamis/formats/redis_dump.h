// Parts that both filters of RedisBloom share: the chunks of a dump, and the bytes of an integer
// key.
#ifndef TAMIS_FORMATS_REDIS_DUMP_H_
#define TAMIS_FORMATS_REDIS_DUMP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tamis/cpp20.h"

namespace tamis {

// How integer keys are converted to strings. The keys of RedisBloom are byte strings, and a dump
// does not record how its writer converted integers.
enum class RedisIntegers : uint8_t {
  // As decimal text, like clients send integers: -1 is "-1". A uint64_t above 2^63 - 1 is the
  // negative number with the same bits.
  kSigned,
  kUnsigned,  // the decimal text of 0 to 2^64 - 1; -1 becomes 2^64 - 1
  kBytes,     // the 8 bytes of the number, little-endian
};

// A reply of BF.SCANDUMP or CF.SCANDUMP, and an argument of BF.LOADCHUNK or CF.LOADCHUNK. A dump is
// a list of chunks. The first has the iterator 1, and its bytes are the header. The other chunks
// have the bytes of the filter from beginning to end. The iterator of such a chunk is 1 plus the
// number of filter bytes up to the end of the chunk. The list may end with the last reply of the
// server, which has the iterator 0 and no bytes.
//
// In a file, each chunk is its iterator and its number of bytes, 8 bytes each and little-endian,
// followed by the bytes. Python writes it by struct.pack("<qQ", iterator, len(chunk)) + chunk.
struct RedisChunk {
  int64_t iterator = 0;          // the number that the server sent with the chunk
  std::vector<std::byte> bytes;  // the bytes of the chunk

  friend bool operator==(const RedisChunk&, const RedisChunk&) = default;
};

}  // namespace tamis

#endif  // TAMIS_FORMATS_REDIS_DUMP_H_
