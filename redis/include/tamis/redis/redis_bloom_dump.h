// Filters of RedisBloom, the module of Redis, read from the servers that have them.
#ifndef TAMIS_REDIS_REDIS_BLOOM_DUMP_H_
#define TAMIS_REDIS_REDIS_BLOOM_DUMP_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tamis/redis/server_options.h"

namespace tamis::redis {

struct RedisBloomDumpOptions {
  // What the bits or fingerprints of the filter may have, in bytes. No more is kept, whatever the
  // server says, but one chunk of 16 MiB.
  uint64_t max_bytes = uint64_t{4} << 30;
};

struct RedisBloomDump {
  // As ForeignFormats (tamis/formats/foreign_filter.h) has it: "redisbloom" for a filter of BF.*,
  // "redisbloom-cf" for one of CF.*.
  const char* format = nullptr;
  // The file of the chunks, as tamis/formats/redis_dump.h says: for ForeignFilter::FromBytes, or
  // FromBytes of RedisBloomFilter or RedisCuckooFilter, which check the bits against the header.
  std::vector<std::byte> bytes;
  // Whether keys were inserted meanwhile. Those that were in before are, and of these any.
  bool grew = false;
};

// Reads the filter in `key` by BF.SCANDUMP or CF.SCANDUMP, whichever TYPE asks for, from a server
// or the master of the key's slot in a cluster. ServerOptions::read_from_replicas means nothing
// here.
//
// A dump takes many commands, and others may change the filter between two of them:
// - A Bloom filter is taken if its header afterwards is the one from before, or shows that it has
//   grown: bits are only ever set, so those of every key that was in before are there. A filter
//   that was replaced meanwhile by another with the same links and as many keys is not noticed.
// - A cuckoo filter, whose keys move, is read until two dumps in a row are the same, so twice if
//   nobody changes it. One that changes and changes back both times is not noticed.
// What changes otherwise is read again, up to 5 times in all.
//
// Throws Error(kUnavailable) if there is no such key, it changes all the time, or the servers do
// not answer or refuse; Error(kUnsupported) if the key has another type, the servers have no
// RedisBloom, or for a cuckoo filter without keys, of which they give nothing; Error(kOutOfMemory)
// above max_bytes; Error(kCorrupt) if what they give is no dump, FormatError among these for a
// header that fails a check; and what making a client of these options throws
// (tamis/redis/split_block_filter.h).
RedisBloomDump DumpRedisBloom(const ServerOptions& servers, std::string_view key,
                              const RedisBloomDumpOptions& options = {});

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_REDIS_BLOOM_DUMP_H_
