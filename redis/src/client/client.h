// Sends commands to the nodes that have their slots, all nodes at the same time, and sees to it
// that each is answered, if that can be.
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

// Of one thread at a time. A command may be carried out more than once, if its reply was lost: each
// has to be one that can be.
class Client {
 public:
  // Throws Error(kInvalidArgument) for options out of range, Error(kUnsupported) as Tls::Make. It
  // connects when it is used.
  explicit Client(const ServerOptions& options);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  // Returns when each command is answered or has failed.
  void Run(std::span<Command> commands);
  // Waits until so many replicas have what the commands that were just run have written, or until
  // half of command_timeout is over, and sets Command::durable. With `all_known`, until all do that
  // the cluster has shown for their slots, if these are more.
  void AwaitReplicas(std::span<Command> commands, uint32_t replicas, bool all_known = false);

  // As long as before a node is tried again that has failed so often, and not beyond `end`.
  void Pause(int failures, std::chrono::steady_clock::time_point end);

  // From then on Run fails what is not answered yet, and no pause lasts: they look every 20 ms.
  void StopWhen(std::stop_token stop) { stop_ = std::move(stop); }

  // The slots as they are now. Throws Error(kUnavailable) if no node tells them.
  const SlotMap& RefreshedMap();
  // Gives the slots, refreshed if they may be others by now: something has shown that, or they are
  // more than a second old. Throws as that.
  const SlotMap& RecentMap();

  const ServerOptions& options() const { return settings_.options; }
  uint64_t RandomNumber() {
    LeaveToParent();
    return random_();
  }

 private:
  // A node, and when it may be tried again.
  struct Node {
    Node(const LinkSettings& settings, const Address& address, bool read_only, bool in_cluster)
        : link(settings, address, read_only, in_cluster) {}

    Link link;
    std::deque<Command*> queue;
    int failures = 0;
    Time not_before{};
    // Of commands with work: how many are on their way, since when the first of these, and until
    // when no further one is sent.
    size_t working = 0;
    Time working_since{};
    Time rests_until{};
  };

  void LeaveToParent();
  void RunAll();
  // Distributes the commands of unrouted_ to the queues of nodes.
  void Route(Time now);
  // False if it has to wait: until next_route_ or for the next map.
  bool RouteOne(Command& command, Time now, bool in_time);
  // Sends what there is room for, and what the server is not to rest from.
  void Fill(Node& node, Time now);
  // Waits until something can be done, and does what can be done on all connections.
  void Work();
  void Collect(Node& node, Time now);
  void Take(Command& command, Node& node, Reply& reply, Time now);
  // After an answer to a command with work.
  void LetRest(Node& node, Time now);
  void NodeFailed(Node& node, Time now);

  Node& NodeAt(const Address& address, bool read_only);
  const Address* TargetOf(const Command& command, bool& read_only);
  void Retry(Command& command, std::string why, std::chrono::nanoseconds pause);
  void Fail(Command& command, std::string why);
  // Those of broken connections, too, for no command may be left with one.
  void FailAll(const std::string& why);
  void Abandon() noexcept;
  std::chrono::nanoseconds Backoff(int failures);

  // Nodes are asked for the slots, one after the other, on connections of their own and while
  // commands go on.
  struct Inquiry {
    std::deque<Address> left;  // to be asked after this one
    std::unique_ptr<Link> link;
    std::unique_ptr<Command> command;
  };
  void BeginInquiry(Time now);
  // Asks the next node; the inquiry is over if there is none.
  void AskNext(Time now);
  void AskFor(std::string_view what, Time now);
  // Takes the answer, if it is there.
  void GoOnAsking(Time now);
  void TakeAnswer(const Reply& reply, Time now);
  void UseMap(SlotMap map, bool in_cluster, Time now);

  LinkSettings settings_;
  std::stop_token stop_;
  SlotMap map_;
  bool has_map_ = false;
  bool in_cluster_ = true;
  bool stale_ = false;    // the map
  bool refused_ = false;  // by a node that was asked for the slots
  int refresh_failures_ = 0;
  uint64_t maps_ = 0;  // that were taken
  Time map_time_;      // when the last one was
  std::optional<Inquiry> inquiry_;
  Time next_refresh_{};
  std::map<std::pair<Address, bool>, std::unique_ptr<Node>> nodes_;
  std::mt19937_64 random_;
  int process_;

  // While it runs.
  std::deque<Command*> unrouted_;
  Time next_route_{};
  size_t left_ = 0;
  Time progress_{};
  std::string last_error_;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_CLIENT_H_
