#include "redis/src/rebuild/rebuilder.h"

#include <algorithm>
#include <new>
#include <utility>

#include "redis/src/client/slot.h"
#include "redis/src/filter/scripts.h"
#include "redis/src/filter/segment_state.h"
#include "tamis/detail/str_cat.h"

namespace tamis::redis {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kAcquireAttempts = 16;
constexpr milliseconds kMaxRebuildOption = std::chrono::hours(24);

void RequireRebuildRange(milliseconds value, milliseconds min, const char* name) {
  if (value >= min && value <= kMaxRebuildOption) return;
  throw Error(ErrorCode::kInvalidArgument,
              detail::StrCat(name, " is ", value.count(), " ms, out of range [", min.count(), ", ",
                             kMaxRebuildOption.count(), "]"));
}

}  // namespace

Rebuilder::Rebuilder(SplitBlockFilter& filter, const RebuildOptions& options,
                     const std::stop_token& stop)
    : impl_(filter.impl()), options_(options), stop_(stop) {
  RequireRebuildRange(options.lease, milliseconds(1), "lease");
  RequireRebuildRange(options.grace, milliseconds(0), "grace");
}

RebuildResult Rebuilder::Run(const RebuildSource& source) {
  if (!source) throw Error(ErrorCode::kInvalidArgument, "a rebuild needs a source");
  impl_.RequireNotOver();
  impl_.client_.RefreshedMap();
  SplitBlockBloomFilter local = impl_.MakeLocal(options_.memory);
  RebuildResult result;
  try {
    result.ended_abandoned = Acquire(/*begin_one=*/true);
  } catch (...) {
    Release();
    throw;
  }
  try {
    MakeNext();
    MarkOld();
    Report(RebuildStep::kFill, 0, 0);
    Renew();
    RebuildInserter inserter(*this, local, stop_);
    source(inserter);
    result.keys = inserter.keys_;
    Merge(local);
    Report(RebuildStep::kSwitch, 0, segments());
    Renew();
    Switch();
  } catch (const Error& error) {
    GiveUp();
    if (switched_) ThrowInPlace(error);
    throw;
  } catch (const std::bad_alloc&) {
    GiveUp();
    if (switched_) ThrowInPlace(Error(ErrorCode::kOutOfMemory, "there is no memory left"));
    throw;
  } catch (...) {
    GiveUp();
    throw;
  }
  try {
    Finish();
  } catch (const Error& error) {
    Release();
    ThrowInPlace(error);
  } catch (const std::bad_alloc&) {
    Release();
    ThrowInPlace(Error(ErrorCode::kOutOfMemory, "there is no memory left"));
  } catch (...) {
    Release();
    throw;
  }
  result.generation = impl_.descriptor().generation;
  return result;
}

bool Rebuilder::EndAbandoned() {
  impl_.client_.RefreshedMap();
  try {
    return Acquire(/*begin_one=*/false);
  } catch (...) {
    Release();
    throw;
  }
}

void Rebuilder::GoOn(uint64_t keys, uint64_t total) {
  Report(RebuildStep::kFill, keys, total);
  RenewIfDue();
}

void Rebuilder::Report(RebuildStep step, uint64_t done, uint64_t total) {
  if (options_.on_progress) options_.on_progress({step, done, total});
  if (stop_.stop_requested() && !switched_) {
    throw Error(ErrorCode::kCancelled,
                "the rebuild of the filter \"" + impl_.name() + "\" was cancelled");
  }
}

// ---- Ownership ----

bool Rebuilder::Acquire(bool begin_one) {
  bool ended = false;
  for (int attempt = 0; attempt < kAcquireAttempts; ++attempt) {
    const std::string found = ReadRecord();
    if (found.empty() && !begin_one) return ended;
    RebuildRecord mine;
    if (found.empty()) {
      mine.old = impl_.descriptor().generation;
      mine.next = NewGeneration();
    } else {
      mine = ParseRecord(found);
    }
    mine.owner = impl_.client_.RandomNumber();
    if (Take(found, mine) == Taken::kLost) continue;
    if (!found.empty()) {
      EndTaken();
      ended = true;
    } else if (impl_.descriptor().generation == mine.old) {
      return ended;
    } else {
      EndRecord();  // the filter had been rebuilt, which is known here only now
    }
  }
  throw Error(ErrorCode::kBusy, "the filter \"" + impl_.name() + "\" is rebuilt by other clients");
}

