#include "redis/src/client/client.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "redis/src/client/sigpipe.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/random_seed.h"
#include "tamis/units.h"

namespace tamis::redis {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Number of redirections of a command that are followed without a pause.
constexpr int kRedirectsAtOnce = 5;
constexpr milliseconds kMaxOption = std::chrono::hours(24);
constexpr double kMaxIdleShare = 0.9;
// Upper bound for the pause after a command with `work`. Without this bound, the pause would be
// long after a server has stalled once.
constexpr milliseconds kMaxRest{200};
constexpr milliseconds kLook{20};  // time between two checks of the stop token

void RequireRange(milliseconds value, milliseconds min, const char* name) {
  if (value >= min && value <= kMaxOption) return;
  throw Error(ErrorCode::kInvalidArgument,
              detail::StrCat(name, " is ", value.count(), " ms, out of range [", min.count(), ", ",
                             kMaxOption.count(), "]"));
}

LinkSettings MakeSettings(const ServerOptions& options) {
  RequireRange(options.connect_timeout, milliseconds(1), "connect_timeout");
  RequireRange(options.command_timeout, milliseconds(1), "command_timeout");
  RequireRange(options.retry_for, milliseconds(0), "retry_for");
  RequireRange(options.min_backoff, milliseconds(1), "min_backoff");
  RequireRange(options.max_backoff, options.min_backoff, "max_backoff");
  if (!(options.idle_share >= 0 && options.idle_share <= kMaxIdleShare)) {
    throw Error(ErrorCode::kInvalidArgument,
                "idle_share is " + NumberText(options.idle_share) + ", out of range [0, 0.9]");
  }
  LinkSettings settings{options, ParseUrl(options.url), nullptr};
  if (!options.password.empty()) settings.url.password = options.password;
  if (!options.user.empty()) settings.url.user = options.user;
  if (!settings.url.user.empty() && settings.url.password.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "a user of a Redis server requires a password");
  }
  if (settings.url.tls) settings.tls = Tls::Make(options.ca_file);
  return settings;
}

}  // namespace

Client::Client(const ServerOptions& options)
    : settings_(MakeSettings(options)), random_(RandomSeed()), process_(getpid()) {}

Client::~Client() {
  const SigpipeBlock no_sigpipe;  // TLS writes when it closes a connection
  nodes_.clear();
  inquiry_.reset();
}

void Client::Run(std::span<Command> commands) {
  const SigpipeBlock no_sigpipe;
  LeaveToParent();
  unrouted_.clear();
  for (Command& command : commands) {
    command.answered = false;
    command.failure.clear();
    command.redirects_ = command.attempts_ = 0;
    command.ask_.reset();
    command.not_before_ = {};
    command.durable = false;
    unrouted_.push_back(&command);
  }
  left_ = commands.size();
  last_error_.clear();
  try {
    RunAll();
  } catch (...) {
    Abandon();
    throw;
  }
}

// Cleans up after std::bad_alloc. Drops all connections, because their state is unknown, and they
// may still refer to commands of the call.
void Client::Abandon() noexcept {
  unrouted_.clear();
  nodes_.clear();
  inquiry_.reset();
  left_ = 0;
}

