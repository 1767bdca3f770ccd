#include "redis/src/filter/filter_impl.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "redis/src/client/patience.h"
#include "redis/src/filter/cost.h"
#include "redis/src/filter/scripts.h"
#include "redis/src/filter/segment_state.h"
#include "redis/src/rebuild/rebuild_record.h"
#include "tamis/detail/str_cat.h"
#include "tamis/filters/sizing.h"
#include "tamis/hash_kinds.h"

namespace tamis::redis {
namespace {

using Words = std::initializer_list<std::string_view>;

// Of commands and replies that are in memory at the same time.
constexpr uint64_t kWaveBytes = uint64_t{64} << 20;

Layout LayoutOf(const FilterOptions& options) {
  const double fpr = options.fpr == 0 ? kDefaultFpr : options.fpr;
  if (options.bytes == 0) {
    if (options.capacity == 0) {
      throw Error(ErrorCode::kInvalidArgument, "a filter needs a capacity of at least 1, or bytes");
    }
    return LayoutFor(SplitBlockBlocks(options.capacity, fpr));
  }
  const uint64_t blocks = options.bytes / split_block::kBlockBytes;
  SplitBlockCapacity(blocks, fpr);  // throws for either out of range
  return LayoutFor(blocks);
}

void RequireHash(const HashSpec& hash) {
  const bool known =
      std::find(std::begin(kHashKinds), std::end(kHashKinds), hash.kind) != std::end(kHashKinds);
  if (!known) {
    throw Error(ErrorCode::kInvalidArgument,
                detail::StrCat("there is no hash kind ", static_cast<uint32_t>(hash.kind)));
  }
  if (IsKeyed(hash.kind) && hash.seed != 0) {
    throw Error(ErrorCode::kInvalidArgument, "a keyed hash has a secret, and no seed");
  }
}

uint64_t NowMs() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                   std::chrono::system_clock::now().time_since_epoch())
                                   .count());
}

uint64_t DeadlineMs(const CreateOptions& options) {
  if (!options.deadline) return 0;
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(options.deadline->time_since_epoch());
  if (ms.count() <= 0 || static_cast<uint64_t>(ms.count()) <= NowMs()) {
    throw Error(ErrorCode::kInvalidArgument, "the deadline of a filter is over already");
  }
  return static_cast<uint64_t>(ms.count());
}

}  // namespace

SplitBlockFilter::Impl::Impl(const ServerOptions& servers, std::string_view name,
                             const ClientOptions& options)
    // The name first: a long one is not to be copied.
    : options_((RequireName(name), options)), name_(name), client_(servers) {}

const Reply& SplitBlockFilter::Impl::RunOne(Command& command) {
  client_.Run(std::span(&command, 1));
  if (const std::optional<Problem> problem = ProblemOf(command)) {
    throw Error(problem->code, "the filter \"" + name_ + "\": " + problem->text);
  }
  return command.reply;
}

Command SplitBlockFilter::Impl::StateCommand(uint64_t segment) const {
  const SegmentKey key = KeyOf(segment);
  const StateOffsets at(descriptor_.layout.BytesOf(segment));
  Command command(key.slot, {"GETRANGE", key.text, at.begin, at.end}, kStateWindow);
  command.reads = !masters_only_;
  return command;
}

std::optional<Problem> SplitBlockFilter::Impl::ProblemOfWindow(const Command& command,
                                                               uint64_t segment) const {
  return ProblemOfState(command, descriptor_.generation, descriptor_.layout.BytesOf(segment));
}

void SplitBlockFilter::Impl::RunWrites(std::span<Command> commands) {
  client_.Run(commands);
  if (options_.durable_replicas > 0) client_.AwaitReplicas(commands, options_.durable_replicas);
}

bool SplitBlockFilter::Impl::IsOver() const {
  return descriptor_.deadline != 0 && NowMs() >= descriptor_.deadline;
}

