// Reads filters of RedisBloom, a module of Redis, from their servers.
#ifndef TAMIS_REDIS_REDIS_BLOOM_DUMP_H_
#define TAMIS_REDIS_REDIS_BLOOM_DUMP_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tamis/redis/server_options.h"

namespace tamis::redis {

struct RedisBloomDumpOptions {
  // Upper bound for the bits or fingerprints of the filter, in bytes. No server can make the dump
  // use more memory than this and one chunk of 16 MiB.
  uint64_t max_bytes = uint64_t{4} << 30;
};

struct RedisBloomDump {
  // Name in ForeignFormats (tamis/formats/foreign_filter.h): "redisbloom" for a filter of BF.*,
  // "redisbloom-cf" for a filter of CF.*.
  const char* format = nullptr;
  // The chunks as a file (tamis/formats/redis_dump.h). ForeignFilter, RedisBloomFilter and
  // RedisCuckooFilter read it with FromBytes, which checks the bits against the header.
  std::vector<std::byte> bytes;
  // Whether keys were inserted during the dump. The dump may have some of these keys. It has all
  // keys that were in before.
  bool grew = false;
};

// Reads the filter in `key` with BF.SCANDUMP or CF.SCANDUMP, depending on its TYPE. Reads from the
// single server, or from the master of the key's slot. Ignores ServerOptions::read_from_replicas.
//
// A dump takes many commands, and other clients may change the filter between two of them:
// - A Bloom filter is accepted if its header is the same afterwards, or shows that the filter has
//   grown. Bits are only ever set, so the dump has every key that was in before. It is not noticed
//   if the filter was replaced by another with the same links and the same number of keys.
// - A cuckoo filter moves its keys. It is read until two dumps in a row are equal, so at least
//   twice. It is not noticed if the filter changes and changes back during both.
// After any other change the filter is read again, up to 5 times in all.
//
// Throws what the construction of a client from `servers` throws
// (tamis/redis/split_block_filter.h), and
// - Error(kUnavailable) if the key does not exist, if the filter changed during all 5 reads, or if
//   servers do not answer or refuse,
// - Error(kUnsupported) if the key has another type, if the servers lack RedisBloom, or for a
//   cuckoo filter without keys, which CF.SCANDUMP cannot dump,
// - Error(kOutOfMemory) if the filter is larger than `max_bytes`,
// - Error(kCorrupt) if the replies are not a dump; FormatError if the header fails a check.
RedisBloomDump DumpRedisBloom(const ServerOptions& servers, std::string_view key,
                              const RedisBloomDumpOptions& options = {});

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_REDIS_BLOOM_DUMP_H_
