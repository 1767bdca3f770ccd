#include "redis/src/rebuild/rebuild_lease.h"

#include <exception>
#include <span>
#include <vector>

#include "redis/src/client/slot.h"
#include "redis/src/filter/scripts.h"
#include "tamis/detail/str_cat.h"

namespace tamis::redis {

using std::chrono::steady_clock;

bool RebuildLease::Take(const std::string& found, const RebuildRecord& mine,
                        uint64_t former_owner) {
  const std::string key = DescriptorKey(state_.name());
  const std::string rebuild = RebuildKey(state_.name()), lease = LeaseKey(state_.name());
  const std::string former = former_owner == 0 ? "" : HexText(former_owner);
  Command take(SlotOfKey(key), AllScripts().acquire, {key, rebuild, lease},
               {found, RecordText(mine), former, HexText(mine.owner),
                std::to_string(duration_.count()), ExpiryText(state_.descriptor())},
               kSmallReply);
  record_ = mine;
  writes_.UntilDone(0, 1, [&](std::span<const size_t> which) -> std::vector<size_t> {
    renewed_ = steady_clock::now();
    writes_.Run(std::span(&take, 1));
    if (const std::optional<Problem> problem = ProblemOf(take)) state_.Throw(*problem);
    if (take.durable || !take.reply.IsString()) return {};
    return {which.begin(), which.end()};
  });
  const Reply& reply = take.reply;
  if (reply.IsInteger() && reply.integer == kChanged) return false;
  if (reply.IsInteger()) {
    throw Error(ErrorCode::kBusy,
                detail::StrCat("the filter \"", state_.name(),
                               "\" is being rebuilt by another client; its lease ends in ",
                               reply.integer, " ms unless it is renewed"));
  }
  if (!reply.IsString()) {
    state_.Throw({ErrorCode::kCorrupt, "the server returned " + ReplyText(reply)});
  }
  if (reply.text.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "the filter \"" + state_.name() + "\" does not exist");
  }
  const Descriptor descriptor = ParseDescriptor(reply.text);
  if (!state_.IsRebuiltFrom(descriptor)) {
    // Clients of the other filter can end the rebuild that Take has found, so its record stays.
    if (found.empty()) {
      EndRecord();
    } else {
      Release();
    }
    throw Error(ErrorCode::kInvalidArgument, "the filter \"" + state_.name() +
                                                 "\" was removed, and another filter has its name");
  }
  if (descriptor.generation != state_.generation()) state_.Adopt(descriptor);
  return true;
}

void RebuildLease::Renew() {
  const Time begin = steady_clock::now();
  const std::string rebuild = RebuildKey(state_.name()), lease = LeaseKey(state_.name());
  const int64_t renewed = RunForNumber(
      Command(SlotOfKey(rebuild), AllScripts().renew, {rebuild, lease},
              {RecordText(record_), HexText(record_.owner), std::to_string(duration_.count())}, 0));
  if (renewed == kChanged) ThrowTakenOver();
  renewed_ = begin;
}

void RebuildLease::RenewIfDue() {
  if (steady_clock::now() - renewed_ >= duration_ / 3) Renew();
}

void RebuildLease::ReplaceDescriptor(const Descriptor& next) {
  const std::string key = DescriptorKey(state_.name()), rebuild = RebuildKey(state_.name());
  Command replace(SlotOfKey(key), AllScripts().replace, {key, rebuild},
                  {RecordText(record_), DescriptorText(state_.descriptor()), DescriptorText(next)},
                  0);
  writes_.UntilDone(0, 1, [&](std::span<const size_t> which) -> std::vector<size_t> {
    writes_.Run(std::span(&replace, 1));
    if (const std::optional<Problem> problem = ProblemOf(replace)) state_.Throw(*problem);
    if (replace.reply.IsInteger() && replace.reply.integer == kChanged) ThrowTakenOver();
    // No segment may be closed before replicas have the descriptor. Otherwise a failover could lose
    // the descriptor, and no client would find the new generation.
    if (replace.durable) return {};
    return {which.begin(), which.end()};
  });
}

void RebuildLease::EndRecord() {
  const std::string rebuild = RebuildKey(state_.name()), lease = LeaseKey(state_.name());
  RunForNumber(
      Command(SlotOfKey(rebuild), AllScripts().end, {rebuild, lease}, {RecordText(record_)}, 0));
}

void RebuildLease::Release(uint64_t owner) {
  try {
    const std::string lease = LeaseKey(state_.name());
    RunForNumber(Command(SlotOfKey(lease), AllScripts().release, {lease}, {HexText(owner)}, 0));
  } catch (const std::exception&) {
    // The lease expires.
  }
}

std::string RebuildLease::ReadRecord() {
  Command get = GetCommand(RebuildKey(state_.name()));
  const Reply& reply = state_.RunOne(client_, get);
  return reply.IsString() ? reply.text : std::string();
}

std::optional<Descriptor> RebuildLease::ReadDescriptor() {
  Command get = GetCommand(DescriptorKey(state_.name()));
  const Reply& reply = state_.RunOne(client_, get);
  if (reply.type == Reply::Type::kNil) return {};
  return ParseDescriptor(reply.text);
}

int64_t RebuildLease::RunForNumber(Command command) {
  const Reply& reply = state_.RunOne(client_, command);
  if (reply.IsInteger()) return reply.integer;
  state_.Throw({ErrorCode::kCorrupt, "the server returned " + ReplyText(reply)});
}

void RebuildLease::ThrowTakenOver() const {
  throw Error(ErrorCode::kBusy, "the rebuild of the filter \"" + state_.name() +
                                    "\" was ended as abandoned by another client, or the filter "
                                    "was removed");
}

}  // namespace tamis::redis
