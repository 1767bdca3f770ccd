#include "redis/src/rebuild/rebuilder.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tamis/detail/str_cat.h"

namespace tamis::redis {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kAcquireAttempts = 16;
constexpr milliseconds kMaxRebuildOption = std::chrono::hours(24);
constexpr milliseconds kGracePause{20};

// Upper bounds for a portion of segments: count and bytes.
constexpr uint64_t kMaxPortion = 16;
constexpr uint64_t kPortionBytes = uint64_t{32} << 20;

void RequireRebuildRange(milliseconds value, milliseconds min, const char* name) {
  if (value >= min && value <= kMaxRebuildOption) return;
  throw Error(ErrorCode::kInvalidArgument,
              detail::StrCat(name, " is ", value.count(), " ms, out of range [", min.count(), ", ",
                             kMaxRebuildOption.count(), "]"));
}

}  // namespace

Rebuilder::Rebuilder(SplitBlockFilter& filter, const RebuildOptions& options,
                     const std::stop_token& stop)
    : state_(filter.impl().state),
      client_(filter.impl().client),
      options_(options),
      stop_(stop),
      writes_(state_, client_, filter.impl().options.durable_replicas),
      lease_(state_, client_, writes_, options.lease),
      parts_(state_, client_, filter.impl().commands, writes_, lease_) {
  RequireRebuildRange(options.lease, milliseconds(1), "lease");
  RequireRebuildRange(options.grace, milliseconds(0), "grace");
}

RebuildResult Rebuilder::Run(const RebuildSource& source) {
  if (!source) throw Error(ErrorCode::kInvalidArgument, "the source of the rebuild is empty");
  state_.RequireNotOver();
  client_.RefreshedMap();
  SplitBlockBloomFilter local = state_.MakeLocal(options_.memory);
  RebuildResult result;
  try {
    result.ended_abandoned = Acquire(/*begin_one=*/true);
  } catch (...) {
    lease_.Release();
    throw;
  }
  try {
    InPortions(RebuildStep::kMark, [&](auto which) { return parts_.MakeNext(which); });
    std::vector<uint64_t> marks(segments(), 0);
    InPortions(RebuildStep::kMark, [&](auto which) { return parts_.MarkOld(which, marks); });
    Report(RebuildStep::kFill, 0, 0);
    lease_.Renew();
    RebuildInserter inserter(*this, local, stop_);
    source(inserter);
    result.keys = inserter.keys_;
    InPortions(RebuildStep::kMerge, [&](auto which) { return parts_.Merge(local, which); });
    Report(RebuildStep::kSwitch, 0, segments());
    lease_.Renew();
    Switch();
  } catch (const Error& error) {
    GiveUp();
    if (switched_) ThrowInPlace(error);
    throw;
  } catch (const std::bad_alloc&) {
    GiveUp();
    if (switched_) ThrowInPlace(Error(ErrorCode::kOutOfMemory, "out of memory"));
    throw;
  } catch (...) {
    GiveUp();
    throw;
  }
  try {
    Finish();
  } catch (const Error& error) {
    lease_.Release();
    ThrowInPlace(error);
  } catch (const std::bad_alloc&) {
    lease_.Release();
    ThrowInPlace(Error(ErrorCode::kOutOfMemory, "out of memory"));
  } catch (...) {
    lease_.Release();
    throw;
  }
  result.generation = state_.generation();
  return result;
}

bool Rebuilder::EndAbandoned() {
  client_.RefreshedMap();
  try {
    return Acquire(/*begin_one=*/false);
  } catch (...) {
    lease_.Release();
    throw;
  }
}

void Rebuilder::GoOn(uint64_t keys, uint64_t total) {
  Report(RebuildStep::kFill, keys, total);
  lease_.RenewIfDue();
}

void Rebuilder::Report(RebuildStep step, uint64_t done, uint64_t total) {
  if (options_.on_progress) options_.on_progress({step, done, total});
  if (stop_.stop_requested() && !switched_) {
    throw Error(ErrorCode::kCancelled,
                "the rebuild of the filter \"" + state_.name() + "\" was cancelled");
  }
}

