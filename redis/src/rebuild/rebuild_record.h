// Who rebuilds a filter, and which generations these are: FORMAT.md, "Rebuilding".
#ifndef TAMIS_REDIS_SRC_REBUILD_REBUILD_RECORD_H_
#define TAMIS_REDIS_SRC_REBUILD_REBUILD_RECORD_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace tamis::redis {

struct RebuildRecord {
  uint64_t owner = 0;  // random
  uint64_t old = 0;
  uint64_t next = 0;

  friend bool operator==(const RebuildRecord&, const RebuildRecord&) = default;
};

std::string RecordText(const RebuildRecord& record);

// Strict: what it accepts is what RecordText writes. Throws Error(kUnsupported) for another
// version, else Error(kCorrupt), which names the line.
RebuildRecord ParseRecord(std::string_view text);

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_REBUILD_REBUILD_RECORD_H_