// WAIT covers only the writes of its own connection, and succeeds at once on a new connection. So
// WAIT is sent over the connection that has answered the command, and fails if that connection has
// ended. With `all_known`, a command is not durable if its node is no longer a master, because the
// writes of that node may be lost.
void Client::AwaitReplicas(std::span<Command> commands, uint32_t replicas, bool all_known) {
  const auto timeout = std::max<int64_t>(1, options().command_timeout.count() / 2);
  const auto needed = [&](const Command& command) -> std::optional<uint32_t> {
    if (!command.answered) return {};
    if (!all_known) return replicas;
    const std::optional<uint32_t> followers = map_.FollowersOf(command.node_);
    return followers ? std::optional(std::max(replicas, *followers)) : std::nullopt;
  };
  // These numbers are computed before Run, because Run may change the map.
  std::vector<std::optional<uint32_t>> counts;
  std::map<std::pair<Address, uint64_t>, size_t> places;
  std::vector<Command> waits;
  for (const Command& command : commands) {
    const std::optional<uint32_t> count = needed(command);
    counts.push_back(count);
    if (count.value_or(0) == 0) continue;
    if (!places.try_emplace({command.node_, command.connection_}, waits.size()).second) continue;
    waits.emplace_back(command.slot(),
                       std::initializer_list<std::string_view>{"WAIT", std::to_string(*count),
                                                               std::to_string(timeout)},
                       0);
    waits.back().pinned_ = true;
    waits.back().node_ = command.node_;
    waits.back().connection_ = command.connection_;
  }
  Run(waits);
  for (size_t i = 0; i < commands.size(); ++i) {
    Command& command = commands[i];
    command.durable = counts[i] == 0;
    if (counts[i].value_or(0) == 0) continue;
    const Command& wait = waits[places.at({command.node_, command.connection_})];
    command.durable =
        wait.answered && wait.reply.IsInteger() && wait.reply.integer >= int64_t{*counts[i]};
  }
}

// In a child of fork, drops the connections, because the parent uses them too. Also seeds the
// random numbers again; otherwise both processes would draw the same numbers.
void Client::LeaveToParent() {
  if (process_ == getpid()) return;
  process_ = getpid();
  nodes_.clear();
  inquiry_.reset();
  random_.seed(RandomSeed());
}

void Client::RunAll() {
  progress_ = steady_clock::now();
  next_route_ = {};
  refused_ = false;
  bool begun = false;
  while (left_ > 0) {
    if (stop_.stop_requested()) return FailAll("the client was stopped");
    const Time now = steady_clock::now();
    // With a map, the nodes themselves report that they refuse the client. Without a map, this
    // check must come before the next inquiry, which servers would count as a second wrong
    // password.
    if (refused_ && !has_map_ && !inquiry_) return FailAll(last_error_);
    if ((!has_map_ || stale_) && !inquiry_ && now >= next_refresh_) BeginInquiry(now);
    if (has_map_ && !begun) {
      begun = true;
      progress_ = now;  // retry_for does not include the time to find the cluster
    }
    if (!has_map_ && !inquiry_ && now - progress_ > settings_.options.retry_for)
      return FailAll(last_error_);
    if (has_map_ && now >= next_route_) Route(now);
    for (auto& [key, node] : nodes_) Fill(*node, now);
    if (left_ > 0) Work();
  }
}

void Client::Route(Time now) {
  const Time end = progress_ + settings_.options.retry_for;
  next_route_ = Time::max();
  std::deque<Command*> commands = std::move(unrouted_);
  unrouted_.clear();
  for (Command* const command : commands) {
    if (!RouteOne(*command, now, now <= end)) unrouted_.push_back(command);
  }
  if (!unrouted_.empty() && now <= end) next_route_ = std::min(next_route_, end + milliseconds(1));
}

bool Client::RouteOne(Command& command, Time now, bool in_time) {
  if (!in_time && (command.attempts_ > 0 || command.redirects_ > kRedirectsAtOnce)) {
    Fail(command, last_error_);
    return true;
  }
  if (command.not_before_ > now) {
    next_route_ = std::min(next_route_, command.not_before_);
    return false;
  }
  bool read_only = false;
  const Address* const target = command.pinned_ ? &command.node_ : TargetOf(command, read_only);
  if (target == nullptr) {
    stale_ = true;
    if (in_time) return false;
    Fail(command, detail::StrCat("no node of the cluster has the slot ", command.slot()));
    return true;
  }
  Node& node = NodeAt(*target, read_only);
  if (command.pinned_ && (!node.link.is_open() || node.link.connection() != command.connection_)) {
    Fail(command, "the connection has ended");
    return true;
  }
  if (node.not_before > now) {
    next_route_ = std::min(next_route_, node.not_before);
    return false;
  }
  node.queue.push_back(&command);
  return true;
}

