#include "tools/commands/live_filter.h"

#include <tamis/error.h>

#include "tools/options/parse.h"
#if TAMIS_TOOLS_REDIS
#include <tamis/redis/redis_bloom_dump.h>

#include "tools/redis/options.h"
#endif

namespace tamis::tools {

void LiveFilterOptions::AddTo(const CommandLine& command) {
  constexpr char kGroup[] = "With --from redis";
  command.Add("--key", key, "key of the filter on the servers (required)")
      .Group(kGroup)
      .Type("KEY");
  server.AddTo(command, kGroup);
  command
      .Add("--max-bytes", max_bytes, ParseBytes,
           "largest size of the filter, such as 16G (default: 4G)")
      .Group(kGroup)
      .Type("SIZE");
}

LiveFilter ReadLiveFilter([[maybe_unused]] const LiveFilterOptions& options) {
#if TAMIS_TOOLS_REDIS
  redis::RedisBloomDumpOptions limits;
  if (options.max_bytes != 0) limits.max_bytes = options.max_bytes;
  const redis::RedisBloomDump dump =
      redis::DumpRedisBloom(ServersOf(options.server), options.key, limits);
  return {ForeignFilter::FromBytes(dump.bytes, dump.format), dump.grew};
#else
  throw Error(ErrorCode::kUnsupported,
              "--from redis: this tamis was built without hiredis, so it cannot read servers; "
              "--from redisbloom reads the chunks of BF.SCANDUMP from a FILE");
#endif
}

}  // namespace tamis::tools
