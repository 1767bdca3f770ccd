// The options that name the Redis servers. Builds without hiredis also have these options, so that
// commands can report that hiredis is missing.
#ifndef TAMIS_TOOLS_REDIS_SERVER_OPTIONS_H_
#define TAMIS_TOOLS_REDIS_SERVER_OPTIONS_H_

#include <string>
#include <vector>

#include "tools/options/command_line.h"

namespace tamis::tools {

struct RedisServerOptions {
  std::string url;  // empty: from the environment, or the server on this machine
  std::string user;
  std::string password_file;
  std::string ca_file;

  // Adds --url, --user, --password-file and --ca-file. If `heading` is not empty, the help lists
  // them under this heading.
  void AddTo(const CommandLine& command, const std::string& heading = {});
  // Returns whether one of the options was given.
  bool given() const;
  // Returns `paths` and the files that these options name. Outputs must not be among them.
  std::vector<std::string> And(std::vector<std::string> paths) const;
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_REDIS_SERVER_OPTIONS_H_
