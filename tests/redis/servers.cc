#include "tests/redis/servers.h"

#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "redis/src/client/slot.h"

namespace tamis::redis {
namespace {

constexpr int kUnavailable = 69;  // exit status of local_cluster.sh

void Append(const redisReply* reply, std::string& text) {
  switch (reply->type) {
    case REDIS_REPLY_ARRAY:
      for (size_t i = 0; i < reply->elements; ++i) {
        if (i > 0) text += '\n';
        Append(reply->element[i], text);
      }
      return;
    case REDIS_REPLY_INTEGER:
      text += std::to_string(reply->integer);
      return;
    case REDIS_REPLY_NIL:
      text += "(nil)";
      return;
    default:
      text.append(reply->str, reply->len);
  }
}

std::string Field(const std::string& info, const std::string& name) {
  const size_t at = info.find(name + ":");
  if (at == std::string::npos) return {};
  return info.substr(at + name.size() + 1, info.find('\r', at) - at - name.size() - 1);
}

}  // namespace

Servers::Servers(const std::string& mode, const std::vector<std::string>& options)
    : dir_(testing::TempDir() + "tamis_redis_" + NewName()) {
  std::vector<std::string> words = {"sh", TAMIS_LOCAL_CLUSTER, mode, dir_};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int in[2], out[2];
  // If other children of the test inherited these pipes, the script would not detect the end of its
  // input.
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  pid_ = fork();
  if (pid_ == 0) {
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    execvp("sh", arguments.data());
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  in_ = in[1];
  out_ = out[0];
  ReadUntilReady();
}

void Servers::ReadUntilReady() {
  std::string text;
  char c = 0;
  while (read(out_, &c, 1) == 1) {
    if (c != '\n') {
      text += c;
      continue;
    }
    std::istringstream line(text);
    Server server;
    line >> server.role >> server.port >> server.pid;
    if (server.role == "ready") return;
    servers_.push_back(server);
    text.clear();
  }
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  available_ = false;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != kUnavailable) {
    throw std::runtime_error("local_cluster.sh has failed, see above");
  }
}

Servers::~Servers() {
  close(in_);
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
  close(out_);
  std::error_code ignored;
  std::filesystem::remove_all(dir_, ignored);
}

ServerOptions Servers::options() const {
  // A slow machine must not cause errors that tests look for.
  ServerOptions options;
  options.connect_timeout = options.command_timeout = std::chrono::seconds(20);
  options.retry_for = std::chrono::seconds(60);
  if (!servers_.empty()) options.url = "redis://127.0.0.1:" + std::to_string(servers_[0].port);
  return options;
}

Servers& Servers::Cluster() {
  // No replica may take over from a master that is slow.
  static Servers servers("cluster", {"--cluster-node-timeout", "60000"});
  return servers;
}

Servers& Servers::Single() {
  static Servers servers("single");
  return servers;
}

std::string Say(int port, const std::vector<std::string>& words) {
  const timeval timeout = {30, 0};
  const std::unique_ptr<redisContext, void (*)(redisContext*)> context(
      redisConnectWithTimeout("127.0.0.1", port, timeout), redisFree);
  if (context == nullptr || context->err != 0) throw std::runtime_error("no connection");
  redisSetTimeout(context.get(), timeout);
  std::vector<const char*> arguments;
  std::vector<size_t> sizes;
  for (const std::string& word : words) {
    arguments.push_back(word.data());
    sizes.push_back(word.size());
  }
  const std::unique_ptr<void, void (*)(void*)> reply(
      redisCommandArgv(context.get(), static_cast<int>(words.size()), arguments.data(),
                       sizes.data()),
      freeReplyObject);
  if (reply == nullptr) throw std::runtime_error(context->errstr);
  std::string text;
  Append(static_cast<const redisReply*>(reply.get()), text);
  return text;
}

int MasterOfSlot(int port, uint32_t slot) {
  // Each range is: first, last, {host, port, id} of the master, then its replicas.
  const timeval timeout = {30, 0};
  const std::unique_ptr<redisContext, void (*)(redisContext*)> context(
      redisConnectWithTimeout("127.0.0.1", port, timeout), redisFree);
  if (context == nullptr || context->err != 0) return 0;
  redisSetTimeout(context.get(), timeout);
  const std::unique_ptr<void, void (*)(void*)> held(redisCommand(context.get(), "CLUSTER SLOTS"),
                                                    freeReplyObject);
  const auto* const reply = static_cast<const redisReply*>(held.get());
  if (reply == nullptr || reply->type != REDIS_REPLY_ARRAY) return 0;
  for (size_t i = 0; i < reply->elements; ++i) {
    const redisReply* const range = reply->element[i];
    if (range->element[0]->integer <= slot && slot <= range->element[1]->integer) {
      return static_cast<int>(range->element[2]->element[1]->integer);
    }
  }
  return 0;
}

std::string SayToOwner(const Servers& cluster, const std::string& key,
                       const std::vector<std::string>& words) {
  const int port = cluster.servers()[0].role == "single"
                       ? cluster.servers()[0].port
                       : MasterOfSlot(cluster.servers()[0].port, SlotOfKey(key));
  return Say(port, words);
}

bool WaitFor(int seconds, const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

std::vector<std::string> KeysLike(const Servers& servers, const std::string& pattern) {
  std::vector<std::string> keys;
  for (const Server& server : servers.servers()) {
    if (Say(server.port, {"ROLE"}).substr(0, 6) != "master") continue;
    std::istringstream lines(Say(server.port, {"KEYS", pattern}));
    for (std::string line; std::getline(lines, line);) keys.push_back(line);
  }
  return keys;
}

bool Replicated(const Servers& servers) {
  const auto& all = servers.servers();
  for (size_t i = 0; i < 3; ++i) {
    const uint64_t offset =
        std::stoull(Field(Say(all[i].port, {"INFO", "replication"}), "master_repl_offset"));
    const bool there = WaitFor(120, [&] {
      const std::string info = Say(all[i + 3].port, {"INFO", "replication"});
      const std::string have = Field(info, "slave_repl_offset");
      return !have.empty() && std::stoull(have) >= offset;
    });
    if (!there) return false;
  }
  return true;
}

void MoveSlot(const Servers& servers, uint32_t slot, std::chrono::milliseconds pause) {
  const auto& all = servers.servers();
  const int from = MasterOfSlot(all[0].port, slot);
  const int to = from == all[0].port ? all[1].port : all[0].port;
  const std::string number = std::to_string(slot);
  const std::string from_id = Say(from, {"CLUSTER", "MYID"});
  const std::string to_id = Say(to, {"CLUSTER", "MYID"});
  ASSERT_EQ(Say(to, {"CLUSTER", "SETSLOT", number, "IMPORTING", from_id}), "OK");
  ASSERT_EQ(Say(from, {"CLUSTER", "SETSLOT", number, "MIGRATING", to_id}), "OK");
  for (;;) {
    const std::string key = Say(from, {"CLUSTER", "GETKEYSINSLOT", number, "1"});
    if (key.empty()) break;
    const std::string moved =
        Say(from, {"MIGRATE", "127.0.0.1", std::to_string(to), key, "0", "5000"});
    // A delta may have been removed already.
    ASSERT_TRUE(moved == "OK" || moved == "NOKEY") << moved;
    std::this_thread::sleep_for(pause);
  }
  for (const int port : {to, from}) {
    ASSERT_EQ(Say(port, {"CLUSTER", "SETSLOT", number, "NODE", to_id}), "OK");
  }
}

std::string NewName() {
  static std::atomic<int> count = 0;
  return "test-" + std::to_string(getpid()) + "-" + std::to_string(count++);
}

}  // namespace tamis::redis
