#include "tools/redis/options.h"

#include <tamis/error.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "tools/input/input_file.h"
#include "tools/options/parse.h"

namespace tamis::tools {
namespace {

std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Returns whether the user information of the URL, which ends with an @, contains a colon.
bool HasPassword(std::string_view url) {
  const size_t scheme = url.find("://");
  const size_t begin = scheme == std::string_view::npos ? 0 : scheme + 3;
  const size_t at = url.rfind('@');
  return at != std::string_view::npos && at > begin &&
         url.substr(begin, at - begin).find(':') != std::string_view::npos;
}

// Returns the first line of the file.
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
    throw Error(ErrorCode::kInvalidArgument,
                file.name() + ": the first line must be a password of 1 to 4096 bytes");
  }
  return std::string(text);
}

}  // namespace

const char kRedisHelp[] =
    "The password comes from the environment (TAMIS_REDIS_PASSWORD, or the URL in\n"
    "TAMIS_REDIS_URL) or from --password-file, because others can see the arguments of a command.\n"
    "docs/redis.md describes the requirements for servers.\n";

void RedisOptions::AddTo(const CommandLine& command) {
  command.Add("--name", name, "name of the filter (required)").Required().Type("NAME");
  server.AddTo(command);
  command.AddFlag("-q,--quiet", quiet, "no progress bar and no summary");
}

void RedisOptions::AddDurableTo(const CommandLine& command) {
  command
      .Add("--durable-replicas", durable_replicas, ParsePositiveCount,
           "wait until N replicas of each master have the keys; if this fails, exit status 4")
      .Type("N");
}

redis::ServerOptions ServersOf(const RedisServerOptions& options) {
  if (HasPassword(options.url)) {
    throw Error(ErrorCode::kInvalidArgument,
                "--url: other users can see a password in a command; give --password-file FILE, or "
                "TAMIS_REDIS_PASSWORD in the environment");
  }
  redis::ServerOptions servers;
  servers.user = options.user;
  servers.ca_file = options.ca_file;
  servers.password = options.password_file.empty() ? Environment("TAMIS_REDIS_PASSWORD")
                                                   : ReadPassword(options.password_file);
  const std::string usual = Environment("TAMIS_REDIS_URL");
  if (!usual.empty()) servers.url = usual;
  if (!options.url.empty()) servers.url = options.url;
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
  return secret.And(server.And(std::move(paths)));
}

}  // namespace tamis::tools