Rebuilder::Taken Rebuilder::Take(const std::string& found, const RebuildRecord& mine,
                                 uint64_t my_former_owner) {
  const std::string key = DescriptorKey(impl_.name());
  const std::string rebuild = RebuildKey(impl_.name()), lease = LeaseKey(impl_.name());
  const std::string text = RecordText(mine), owner = HexText(mine.owner);
  const std::string former = my_former_owner == 0 ? "" : HexText(my_former_owner);
  Command take(SlotOfKey(key), AllScripts().acquire, {key, rebuild, lease},
               {found, text, former, owner, std::to_string(options_.lease.count()),
                ExpiryText(impl_.descriptor())},
               kSmallReply);
  record_ = mine;
  UntilDone(0, 1, [&](std::span<const size_t> which) -> std::vector<size_t> {
    renewed_ = steady_clock::now();
    RunDurably(std::span(&take, 1));
    if (const std::optional<Problem> problem = ProblemOf(take)) impl_.Throw(*problem);
    if (take.durable || !take.reply.IsString()) return {};
    return {which.begin(), which.end()};
  });
  const Reply& reply = take.reply;
  if (reply.IsInteger() && reply.integer == kChanged) return Taken::kLost;
  if (reply.IsInteger()) {
    throw Error(ErrorCode::kBusy,
                detail::StrCat("the filter \"", impl_.name(),
                               "\" is being rebuilt by another client, whose lease ends in ",
                               reply.integer, " ms if it is gone"));
  }
  if (!reply.IsString()) {
    impl_.Throw({ErrorCode::kCorrupt, "the server gives " + ReplyText(reply)});
  }
  if (reply.text.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "there is no filter \"" + impl_.name() + "\"");
  }
  const Descriptor descriptor = ParseDescriptor(reply.text);
  if (!impl_.IsRebuiltFrom(descriptor)) {
    EndRecord();
    throw Error(
        ErrorCode::kInvalidArgument,
        "the filter \"" + impl_.name() + "\" was removed, and there is another of its name");
  }
  if (descriptor.generation != impl_.descriptor().generation) impl_.Adopt(descriptor);
  return Taken::kYes;
}

std::string Rebuilder::ReadRecord() {
  const std::string rebuild = RebuildKey(impl_.name());
  Command get(SlotOfKey(rebuild), {"GET", rebuild}, kSmallReply);
  const Reply& reply = impl_.RunOne(get);
  return reply.IsString() ? reply.text : std::string();
}

std::optional<Descriptor> Rebuilder::ReadDescriptor() {
  const std::string key = DescriptorKey(impl_.name());
  Command get(SlotOfKey(key), {"GET", key}, kSmallReply);
  const Reply& reply = impl_.RunOne(get);
  if (reply.type == Reply::Type::kNil) return {};
  return ParseDescriptor(reply.text);
}

int64_t Rebuilder::RunForNumber(Command command) {
  const Reply& reply = impl_.RunOne(command);
  if (reply.IsInteger()) return reply.integer;
  impl_.Throw({ErrorCode::kCorrupt, "the server gives " + ReplyText(reply)});
}

void Rebuilder::Renew() {
  const Time begin = steady_clock::now();
  const std::string rebuild = RebuildKey(impl_.name()), lease = LeaseKey(impl_.name());
  const int64_t renewed = RunForNumber(
      Command(SlotOfKey(rebuild), AllScripts().renew, {rebuild, lease},
              {Mine(), HexText(record_.owner), std::to_string(options_.lease.count())}, 0));
  if (renewed == kChanged) ThrowTakenOver();
  renewed_ = begin;
}

void Rebuilder::RenewIfDue() {
  if (steady_clock::now() - renewed_ >= options_.lease / 3) Renew();
}

