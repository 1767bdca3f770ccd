#include "tools/redis_options.h"

#include <tamis/error.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "tools/input_file.h"
#include "tools/parse.h"

namespace tamis::tools {
namespace {

std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Whether there is something between a colon and the @ before the host.
bool HasPassword(std::string_view url) {
  const size_t scheme = url.find("://");
  const size_t begin = scheme == std::string_view::npos ? 0 : scheme + 3;
  const size_t at = url.rfind('@');
  return at != std::string_view::npos && at > begin &&
         url.substr(begin, at - begin).find(':') != std::string_view::npos;
}

// The first line of the file.
std::string ReadPassword(const std::string& path) {
  if (path == "-") {
    throw Error(ErrorCode::kInvalidArgument,
                "--password-file: give a file; standard input is for keys");
  }
  constexpr size_t kEnough = 4096;
  InputFile file(path);
  while (!file.last() && file.text().size() <= kEnough) file.Fill();
  std::string_view text = file.text();
  text = text.substr(0, text.find('\n'));
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (text.empty() || text.size() > kEnough) {
    throw Error(ErrorCode::kInvalidArgument, file.name() + ": has no password on its first line");
  }
  return std::string(text);
}

}  // namespace

const char kRedisHelp[] =
    "The password comes from the environment (TAMIS_REDIS_PASSWORD, or the URL in\n"
    "TAMIS_REDIS_URL) or from --password-file, as others can see what is in a command.\n"
    "docs/redis.md says what servers have to be like.\n";

void RedisOptions::AddTo(const CommandLine& command) {
  command
      .Add("--url", url,
           "redis://[user@]host[:port][/database] of a server, or of any node of a cluster "
           "(default: TAMIS_REDIS_URL, or redis://127.0.0.1:6379)")
      .Type("URL");
  command.Add("--name", name, "name of the filter (required)").Required().Type("NAME");
  command.Add("--user", user, "user of the servers, if it is not in the URL").Type("USER");
  command.Add("--password-file", password_file, "file with the password on its first line")
      .Type("FILE");
  command.Add("--ca-file", ca_file, "certificates to trust, with rediss:// (default: the system's)")
      .Type("FILE");
  command.AddFlag("-q,--quiet", quiet, "no summary and no progress");
}

void RedisOptions::AddDurableTo(const CommandLine& command) {
  command
      .Add("--durable-replicas", durable_replicas, ParsePositiveCount,
           "wait until so many replicas of each master have the keys, or fail with status 4")
      .Type("N");
}

redis::ServerOptions RedisOptions::Servers() const {
  if (HasPassword(url)) {
    throw Error(ErrorCode::kInvalidArgument,
                "--url: a password in a command can be seen by others; give --password-file FILE, "
                "or TAMIS_REDIS_PASSWORD in the environment");
  }
  redis::ServerOptions servers;
  servers.user = user;
  servers.ca_file = ca_file;
  servers.password =
      password_file.empty() ? Environment("TAMIS_REDIS_PASSWORD") : ReadPassword(password_file);
  const std::string usual = Environment("TAMIS_REDIS_URL");
  if (!usual.empty()) servers.url = usual;
  if (!url.empty()) servers.url = url;
  return servers;
}

redis::SplitBlockFilter RedisOptions::Open(redis::Unavailable unavailable) const {
  const uint64_t replicas = std::min<uint64_t>(durable_replicas, 1'000'000);
  return redis::SplitBlockFilter::Open(Servers(), name,
                                       {.unavailable = unavailable,
                                        .secret = secret.Read(),
                                        .durable_replicas = static_cast<uint32_t>(replicas)});
}

std::vector<std::string> RedisOptions::And(std::vector<std::string> paths) const {
  for (const std::string* path : {&password_file, &ca_file}) {
    if (!path->empty()) paths.push_back(*path);
  }
  return secret.And(std::move(paths));
}

}  // namespace tamis::tools
