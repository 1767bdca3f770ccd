// The commands of `tamis redis`.
#ifndef TAMIS_TOOLS_REDIS_COMMAND_H_
#define TAMIS_TOOLS_REDIS_COMMAND_H_

#include "tools/commands/commands.h"

namespace tamis::tools {

// Commands that read keys from files.
Command AddRedisInsert(const CommandLine& redis);
Command AddRedisQuery(const CommandLine& redis);
Command AddRedisRebuild(const CommandLine& redis);
// Commands for the filter as a whole.
Command AddRedisCreate(const CommandLine& redis);
Command AddRedisInfo(const CommandLine& redis);
Command AddRedisPull(const CommandLine& redis);
Command AddRedisPush(const CommandLine& redis);
Command AddRedisDrop(const CommandLine& redis);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_REDIS_COMMAND_H_