void SplitBlockFilter::Impl::RequireNotOver() const {
  if (!IsOver()) return;
  throw Error(ErrorCode::kUnavailable,
              "the filter \"" + name_ + "\" has reached its deadline, and is to be made anew");
}

void SplitBlockFilter::Impl::InWaves(size_t count, const std::function<uint64_t(size_t)>& cost,
                                     const std::function<void(size_t, size_t)>& run) const {
  for (size_t begin = 0; begin < count;) {
    size_t end = begin;
    for (uint64_t bytes = 0; end < count && (end == begin || bytes <= kWaveBytes); ++end) {
      bytes += cost(end);
    }
    run(begin, end);
    begin = end;
  }
}

bool SplitBlockFilter::Impl::Find() {
  const std::string key = DescriptorKey(name_);
  Command get = GetCommand(key);
  const Reply& reply = RunOne(get);
  if (reply.type == Reply::Type::kNil) return false;
  const std::string which = "the filter \"" + name_ + "\": ";
  if (!reply.IsString()) {
    throw Error(ErrorCode::kCorrupt, which + "its descriptor is " + ReplyText(reply));
  }
  try {
    Adopt(ParseDescriptor(reply.text));
  } catch (const Error& error) {
    throw Error(error.code(), which + error.what());
  }
  hash_ = descriptor_.hash;
  if (!IsKeyed(hash_.kind)) {
    if (options_.secret) throw Error(ErrorCode::kSecret, which + "its hash has no secret");
    return true;
  }
  if (!options_.secret) throw Error(ErrorCode::kSecret, which + "the secret of its hash is needed");
  hash_.secret = *options_.secret;
  if (KeyTag(hash_) != descriptor_.key_tag) {
    throw Error(ErrorCode::kSecret, which + "this is not the secret of its hash");
  }
  return true;
}

void SplitBlockFilter::Impl::RequireExpected(const FilterOptions& expected) const {
  const std::string which = "the filter \"" + name_ + "\" ";
  const uint64_t blocks = LayoutOf(expected).blocks;
  if (blocks != descriptor_.layout.blocks) {
    throw Error(ErrorCode::kIncompatible, detail::StrCat(which, "has ", descriptor_.layout.blocks,
                                                         " blocks, and ", blocks, " are expected"));
  }
  const HashSpec& hash = descriptor_.hash;
  if (expected.hash.kind != hash.kind || expected.hash.seed != hash.seed ||
      KeyTag(expected.hash) != descriptor_.key_tag) {
    throw Error(ErrorCode::kIncompatible,
                detail::StrCat(which, "has the hash ", HashKindName(hash.kind), ", seed ",
                               hash.seed, ", and another one is expected"));
  }
}

void SplitBlockFilter::Impl::Create(const CreateOptions& options) {
  RequireHash(options.filter.hash);
  Descriptor made;
  made.layout = LayoutOf(options.filter);
  made.hash = options.filter.hash;
  made.hash.secret = {};
  made.key_tag = KeyTag(options.filter.hash);
  made.fpr = options.filter.fpr == 0 ? kDefaultFpr : options.filter.fpr;
  made.capacity = options.filter.capacity != 0 ? options.filter.capacity
                                               : SplitBlockCapacity(made.layout.blocks, made.fpr);
  made.deadline = DeadlineMs(options);
  do {
    made.generation = client_.RandomNumber();
  } while (made.generation == 0);  // which as a mark is none
  made.origin = made.generation;

  const std::string key = DescriptorKey(name_);
  const uint32_t slot = SlotOfKey(key);
  const Error exists(ErrorCode::kInvalidArgument, "there is a filter \"" + name_ + "\" already");
  Command get = GetCommand(key);
  if (RunOne(get).type != Reply::Type::kNil) throw exists;

  Adopt(made);
  hash_ = options.filter.hash;
  try {
    const std::string expiry = ExpiryText(made);
    std::vector<Command> commands;
    for (uint64_t s = 0; s < made.layout.segments(); ++s) {
      const SegmentKey segment = KeyOf(s);
      const uint64_t length = made.layout.BytesOf(s);
      const StateOffsets at(length);
      const std::string state = StateText({made.generation, length, 0, client_.RandomNumber()});
      commands.emplace_back(segment.slot, AllScripts().create, Words{segment.text},
                            Words{at.begin, at.end, state, expiry}, kStateWindow);
    }
    client_.Run(commands);
    for (uint64_t s = 0; s < made.layout.segments(); ++s) {
      if (const std::optional<Problem> problem = ProblemOfWindow(commands[s], s)) {
        throw Error(problem->code, "the filter \"" + name_ + "\" cannot be made: " + problem->text);
      }
    }
    // Last, so that who sees it finds all segments.
    const std::string text = DescriptorText(made);
    Command set(slot, {"SET", key, text, "NX"}, kSmallReply);
    if (expiry != "0") {
      set.Append("PXAT");
      set.Append(expiry);
    }
    if (RunOne(set).IsStatus("OK")) return;
    // It may have been set by this very command, if its reply was lost.
    Command look = GetCommand(key);
    const Reply& there = RunOne(look);
    if (!there.IsString() || there.text != text) throw exists;
  } catch (...) {
    Unlink(made.generation);
    throw;
  }
}

