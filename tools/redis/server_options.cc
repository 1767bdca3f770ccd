#include "tools/redis/server_options.h"

namespace tamis::tools {

void RedisServerOptions::AddTo(const CommandLine& command, const std::string& heading) {
  const auto add = [&](const char* name, std::string& value, const char* type, const char* what) {
    const Option option = command.Add(name, value, what);
    option.Type(type);
    if (!heading.empty()) option.Group(heading);
  };
  add("--url", url, "URL",
      "redis://[user@]host[:port][/database] of a server, or of any node of a cluster "
      "(default: TAMIS_REDIS_URL, or redis://127.0.0.1:6379)");
  add("--user", user, "USER", "user of the servers, if it is not in the URL");
  add("--password-file", password_file, "FILE", "file with the password on its first line");
  add("--ca-file", ca_file, "FILE",
      "certificates to trust, with rediss:// (default: the system's)");
}

bool RedisServerOptions::given() const {
  return !url.empty() || !user.empty() || !password_file.empty() || !ca_file.empty();
}

std::vector<std::string> RedisServerOptions::And(std::vector<std::string> paths) const {
  for (const std::string* path : {&password_file, &ca_file}) {
    if (!path->empty()) paths.push_back(*path);
  }
  return paths;
}

}  // namespace tamis::tools