bool Rebuilder::Acquire(bool begin_one) {
  bool ended = false;
  for (int attempt = 0; attempt < kAcquireAttempts; ++attempt) {
    const std::string found = lease_.ReadRecord();
    if (found.empty() && !begin_one) return ended;
    RebuildRecord mine;
    if (found.empty()) {
      mine.old = state_.generation();
      mine.next = NewGeneration();
    } else {
      mine = ParseRecord(found);
    }
    mine.owner = client_.RandomNumber();
    if (!lease_.Take(found, mine)) continue;
    if (!found.empty()) {
      EndTaken();
      ended = true;
    } else if (state_.generation() == mine.old) {
      return ended;
    } else {
      lease_.EndRecord();  // Take has found that the filter was rebuilt
    }
  }
  throw Error(ErrorCode::kBusy,
              "the filter \"" + state_.name() + "\" is rebuilt by other clients again and again");
}

void Rebuilder::EndTaken() {
  const RebuildRecord& record = lease_.record();
  const bool switched = state_.generation() == record.next;
  // A closed segment shows that the switch happened, even if a failover has lost the new
  // descriptor.
  if (switched || parts_.SomeAreClosed()) {
    if (!switched) Switch();
    Finish();
    switched_ = false;
    return;
  }
  if (state_.generation() == record.old) parts_.RollBack();
  lease_.EndRecord();
}

// The last commands may still reach the servers. So GiveUp first registers a new owner. Commands of
// the former owner then have no effect.
void Rebuilder::GiveUp() {
  const RebuildRecord was = lease_.record();
  try {
    RebuildRecord mine = was;
    mine.owner = client_.RandomNumber();
    if (lease_.Take(RecordText(was), mine, was.owner)) {
      switched_ = state_.generation() == was.next || parts_.SomeAreClosed();
      if (switched_) return lease_.Release();
      parts_.RollBack();
      return lease_.EndRecord();
    }
    // Another client has taken over, or has removed the filter. If that client continues with the
    // next generation, or if this is unknown, changes nothing.
    const std::string found = lease_.ReadRecord();
    if (!found.empty() && ParseRecord(found).next == was.next) return;
    const std::optional<Descriptor> now = lease_.ReadDescriptor();
    switched_ = now && now->generation == was.next;
    if (switched_) return state_.Adopt(*now);
    parts_.RollBack();
  } catch (const std::exception&) {
    // This rebuild stays unfinished. The next rebuild ends it.
    lease_.Release();
    lease_.Release(was.owner);  // if Take has failed
  }
}

void Rebuilder::Switch() {
  Descriptor next = state_.descriptor();
  next.generation = lease_.record().next;
  lease_.ReplaceDescriptor(next);
  state_.Adopt(next);
  switched_ = true;
}

void Rebuilder::Finish() {
  InPortions(RebuildStep::kClose, [&](auto which) { return parts_.Close(which); });
  AwaitGrace();
  InPortions(RebuildStep::kRemove, [&](auto which) { return parts_.Remove(which); });
  lease_.EndRecord();
}

void Rebuilder::AwaitGrace() {
  const Time end = steady_clock::now() + options_.grace;
  while (steady_clock::now() < end && !stop_.stop_requested()) {
    lease_.RenewIfDue();
    std::this_thread::sleep_for(kGracePause);
  }
}

void Rebuilder::ThrowInPlace(const Error& error) {
  throw Error(error.code(), std::string(error.what()) +
                                "; the new generation is in place, and the next rebuild removes "
                                "the rest of the old one");
}

void Rebuilder::InPortions(RebuildStep step, const ReplicatedWrites::Part& part) {
  const uint64_t bytes = state_.layout().segment_bytes();
  const uint64_t portion = std::clamp<uint64_t>(kPortionBytes / bytes, 1, kMaxPortion);
  for (uint64_t begin = 0; begin < segments(); begin += portion) {
    Report(step, begin, segments());
    lease_.Renew();
    writes_.UntilDone(begin, std::min(segments(), begin + portion), part);
  }
  Report(step, segments(), segments());
}

uint64_t Rebuilder::NewGeneration() {
  for (;;) {
    const uint64_t generation = client_.RandomNumber();
    if (generation != 0 && generation != state_.generation()) return generation;
  }
}

}  // namespace tamis::redis
