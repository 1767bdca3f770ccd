// Reads a filter of RedisBloom from a Redis server, for `tamis import`.
#ifndef TAMIS_TOOLS_COMMANDS_LIVE_FILTER_H_
#define TAMIS_TOOLS_COMMANDS_LIVE_FILTER_H_

#include <tamis/formats/foreign_filter.h>

#include <cstdint>
#include <string>

#include "tools/options/command_line.h"
#include "tools/redis/server_options.h"

namespace tamis::tools {

struct LiveFilterOptions {
  RedisServerOptions server;
  std::string key;
  uint64_t max_bytes = 0;  // 0: the default of the library

  // Adds --url, --key, --user, --password-file, --ca-file and --max-bytes.
  void AddTo(const CommandLine& command);
  bool given() const { return server.given() || !key.empty() || max_bytes != 0; }
};

struct LiveFilter {
  ForeignFilter filter;
  bool grew = false;  // see redis::RedisBloomDump::grew
};

// Reads the filter. Throws Error(kUnsupported) if tamis was built without hiredis, and the errors
// of redis::DumpRedisBloom and ForeignFilter::FromBytes.
LiveFilter ReadLiveFilter(const LiveFilterOptions& options);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_COMMANDS_LIVE_FILTER_H_