// What cannot be reached stays.
void SplitBlockFilter::Impl::Unlink(uint64_t generation) {
  std::vector<Command> commands;
  for (uint64_t s = 0; s < descriptor_.layout.segments(); ++s) {
    const SegmentKey key = KeyOf(s, generation);
    commands.emplace_back(key.slot, Words{"UNLINK", key.text}, 0);
  }
  client_.Run(commands);
}

void SplitBlockFilter::Impl::Drop() {
  const std::string key = DescriptorKey(name_);
  const std::string rebuild = RebuildKey(name_), lease = LeaseKey(name_);
  const uint32_t slot = SlotOfKey(key);
  std::vector<std::string> records(1);
  // First, in case the reply to what removes it is lost.
  Command get = GetCommand(rebuild);
  if (const Reply& reply = RunOne(get); reply.IsString()) records.push_back(reply.text);
  // Only this one: a filter of the same name that was made since then stays.
  Patience patience(client_);
  for (;;) {
    Command drop(slot, AllScripts().drop, {key, rebuild, lease}, {DescriptorText(descriptor_)},
                 kSmallReply);
    const Reply& reply = RunOne(drop);
    if (reply.IsString()) {
      records.push_back(reply.text);
      break;
    }
    // Any pause first: what is read before it is old after it.
    const bool once_more = patience.OnceMore(1);
    if (!ReadDescriptorAgain()) break;
    if (!once_more) Throw(RebuiltAgainAndAgain());
  }
  std::set<uint64_t> generations = {descriptor_.generation};
  for (const std::string& record : records) {
    try {
      if (record.empty()) continue;
      const RebuildRecord parsed = ParseRecord(record);
      generations.insert({parsed.old, parsed.next});
    } catch (const Error&) {
      // Of a version that this one does not know.
    }
  }
  for (const uint64_t generation : generations) Unlink(generation);
}

Command SplitBlockFilter::Impl::GetCommand(const std::string& key) const {
  return Command(SlotOfKey(key), {"GET", key}, kSmallReply);
}

// The commands run one after the other, because the order of commands in one batch is not fixed.
// A script cannot replace them: a user without the right to write asks this, too. Nor can MGET: it
// answers "missing" for a key of another type.
RebuildState SplitBlockFilter::Impl::RebuildStateOf(const Command& record) {
  const auto is_missing = [](const Command& get) {
    return get.answered && get.reply.type == Reply::Type::kNil;
  };
  const auto is_there = [](const Command& get) { return get.answered && get.reply.IsString(); };
  if (is_missing(record)) return RebuildState::kNone;
  if (!is_there(record)) return RebuildState::kUnknown;
  Command lease = GetCommand(LeaseKey(name_));
  client_.Run(std::span(&lease, 1));
  if (is_there(lease)) return RebuildState::kRunning;
  if (!is_missing(lease)) return RebuildState::kUnknown;
  // Both end at once, and another may have begun.
  Command again = GetCommand(RebuildKey(name_));
  client_.Run(std::span(&again, 1));
  if (is_missing(again)) return RebuildState::kNone;
  if (!is_there(again)) return RebuildState::kUnknown;
  return again.reply.text == record.reply.text ? RebuildState::kAbandoned : RebuildState::kRunning;
}