const Address* Client::TargetOf(const Command& command, bool& read_only) {
  if (command.ask_) return &*command.ask_;
  const Address* const master = map_.MasterOf(command.slot());
  if (master == nullptr || !command.reads || !settings_.options.read_from_replicas) return master;
  const std::vector<Address>& replicas = *map_.ReplicasOf(command.slot());
  // After any failure of the replica, the next attempt goes to the master.
  if (replicas.empty() || command.attempts_ + command.redirects_ > 0) return master;
  read_only = true;
  return &replicas[command.slot() % replicas.size()];
}

Client::Node& Client::NodeAt(const Address& address, bool read_only) {
  const std::pair key(address, read_only);
  if (const auto found = nodes_.find(key); found != nodes_.end()) return *found->second;
  auto node = std::make_unique<Node>(settings_, address, read_only, in_cluster_);
  return *nodes_.emplace(key, std::move(node)).first->second;
}

void Client::Fill(Node& node, Time now) {
  if (node.queue.empty()) return;
  if (!node.link.Open(now)) return NodeFailed(node, now);
  while (!node.queue.empty() && node.link.HasRoomFor(node.queue.front()->cost())) {
    Command& command = *node.queue.front();
    if (command.work > 0 && node.rests_until > now) return;
    node.queue.pop_front();
    if (command.pinned_ && command.connection_ != node.link.connection()) {
      Fail(command, "the connection has ended");
      continue;
    }
    if (command.work > 0 && node.working++ == 0) node.working_since = now;
    node.link.Send(command, command.ask_.has_value(), command.with_source_);
  }
}

void Client::Work() {
  const Time before = steady_clock::now();
  std::vector<Node*> busy;
  std::vector<pollfd> pollers;
  Time until = has_map_ ? next_route_ : progress_ + settings_.options.retry_for;
  if (inquiry_) {
    until = std::min(until, inquiry_->link->deadline());
  } else if (!has_map_ || stale_) {
    until = std::min(until, next_refresh_);
  }
  for (auto& [key, node] : nodes_) {
    if (!node->link.is_open()) continue;
    // Includes idle connections, to notice if a server closes one before the next command uses it.
    busy.push_back(node.get());
    pollers.push_back({node->link.fd(), node->link.events(), 0});
    until = std::min(until, node->link.deadline());
    if (!node->queue.empty() && node->rests_until > before)
      until = std::min(until, node->rests_until);
  }
  if (inquiry_) pollers.push_back({inquiry_->link->fd(), inquiry_->link->events(), 0});
  const auto pause = until - before;
  // Waits 1 ms or more, to avoid a busy loop.
  const int64_t longest = stop_.stop_possible() ? kLook.count() : 60'000;
  const auto wait = std::clamp<int64_t>(std::chrono::ceil<milliseconds>(pause).count(), 1, longest);
  poll(pollers.data(), pollers.size(), static_cast<int>(wait));
  const Time now = steady_clock::now();
  for (size_t i = 0; i < busy.size(); ++i) {
    Node& node = *busy[i];
    if (pollers[i].revents != 0) node.link.Work(now);
    Collect(node, now);
  }
  if (inquiry_) GoOnAsking(now);
}

void Client::Collect(Node& node, Time now) {
  std::unique_ptr<Reply> reply;
  while (Command* const command = node.link.Next(now, reply)) Take(*command, node, *reply, now);
  if (!node.link.is_open()) NodeFailed(node, now);
}

void Client::LetRest(Node& node, Time now) {
  const double share = settings_.options.idle_share;
  const std::chrono::duration<double> took = now - node.working_since;
  const auto rest = std::min<std::chrono::duration<double>>(took * (share / (1 - share)), kMaxRest);
  node.rests_until =
      std::max(node.rests_until, now) + std::chrono::duration_cast<std::chrono::nanoseconds>(rest);
  node.working_since = now;
  --node.working;
}

