// Real servers for tests. redis/local_cluster.sh starts them, and ends them with the test process.
#ifndef TAMIS_TESTS_REDIS_SERVERS_H_
#define TAMIS_TESTS_REDIS_SERVERS_H_

#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/redis/server_options.h"

namespace tamis::redis {

struct Server {
  std::string role;  // at the start: "master", "replica" or "single"
  int port = 0;
  pid_t pid = 0;
};

class Servers {
 public:
  // `mode`: "cluster" or "single". `options`: for redis-server.
  explicit Servers(const std::string& mode, const std::vector<std::string>& options = {});
  Servers(const Servers&) = delete;
  Servers& operator=(const Servers&) = delete;
  ~Servers();

  // False if redis-server is not installed.
  bool available() const { return available_; }
  const std::vector<Server>& servers() const { return servers_; }
  ServerOptions options() const;

  // Servers that all tests of the binary share.
  static Servers& Cluster();
  static Servers& Single();

 private:
  void ReadUntilReady();

  const std::string dir_;
  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  bool available_ = true;
  std::vector<Server> servers_;
};

// Sends a command to the server at `port` and returns its answer as text: each element of an array
// on a line, nil as "(nil)", an error as its message. Throws std::runtime_error if there is no
// answer.
std::string Say(int port, const std::vector<std::string>& words);
// Sends a command to the master of the slot of `key`.
std::string SayToOwner(const Servers& cluster, const std::string& key,
                       const std::vector<std::string>& words);
// Returns the port of the master of a slot, according to the node at `port`. Returns 0 if this node
// reports no master.
int MasterOfSlot(int port, uint32_t slot);
// Waits until the condition is true. Returns false if it is not true within `seconds`.
bool WaitFor(int seconds, const std::function<bool()>& condition);
// Returns all matching keys of a cluster's masters, or of a single server.
std::vector<std::string> KeysLike(const Servers& servers, const std::string& pattern);
// Waits until each replica of the cluster has everything that its master had at the time of the
// call.
bool Replicated(const Servers& servers);
// Moves a slot from its master to another one, key by key, as `redis-cli --cluster reshard` does.
// Fails the test if that is not possible.
void MoveSlot(const Servers& servers, uint32_t slot, std::chrono::milliseconds pause);
// Returns a filter name that no other test uses.
std::string NewName();

#define TAMIS_NEED(servers)                                         \
  if (!(servers).available()) {                                     \
    GTEST_SKIP() << "redis-server and redis-cli are not installed"; \
  }

}  // namespace tamis::redis

#endif  // TAMIS_TESTS_REDIS_SERVERS_H_
