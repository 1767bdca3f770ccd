// tamis redis: manages a filter on Redis servers, if tamis was built with hiredis.
#include "tools/commands/commands.h"
#if TAMIS_TOOLS_REDIS
#include "tools/redis/command.h"
#endif

namespace tamis::tools {

std::vector<Command> AddRedis([[maybe_unused]] const CommandLine& program) {
#if TAMIS_TOOLS_REDIS
  const CommandLine redis =
      program.AddCommand("redis", "Use a filter on Redis servers, which many clients share.");
  redis.RequireCommand();
  redis.Footer(
      "Examples:\n"
      "  tamis redis create --url redis://cache-1:6379 --name seen --capacity 1e8\n"
      "  tamis redis insert --url redis://cache-1:6379 --name seen urls.txt\n"
      "  tamis redis query --url redis://cache-1:6379 --name seen new.txt > known.txt\n");
  return {AddRedisCreate(redis), AddRedisInsert(redis), AddRedisQuery(redis),
          AddRedisInfo(redis),   AddRedisPull(redis),   AddRedisPush(redis),
          AddRedisDrop(redis),   AddRedisRebuild(redis)};
#else
  return {};
#endif
}

}  // namespace tamis::tools