void Client::Take(Command& command, Node& node, Reply& reply, Time now) {
  node.failures = 0;
  if (command.work > 0) LetRest(node, now);
  if (reply.IsError() && !command.pinned_) {
    if (const auto redirect = ParseRedirect(reply.text, node.link.address())) {
      last_error_ = AddressText(node.link.address()) + ": " + ShownText(reply.text);
      if (redirect->ask) {
        command.ask_ = redirect->to;
      } else {
        command.ask_.reset();
        map_.Move(command.slot(), redirect->to);
        stale_ = true;
      }
      // Two nodes may redirect to each other until both have the new map.
      const int rounds = ++command.redirects_ - kRedirectsAtOnce;
      return Retry(command, last_error_, rounds <= 0 ? milliseconds(0) : Backoff(rounds));
    }
    if (reply.text.starts_with("NOSCRIPT") && !command.with_source_) {
      command.with_source_ = true;
      return Retry(command, {}, milliseconds(0));
    }
    if (IsTemporary(reply.text)) {
      command.ask_.reset();
      // TRYAGAIN means that the slot is moving. The map is still right.
      stale_ |= !reply.text.starts_with("TRYAGAIN");
      return Retry(command, AddressText(node.link.address()) + ": " + ShownText(reply.text),
                   Backoff(++command.attempts_));
    }
  }
  command.reply = std::move(reply);
  command.answered = true;
  command.node_ = node.link.address();
  command.connection_ = node.link.connection();
  --left_;
  progress_ = now;
}

void Client::NodeFailed(Node& node, Time now) {
  std::deque<Command*> commands = node.link.TakeUnanswered();
  commands.insert(commands.end(), node.queue.begin(), node.queue.end());
  node.queue.clear();
  node.working = 0;
  if (commands.empty()) return;  // a server may close an idle connection
  last_error_ = node.link.error();
  stale_ = true;
  node.not_before = now + Backoff(++node.failures);
  for (Command* const command : commands) {
    // A reply that cannot be read would be the same next time. Other commands are retried.
    if (command->pinned_ || node.link.refused() ||
        (node.link.unreadable() && command == commands.front())) {
      Fail(*command, last_error_);
      continue;
    }
    command->ask_.reset();
    ++command->attempts_;
    Retry(*command, last_error_, milliseconds(0));
  }
}

void Client::Retry(Command& command, std::string why, std::chrono::nanoseconds pause) {
  if (!why.empty()) last_error_ = std::move(why);
  command.not_before_ = steady_clock::now() + pause;
  next_route_ = std::min(next_route_, command.not_before_);
  unrouted_.push_back(&command);
}

void Client::Fail(Command& command, std::string why) {
  command.failure = std::move(why);
  --left_;
}

void Client::FailAll(const std::string& why) {
  for (Command* const command : unrouted_) Fail(*command, why);
  unrouted_.clear();
  for (auto& [key, node] : nodes_) {
    if (!node->link.idle()) node->link.Close(why);
    for (Command* const command : node->link.TakeUnanswered()) Fail(*command, why);
    for (Command* const command : node->queue) Fail(*command, why);
    node->queue.clear();
    node->working = 0;
  }
  left_ = 0;
}

void Client::Pause(int failures, Time end) {
  end = std::min(end, steady_clock::now() + Backoff(failures));
  for (Time now = steady_clock::now(); now < end && !stop_.stop_requested();
       now = steady_clock::now()) {
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(end - now, kLook));
  }
}

std::chrono::nanoseconds Client::Backoff(int failures) {
  const ServerOptions& options = settings_.options;
  const milliseconds longest = std::min(
      options.max_backoff, options.min_backoff * (int64_t{1} << std::clamp(failures - 1, 0, 20)));
  std::uniform_real_distribution<double> share(0.5, 1.0);
  return std::chrono::duration_cast<std::chrono::nanoseconds>(share(random_) * longest);
}

}  // namespace tamis::redis
