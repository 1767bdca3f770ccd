// The options of `tamis redis`: which servers, and which filter on them.
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

// Reads the password, if there is one: from the file, or TAMIS_REDIS_PASSWORD. Throws Error(kIo),
// and Error(kInvalidArgument) for a password in an argument; neither shows it.
redis::ServerOptions ServersOf(const RedisServerOptions& options);

struct RedisOptions {
  RedisServerOptions server;
  std::string name;
  SecretOptions secret;
  uint64_t durable_replicas = 0;
  bool quiet = false;

  // --url, --name, --user, --password-file, --ca-file, --quiet
  void AddTo(const CommandLine& command);
  // --durable-replicas, of commands that insert
  void AddDurableTo(const CommandLine& command);

  redis::ServerOptions Servers() const { return ServersOf(server); }
  redis::SplitBlockFilter Open(redis::Unavailable unavailable = redis::Unavailable::kThrow) const;
  // Those paths and its own: what is read must not be written to.
  std::vector<std::string> And(std::vector<std::string> paths) const;
};

// The end of the help of every command of `tamis redis`.
extern const char kRedisHelp[];

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_REDIS_OPTIONS_H_
