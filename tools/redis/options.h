// The options of `tamis redis`: the servers, and the filter on them.
#ifndef TAMIS_TOOLS_REDIS_OPTIONS_H_
#define TAMIS_TOOLS_REDIS_OPTIONS_H_

#include <tamis/redis/server_options.h>
#include <tamis/redis/split_block_filter.h>

#include <string>
#include <vector>

#include "tools/options/command_line.h"
#include "tools/options/secret.h"
#include "tools/redis/server_options.h"

namespace tamis::tools {

// Converts `options` to the options of the library. Reads the password from the password file, or
// without a file from TAMIS_REDIS_PASSWORD. Throws Error(kIo). Throws Error(kInvalidArgument) for a
// password in an argument, and for a file without a password. Messages do not contain the password.
redis::ServerOptions ServersOf(const RedisServerOptions& options);

struct RedisOptions {
  RedisServerOptions server;
  std::string name;
  SecretOptions secret;
  uint64_t durable_replicas = 0;
  bool quiet = false;

  // Adds --url, --name, --user, --password-file, --ca-file and --quiet.
  void AddTo(const CommandLine& command);
  // Adds --durable-replicas, for commands that insert.
  void AddDurableTo(const CommandLine& command);

  redis::ServerOptions Servers() const { return ServersOf(server); }
  redis::SplitBlockFilter Open(redis::Unavailable unavailable = redis::Unavailable::kThrow) const;
  // Returns `paths` and the files that these options name. Outputs must not be among them.
  std::vector<std::string> And(std::vector<std::string> paths) const;
};

// The end of the help of every command of `tamis redis`.
extern const char kRedisHelp[];

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_REDIS_OPTIONS_H_