Info SplitBlockFilter::Impl::GetInfo() {
  for (Patience patience(client_);;) {
    std::optional<Problem> problem;
    Info info = LookAtAll(problem);
    if (!problem) return info;
    const bool once_more = patience.OnceMore(1);
    std::optional<Problem> unread;  // then what is known is told
    if (!ReadDescriptorAgain(unread)) return info;
    if (once_more) continue;
    if (info.problem == problem->text) info.problem = RebuiltAgainAndAgain().text;
    return info;
  }
}

Info SplitBlockFilter::Impl::LookAtAll(std::optional<Problem>& problem) {
  const Layout& layout = descriptor_.layout;
  Info info;
  info.blocks = layout.blocks;
  info.bytes = layout.bytes();
  info.capacity = descriptor_.capacity;
  info.fpr = descriptor_.fpr;
  info.hash = descriptor_.hash;
  info.generation = descriptor_.generation;
  info.segments = layout.segments();
  info.segment_bytes = layout.segment_bytes();
  if (descriptor_.deadline != 0) {
    // Of one that no clock can show, the last that it can.
    constexpr auto kLast = std::chrono::system_clock::time_point::max();
    const uint64_t last = static_cast<uint64_t>(
        std::chrono::floor<std::chrono::milliseconds>(kLast.time_since_epoch()).count());
    info.deadline = std::chrono::system_clock::time_point(
        std::chrono::milliseconds(std::min(descriptor_.deadline, last)));
  }

  std::vector<Command> commands;
  for (uint64_t s = 0; s < info.segments; ++s) {
    const SegmentKey key = KeyOf(s);
    commands.push_back(StateCommand(s));
    commands.emplace_back(key.slot, Words{"MEMORY", "USAGE", key.text, "SAMPLES", "0"}, 0);
  }
  commands.push_back(GetCommand(RebuildKey(name_)));
  client_.Run(commands);
  for (uint64_t s = 0; s < info.segments; ++s) {
    const Command& usage = commands[2 * s + 1];
    const bool nothing = usage.reply.type == Reply::Type::kNil;  // the key is not there
    if (usage.answered && (nothing || usage.reply.IsInteger()) && usage.reply.integer >= 0) {
      ++info.measured_segments;
      const auto bytes = static_cast<uint64_t>(usage.reply.integer);
      info.server_bytes +=
          std::min(bytes, std::numeric_limits<uint64_t>::max() - info.server_bytes);
    }
    if (std::optional<Problem> bad = ProblemOfWindow(commands[2 * s], s)) {
      ++info.bad_segments;
      bad->text.insert(0, InSegment(s));
      if (info.problem.empty()) info.problem = bad->text;
      if (bad->remedy == Remedy::kDescriptor && !problem) problem = std::move(bad);
    }
  }
  info.rebuild = RebuildStateOf(commands.back());
  const SlotMap& map = client_.RefreshedMap();
  for (const SlotMap::Share& share : map.Shares()) {
    Info::Node node{AddressText(share.master), 0};
    for (uint64_t s = 0; s < info.segments; ++s) {
      const Address* const master = map.MasterOf(layout.SlotOf(s));
      if (master != nullptr && *master == share.master) ++node.segments;
    }
    info.nodes.push_back(std::move(node));
  }
  return info;
}

RoutePlan SplitBlockFilter::Impl::PlanRoute(Operation operation, uint64_t keys) const {
  return redis::PlanRoute(descriptor_.layout, operation, std::min<uint64_t>(keys, kMaxBatch),
                          options_.route);
}

}  // namespace tamis::redis
