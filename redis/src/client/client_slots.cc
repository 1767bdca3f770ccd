// The part of Client that reads the slot map.
#include <poll.h>

#include <algorithm>

#include "redis/src/client/client.h"
#include "redis/src/client/sigpipe.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis::redis {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Limits for the reply with the map. They suffice for a cluster of 1,000 nodes with scattered
// slots.
constexpr size_t kMapBytes = size_t{8} << 20;
constexpr size_t kMapElements = 400'000;
// Minimum time between two inquiries. MOVED replies change the map at once.
constexpr milliseconds kRefreshPause{100};
constexpr milliseconds kRecent{1000};

}  // namespace

const SlotMap& Client::RefreshedMap() {
  const SigpipeBlock no_sigpipe;
  LeaveToParent();
  const Time end = steady_clock::now() + settings_.options.retry_for;
  const uint64_t maps = maps_;
  for (;;) {
    try {
      BeginInquiry(steady_clock::now());
      while (inquiry_) Work();
    } catch (...) {
      Abandon();
      throw;
    }
    if (maps_ != maps) return map_;
    if (refused_ || steady_clock::now() >= end) throw Error(ErrorCode::kUnavailable, last_error_);
    poll(nullptr, 0, static_cast<int>(Backoff(1).count() / 1'000'000));
  }
}

const SlotMap& Client::RecentMap() {
  const bool recent = has_map_ && !stale_ && steady_clock::now() - map_time_ <= kRecent;
  return recent ? map_ : RefreshedMap();
}

void Client::BeginInquiry(Time now) {
  std::vector<Address> known = map_.Nodes();
  std::shuffle(known.begin(), known.end(), random_);
  // Nodes with an open connection come first. The URL comes last. It helps if all nodes have moved.
  std::stable_partition(known.begin(), known.end(), [&](const Address& address) {
    const auto node = nodes_.find({address, false});
    return node != nodes_.end() && node->second->link.is_open();
  });
  if (std::find(known.begin(), known.end(), settings_.url.address) == known.end()) {
    known.push_back(settings_.url.address);
  }
  refused_ = false;
  inquiry_.emplace();
  inquiry_->left.assign(known.begin(), known.end());
  AskNext(now);
}

void Client::AskNext(Time now) {
  if (inquiry_->left.empty()) {
    inquiry_.reset();
    next_refresh_ = now + Backoff(++refresh_failures_);
    return;
  }
  inquiry_->link = std::make_unique<Link>(settings_, inquiry_->left.front(), /*read_only=*/false,
                                          /*in_cluster=*/true);
  inquiry_->left.pop_front();
  AskFor("SHARDS", now);
}

void Client::AskFor(std::string_view what, Time now) {
  if (!inquiry_->link->Open(now)) {
    last_error_ = inquiry_->link->error();
    return AskNext(now);
  }
  inquiry_->command = std::make_unique<Command>(
      0, std::initializer_list<std::string_view>{"CLUSTER", what}, kMapBytes, kMapElements);
  inquiry_->link->Send(*inquiry_->command, /*asking=*/false, /*with_source=*/false);
}

void Client::GoOnAsking(Time now) {
  Link& link = *inquiry_->link;
  std::unique_ptr<Reply> reply;
  link.Work(now);
  if (link.Next(now, reply) != nullptr) return TakeAnswer(*reply, now);
  if (link.is_open()) return;
  last_error_ = link.error();
  refused_ |= link.refused();
  AskNext(now);
}

void Client::TakeAnswer(const Reply& reply, Time now) {
  const Address& address = inquiry_->link->address();
  const bool shards = inquiry_->command->tail().find("SHARDS") != std::string::npos;
  try {
    if (!reply.IsError()) {
      return UseMap(shards ? SlotMap::OfShards(reply, address, settings_.url.tls)
                           : SlotMap::OfSlots(reply, address),
                    /*in_cluster=*/true, now);
    }
    const bool single = reply.text.find("cluster support disabled") != std::string::npos;
    // Redis before version 7 lacks SHARDS.
    if (shards && !single) return AskFor("SLOTS", now);
    if (single || reply.text.starts_with("ERR unknown command")) {
      return UseMap(SlotMap::OfServer(address), /*in_cluster=*/false, now);
    }
    last_error_ = AddressText(address) + ": " + ShownText(reply.text);
    refused_ |= !IsTemporary(reply.text);
  } catch (const Error& error) {
    last_error_ = AddressText(address) + ": " + error.what();
  }
  AskNext(now);
}

void Client::UseMap(SlotMap map, bool in_cluster, Time now) {
  if (in_cluster && settings_.url.database != 0) {
    last_error_ = detail::StrCat("a cluster has no databases, and the URL names number ",
                                 settings_.url.database);
    refused_ = true;
    return AskNext(now);
  }
  map_ = std::move(map);
  in_cluster_ = in_cluster;
  has_map_ = true;
  map_time_ = now;
  refused_ = stale_ = false;
  refresh_failures_ = 0;
  ++maps_;
  next_refresh_ = now + kRefreshPause;
  next_route_ = {};
  inquiry_.reset();
}

}  // namespace tamis::redis
