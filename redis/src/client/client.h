// Sends commands to the nodes that own their slots, to all nodes at the same time, and repeats
// commands until they are answered or the time limit has passed.
#ifndef TAMIS_REDIS_SRC_CLIENT_CLIENT_H_
#define TAMIS_REDIS_SRC_CLIENT_CLIENT_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "redis/src/client/command.h"
#include "redis/src/client/link.h"
#include "redis/src/client/slot_map.h"

namespace tamis::redis {

// One thread at a time may use a client. If a reply is lost, the command is sent again, so every
// command must tolerate being run twice.
class Client {
 public:
  // Throws Error(kInvalidArgument) for options out of range, and the errors of Tls::Make. Does not
  // connect before the first use.
  explicit Client(const ServerOptions& options);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  // Runs the commands. Returns when each command is answered or has failed.
  void Run(std::span<Command> commands);
  // Waits until `replicas` replicas have the writes of `commands`, for at most half of
  // command_timeout. `commands` must be the commands of the last Run. Sets Command::durable. If
  // `all_known` is true, waits for all replicas that the cluster shows for the master of a command,
  // and for at least `replicas`.
  void AwaitReplicas(std::span<Command> commands, uint32_t replicas, bool all_known = false);

  // Sleeps for the pause that follows `failures` failures in a row, but not beyond `end`.
  void Pause(int failures, std::chrono::steady_clock::time_point end);

  // After `stop` is requested, Run fails all commands that are not answered yet, and Pause returns.
  // Run and Pause check `stop` every 20 ms.
  void StopWhen(std::stop_token stop) { stop_ = std::move(stop); }

  // Reads the slot map from a node. Throws Error(kUnavailable) if no node returns it.
  const SlotMap& RefreshedMap();
  // Returns the slot map. Refreshes it first if a reply has shown that it is out of date, or if it
  // is more than a second old. Throws as RefreshedMap.
  const SlotMap& RecentMap();

  const ServerOptions& options() const { return settings_.options; }
  uint64_t RandomNumber() {
    LeaveToParent();
    return random_();
  }

 private:
  // A node, the commands that wait for it, and the time before which it is not tried again.
  struct Node {
    Node(const LinkSettings& settings, const Address& address, bool read_only, bool in_cluster)
        : link(settings, address, read_only, in_cluster) {}

    Link link;
    std::deque<Command*> queue;
    int failures = 0;
    Time not_before{};
    // For commands with `work`: the number of commands without a reply, the time when the server
    // began the current command, and the end of the pause, before which no such command is sent.
    size_t working = 0;
    Time working_since{};
    Time rests_until{};
  };

  void LeaveToParent();
  void RunAll();
  // Distributes the commands of unrouted_ to the queues of nodes.
  void Route(Time now);
  // Returns false if the command must wait until next_route_ or for the next map.
  bool RouteOne(Command& command, Time now, bool in_time);
  // Sends the commands that the connection has room for. During a pause, sends none with `work`.
  void Fill(Node& node, Time now);
  // Waits until a connection is ready or a time limit ends, and then reads and writes on all
  // connections that are ready.
  void Work();
  void Collect(Node& node, Time now);
  void Take(Command& command, Node& node, Reply& reply, Time now);
  // Begins the pause after the reply to a command with `work`.
  void LetRest(Node& node, Time now);
  void NodeFailed(Node& node, Time now);

  Node& NodeAt(const Address& address, bool read_only);
  const Address* TargetOf(const Command& command, bool& read_only);
  void Retry(Command& command, std::string why, std::chrono::nanoseconds pause);
  void Fail(Command& command, std::string why);
  // Fails all commands, and removes them from all connections.
  void FailAll(const std::string& why);
  void Abandon() noexcept;
  std::chrono::nanoseconds Backoff(int failures);

  // A request for the slot map. It is sent to one node after the other, over connections of its
  // own, until a node returns the map. Commands run at the same time.
  struct Inquiry {
    std::deque<Address> left;  // the nodes that were not asked yet
    std::unique_ptr<Link> link;
    std::unique_ptr<Command> command;
  };
  void BeginInquiry(Time now);
  // Sends the inquiry to the next node, or ends it after the last one.
  void AskNext(Time now);
  void AskFor(std::string_view what, Time now);
  // Handles the reply of the node if it has arrived. If the connection has ended, sends the inquiry
  // to the next node.
  void GoOnAsking(Time now);
  void TakeAnswer(const Reply& reply, Time now);
  void UseMap(SlotMap map, bool in_cluster, Time now);

  LinkSettings settings_;
  std::stop_token stop_;
  SlotMap map_;
  bool has_map_ = false;
  bool in_cluster_ = true;
  bool stale_ = false;    // whether the map is out of date
  bool refused_ = false;  // whether a node has refused an inquiry
  int refresh_failures_ = 0;
  uint64_t maps_ = 0;  // number of maps that were read
  Time map_time_;      // time when the last map was read
  std::optional<Inquiry> inquiry_;
  Time next_refresh_{};
  std::map<std::pair<Address, bool>, std::unique_ptr<Node>> nodes_;
  std::mt19937_64 random_;
  int process_;

  // The state of a call of Run.
  std::deque<Command*> unrouted_;
  Time next_route_{};
  size_t left_ = 0;
  Time progress_{};
  std::string last_error_;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_CLIENT_H_
