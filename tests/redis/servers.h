// Real servers for tests: redis/local_cluster.sh starts them, and ends them with the test process.
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
  std::string role;  // as it was started: "master", "replica" or "single"
  int port = 0;
  pid_t pid = 0;
};

class Servers {
 public:
  // `mode`: "cluster" or "single". `options`: of redis-server.
  explicit Servers(const std::string& mode, const std::vector<std::string>& options = {});
  Servers(const Servers&) = delete;
  Servers& operator=(const Servers&) = delete;
  ~Servers();

  // False if redis-server is not installed.
  bool available() const { return available_; }
  const std::vector<Server>& servers() const { return servers_; }
  ServerOptions options() const;

  // Those that all tests of the binary share.
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

// Sends a command to the server at the port and gives its answer as text: elements of arrays each
// on a line, nil as "(nil)"; of an error its message. Throws std::runtime_error if there is no
// answer.
std::string Say(int port, const std::vector<std::string>& words);
// The same to the master of the slot of a key.
std::string SayToOwner(const Servers& cluster, const std::string& key,
                       const std::vector<std::string>& words);
// The port of the master of a slot, as the node at `port` sees it; 0 if there is none.
int MasterOfSlot(int port, uint32_t slot);
// Waits until the condition is true; false if it is not within so many seconds.
bool WaitFor(int seconds, const std::function<bool()>& condition);
// All keys of a cluster's masters, or of a single server, that match.
std::vector<std::string> KeysLike(const Servers& servers, const std::string& pattern);
// Waits until each replica of a cluster of this script has what its master had when this was
// called.
bool Replicated(const Servers& servers);
// Moves a slot from its master to another, key by key, as `redis-cli --cluster reshard` does. Fails
// the test if that cannot be done.
void MoveSlot(const Servers& servers, uint32_t slot, std::chrono::milliseconds pause);
// Names of filters that no other test has.
std::string NewName();

#define TAMIS_NEED(servers)                                         \
  if (!(servers).available()) {                                     \
    GTEST_SKIP() << "redis-server and redis-cli are not installed"; \
  }

}  // namespace tamis::redis

#endif  // TAMIS_TESTS_REDIS_SERVERS_H_
