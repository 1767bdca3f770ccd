// The options that say which Redis servers. They are there without what servers need, too, so that
// this is what such a command says.
#ifndef TAMIS_TOOLS_REDIS_SERVER_OPTIONS_H_
#define TAMIS_TOOLS_REDIS_SERVER_OPTIONS_H_

#include <string>
#include <vector>

#include "tools/options/command_line.h"

namespace tamis::tools {

struct RedisServerOptions {
  std::string url;  // empty: that of the environment, or the server on this machine
  std::string user;
  std::string password_file;
  std::string ca_file;

  // --url, --user, --password-file, --ca-file, under this heading of the help; empty: the usual one
  void AddTo(const CommandLine& command, const std::string& heading = {});
  // Whether one of them was given.
  bool given() const;
  // Those paths and its own: what is read must not be written to.
  std::vector<std::string> And(std::vector<std::string> paths) const;
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_REDIS_SERVER_OPTIONS_H_
