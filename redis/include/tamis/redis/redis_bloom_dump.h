// Reads filters of RedisBloom, a module of Redis, from their servers.
#ifndef TAMIS_REDIS_REDIS_BLOOM_DUMP_H_
#define TAMIS_REDIS_REDIS_BLOOM_DUMP_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tamis/redis/server_options.h"

namespace tamis::redis {

// Options of DumpRedisBloom.
struct RedisBloomDumpOptions {
  // Upper bound for the bits or fingerprints of the filter, in bytes. Whatever a server sends, the
  // dump uses at most this memory and one chunk of 16 MiB.
  uint64_t max_bytes = uint64_t{4} << 30;
};

// A filter of RedisBloom, as its server dumps it.
struct RedisBloomDump {
  // Name in ForeignFormats (tamis/formats/foreign_filter.h): "redisbloom" for a filter of BF.*,
  // "redisbloom-cf" for a filter of CF.*.
  const char* format = nullptr;
  // The chunks in the file format of tamis/formats/redis_dump.h. FromBytes of ForeignFilter,
  // RedisBloomFilter and RedisCuckooFilter reads them, and checks the bits against the header.
  std::vector<std::byte> bytes;
  // Whether keys were inserted into a Bloom filter during the dump. The dump may have some of these
  // keys. It has all keys that were inserted before the dump.
  bool grew = false;
};

// Reads the filter in `key` with BF.SCANDUMP or CF.SCANDUMP, depending on the TYPE of the key.
// Reads from the single server, or from the master of the key's slot. Ignores
// ServerOptions::read_from_replicas.
//
// A dump takes many commands, and other clients may change the filter between two commands:
// - A Bloom filter only gains bits. The dump is accepted if the header after the dump is the same
//   as before, or shows that keys were inserted. So the dump has every key that was inserted before
//   it. The function cannot detect that another filter with the same links, and at least as many
//   keys in each link, has replaced the filter.
// - A cuckoo filter moves keys. So the filter is read until two dumps in a row are equal. The
//   function cannot detect a change that happens in both dumps and is undone between them.
//
// If a dump is not accepted, the filter is read again, up to 5 times in all.
//
// Throws
// - Error(kInvalidArgument) if `servers` is invalid, or if certificates for TLS cannot be read,
// - Error(kUnavailable) if the key does not exist, if the filter changed during all 5 reads, or if
//   servers do not answer or refuse the client,
// - Error(kUnsupported) if the key has another type, if the servers lack RedisBloom, if this
//   library was built without TLS, or for a cuckoo filter without keys, which CF.SCANDUMP cannot
//   dump,
// - Error(kOutOfMemory) if the filter is larger than `max_bytes`,
// - Error(kCorrupt) if the replies are not a dump; FormatError if the header fails a check.
RedisBloomDump DumpRedisBloom(const ServerOptions& servers, std::string_view key,
                              const RedisBloomDumpOptions& options = {});

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_REDIS_BLOOM_DUMP_H_
