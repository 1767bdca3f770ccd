// The record of a rebuild, a text in one key of the servers: FORMAT.md, "Rebuilding".
#ifndef TAMIS_REDIS_SRC_REBUILD_REBUILD_RECORD_H_
#define TAMIS_REDIS_SRC_REBUILD_REBUILD_RECORD_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace tamis::redis {

struct RebuildRecord {
  uint64_t owner = 0;  // a random number of the client that rebuilds
  uint64_t old = 0;    // the current generation, which `next` replaces
  uint64_t next = 0;

  friend bool operator==(const RebuildRecord&, const RebuildRecord&) = default;
};

std::string RecordText(const RebuildRecord& record);

// Accepts only texts that RecordText writes. Throws Error(kUnsupported) for another version, and
// otherwise Error(kCorrupt), which names the line.
RebuildRecord ParseRecord(std::string_view text);

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_REBUILD_REBUILD_RECORD_H_