void Rebuilder::EndRecord() {
  const std::string rebuild = RebuildKey(impl_.name()), lease = LeaseKey(impl_.name());
  RunForNumber(Command(SlotOfKey(rebuild), AllScripts().end, {rebuild, lease}, {Mine()}, 0));
}

void Rebuilder::EndTaken() {
  const uint64_t generation = impl_.descriptor().generation;
  const bool switched = generation == record_.next;
  // Closed ones tell of a switch that a server has lost by a failover.
  if (switched || SomeAreClosed()) {
    if (!switched) Switch();
    Finish();
    switched_ = false;
  } else if (generation == record_.old) {
    RollBack();
    EndRecord();
  } else {
    EndRecord();
  }
}

// The servers may not have got the last commands yet: they are kept from what they would do by
// another owner, before anything is decided.
void Rebuilder::GiveUp() {
  const RebuildRecord was = record_;
  try {
    RebuildRecord mine = was;
    mine.owner = impl_.client_.RandomNumber();
    if (Take(RecordText(was), mine, was.owner) == Taken::kYes) {
      switched_ = impl_.descriptor().generation == was.next || SomeAreClosed();
      if (switched_) return Release();
      RollBack();
      return EndRecord();
    }
    // Others have taken over, or removed the filter. What they go on with stays, also if a server
    // has lost the descriptor that says so; and all does if it is not known.
    const std::string found = ReadRecord();
    if (!found.empty() && ParseRecord(found).next == was.next) return;
    const std::optional<Descriptor> now = ReadDescriptor();
    switched_ = now && now->generation == was.next;
    if (switched_) return impl_.Adopt(*now);
    RollBack();
  } catch (const std::exception&) {
    Release();  // the next rebuild ends it
  }
}

void Rebuilder::Release() {
  try {
    const std::string lease = LeaseKey(impl_.name());
    RunForNumber(
        Command(SlotOfKey(lease), AllScripts().release, {lease}, {HexText(record_.owner)}, 0));
  } catch (const std::exception&) {
    // It ends by itself.
  }
}

void Rebuilder::ThrowTakenOver() const {
  throw Error(ErrorCode::kBusy, "the rebuild of the filter \"" + impl_.name() +
                                    "\" was taken for abandoned and ended by another client, or "
                                    "the filter was removed");
}

void Rebuilder::ThrowInPlace(const Error& error) const {
  throw Error(error.code(), std::string(error.what()) +
                                "; the new generation is in place, and the next rebuild removes "
                                "what is left of the old one");
}

// ---- Parts ----

void Rebuilder::InPortions(RebuildStep step, const Part& part) {
  const uint64_t bytes = impl_.descriptor().layout.segment_bytes();
  const uint64_t portion = std::clamp<uint64_t>(kPortionBytes / bytes, 1, kMaxPortion);
  for (uint64_t begin = 0; begin < segments(); begin += portion) {
    Report(step, begin, segments());
    Renew();
    UntilDone(begin, std::min(segments(), begin + portion), part);
  }
  Report(step, segments(), segments());
}

void Rebuilder::UntilDone(size_t begin, size_t end, const Part& part) {
  std::vector<size_t> left;
  for (size_t s = begin; s < end; ++s) left.push_back(s);
  const Time last = steady_clock::now() + impl_.client_.options().retry_for;
  while (!(left = part(left)).empty()) {
    if (steady_clock::now() >= last) {
      impl_.Throw({ErrorCode::kNotDurable, "not all replicas get what a rebuild writes"});
    }
    impl_.client_.RefreshedMap();
  }
}

void Rebuilder::RunDurably(std::span<Command> commands) {
  impl_.client_.Run(commands);
  impl_.client_.RecentMap();  // for the replicas, which may be more by now
  impl_.client_.AwaitReplicas(commands, impl_.options_.durable_replicas, /*all_known=*/true);
}

uint64_t Rebuilder::NewGeneration() {
  for (;;) {
    const uint64_t generation = impl_.client_.RandomNumber();
    if (generation != 0 && generation != impl_.descriptor().generation) return generation;
  }
}

void Rebuilder::ThrowIn(uint64_t segment, const Problem& problem) const {
  impl_.Throw({problem.code, InSegment(segment) + problem.text});
}

}  // namespace tamis::redis
