#include "redis/src/filter/admin.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "redis/src/client/slot.h"
#include "redis/src/filter/scripts.h"
#include "redis/src/rebuild/rebuild_record.h"
#include "tamis/detail/str_cat.h"
#include "tamis/filters/sizing.h"
#include "tamis/hash_kinds.h"

namespace tamis::redis {
namespace {

Layout LayoutOfBlocks(uint64_t blocks) {
  if (blocks > split_block::kMaxBlocks32) {
    throw Error(ErrorCode::kInvalidArgument,
                tamis::detail::StrCat("a filter of ", blocks, " blocks; allowed on servers: [1, ",
                                      split_block::kMaxBlocks32, "]"));
  }
  return LayoutFor(blocks);
}

Layout LayoutOf(const FilterOptions& options) {
  const double fpr = options.fpr == 0 ? kDefaultFpr : options.fpr;
  if (options.bytes == 0) {
    if (options.capacity == 0) {
      throw Error(ErrorCode::kInvalidArgument,
                  "a filter needs a capacity of at least 1, or a number of bytes");
    }
    return LayoutOfBlocks(SplitBlockBlocks(options.capacity, fpr));
  }
  const uint64_t blocks = options.bytes / split_block::kBlockBytes;
  SplitBlockCapacity(blocks, fpr);  // throws if either is out of range
  return LayoutOfBlocks(blocks);
}

void RequireHash(const HashSpec& hash) {
  const bool known =
      std::find(std::begin(kHashKinds), std::end(kHashKinds), hash.kind) != std::end(kHashKinds);
  if (!known) {
    throw Error(ErrorCode::kInvalidArgument,
                detail::StrCat("unknown hash kind ", static_cast<uint32_t>(hash.kind)));
  }
  if (IsKeyed(hash.kind) && hash.seed != 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "a keyed hash has a secret instead of a seed; the seed must be 0");
  }
}

uint64_t DeadlineMs(const CreateOptions& options) {
  if (!options.deadline) return 0;
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(options.deadline->time_since_epoch());
  if (ms.count() <= 0 || static_cast<uint64_t>(ms.count()) <= NowMs()) {
    throw Error(ErrorCode::kInvalidArgument, "the deadline of the filter has passed");
  }
  return static_cast<uint64_t>(ms.count());
}

}  // namespace

bool Admin::Find(const std::optional<HashSecret>& secret) {
  Command get = GetCommand(DescriptorKey(state_.name()));
  const Reply& reply = state_.RunOne(client_, get);
  if (reply.type == Reply::Type::kNil) return false;
  const std::string which = "the filter \"" + state_.name() + "\": ";
  if (!reply.IsString()) {
    throw Error(ErrorCode::kCorrupt, which + "its descriptor is " + ReplyText(reply));
  }
  try {
    state_.Adopt(ParseDescriptor(reply.text));
  } catch (const Error& error) {
    throw Error(error.code(), which + error.what());
  }
  HashSpec hash = state_.descriptor().hash;
  if (IsKeyed(hash.kind)) {
    if (!secret) throw Error(ErrorCode::kSecret, which + "its hash requires a secret");
    hash.secret = *secret;
    if (KeyTag(hash) != state_.descriptor().key_tag) {
      throw Error(ErrorCode::kSecret, which + "the secret differs from the secret of its hash");
    }
  } else if (secret) {
    throw Error(ErrorCode::kSecret, which + "its hash has no secret");
  }
  state_.set_hash(hash);
  return true;
}

void Admin::RequireExpected(const FilterOptions& expected) const {
  const std::string which = "the filter \"" + state_.name() + "\" ";
  const uint64_t blocks = LayoutOf(expected).blocks;
  if (blocks != state_.layout().blocks) {
    throw Error(ErrorCode::kIncompatible, detail::StrCat(which, "has ", state_.layout().blocks,
                                                         " blocks, but ", blocks, " are expected"));
  }
  const HashSpec& hash = state_.descriptor().hash;
  if (expected.hash.kind != hash.kind || expected.hash.seed != hash.seed ||
      KeyTag(expected.hash) != state_.descriptor().key_tag) {
    throw Error(ErrorCode::kIncompatible,
                detail::StrCat(which, "has the hash ", HashKindName(hash.kind), ", seed ",
                               hash.seed, ", but another hash is expected"));
  }
}

void Admin::Create(const CreateOptions& options) {
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
  } while (made.generation == 0);  // 0 as a mark means "none"
  made.origin = made.generation;

  const std::string key = DescriptorKey(state_.name());
  const uint32_t slot = SlotOfKey(key);
  const Error exists(ErrorCode::kInvalidArgument,
                     "the filter \"" + state_.name() + "\" already exists");
  Command get = GetCommand(key);
  if (state_.RunOne(client_, get).type != Reply::Type::kNil) throw exists;

  state_.Adopt(made);
  state_.set_hash(options.filter.hash);
  try {
    CreateSegments();
    // The descriptor comes last, so that a client that reads it finds all segments.
    const std::string text = DescriptorText(made);
    Command set(slot, {"SET", key, text, "NX"}, kSmallReply);
    if (const std::string expiry = ExpiryText(made); expiry != "0") {
      set.Append("PXAT");
      set.Append(expiry);
    }
    if (state_.RunOne(client_, set).IsStatus("OK")) return;
    // The command is sent again if its reply was lost. So it may have set the descriptor itself.
    Command look = GetCommand(key);
    const Reply& there = state_.RunOne(client_, look);
    if (!there.IsString() || there.text != text) throw exists;
  } catch (...) {
    Unlink(made.generation);
    throw;
  }
}

void Admin::CreateSegments() {
  const uint64_t segments = state_.layout().segments();
  std::vector<Command> commands;
  for (uint64_t s = 0; s < segments; ++s) {
    commands.push_back(commands_.Create(s, state_.generation(), 0, client_.RandomNumber()));
  }
  client_.Run(commands);
  for (uint64_t s = 0; s < segments; ++s) {
    if (const std::optional<Problem> problem = commands_.ProblemOfState(commands[s], s)) {
      throw Error(problem->code,
                  "the filter \"" + state_.name() + "\" cannot be created: " + problem->text);
    }
  }
}

void Admin::Unlink(uint64_t generation) {
  std::vector<Command> commands;
  for (uint64_t s = 0; s < state_.layout().segments(); ++s) {
    commands.push_back(commands_.Unlink(s, generation));
  }
  client_.Run(commands);
}

void Admin::Drop() {
  const std::string key = DescriptorKey(state_.name());
  const std::string rebuild = RebuildKey(state_.name()), lease = LeaseKey(state_.name());
  const uint32_t slot = SlotOfKey(key);
  std::vector<std::string> records(1);
  // The record is read before the script removes it, in case the reply to the script is lost.
  Command get = GetCommand(rebuild);
  if (const Reply& reply = state_.RunOne(client_, get); reply.IsString())
    records.push_back(reply.text);
  // The script compares the descriptor, so that it does not remove a newer filter of the same name.
  for (Patience patience = retry_.NewPatience();;) {
    Command drop(slot, AllScripts().drop, {key, rebuild, lease},
                 {DescriptorText(state_.descriptor())}, kSmallReply);
    const Reply& reply = state_.RunOne(client_, drop);
    if (reply.IsString()) {
      records.push_back(reply.text);
      break;
    }
    // Pauses first: a descriptor that was read before the pause could be out of date after it.
    const bool once_more = patience.OnceMore(1);
    if (!retry_.ReadDescriptorAgain()) break;
    if (!once_more) state_.Throw(RebuiltAgainAndAgain());
  }
  const uint64_t current = state_.generation();
  std::set<uint64_t> generations = {current};
  for (const std::string& record : records) {
    try {
      if (record.empty()) continue;
      const RebuildRecord parsed = ParseRecord(record);
      // A record without the current generation belongs to a newer filter of the same name.
      if (parsed.old != current && parsed.next != current) continue;
      generations.insert({parsed.old, parsed.next});
    } catch (const Error&) {
      // A record of another version. The generations in it are unknown.
    }
  }
  for (const uint64_t generation : generations) Unlink(generation);
}

// The commands run one after the other, because the order of commands in one batch is not fixed. A
// script cannot replace them, because GetInfo must work for users without the right to write. MGET
// cannot either, because it returns nil for a key of another type.
RebuildState Admin::RebuildStateOf(const Command& record) {
  const auto is_missing = [](const Command& get) {
    return get.answered && get.reply.type == Reply::Type::kNil;
  };
  const auto is_there = [](const Command& get) { return get.answered && get.reply.IsString(); };
  if (is_missing(record)) return RebuildState::kNone;
  if (!is_there(record)) return RebuildState::kUnknown;
  Command lease = GetCommand(LeaseKey(state_.name()));
  client_.Run(std::span(&lease, 1));
  if (is_there(lease)) return RebuildState::kRunning;
  if (!is_missing(lease)) return RebuildState::kUnknown;
  // The rebuild may have ended before the lease was read, and another one may have begun since.
  Command again = GetCommand(RebuildKey(state_.name()));
  client_.Run(std::span(&again, 1));
  if (is_missing(again)) return RebuildState::kNone;
  if (!is_there(again)) return RebuildState::kUnknown;
  return again.reply.text == record.reply.text ? RebuildState::kAbandoned : RebuildState::kRunning;
}

Info Admin::GetInfo() {
  for (Patience patience = retry_.NewPatience();;) {
    std::optional<Problem> problem;
    Info info = LookAtAll(problem);
    if (!problem) return info;
    const bool once_more = patience.OnceMore(1);
    std::optional<Problem> unread;  // ignored: `info` is the best answer then
    if (!retry_.ReadDescriptorAgain(unread)) return info;
    if (once_more) continue;
    if (info.problem == problem->text) info.problem = RebuiltAgainAndAgain().text;
    return info;
  }
}

Info Admin::LookAtAll(std::optional<Problem>& problem) {
  const Descriptor& descriptor = state_.descriptor();
  const Layout& layout = descriptor.layout;
  Info info;
  info.blocks = layout.blocks;
  info.bytes = layout.bytes();
  info.capacity = descriptor.capacity;
  info.fpr = descriptor.fpr;
  info.hash = descriptor.hash;
  info.generation = descriptor.generation;
  info.segments = layout.segments();
  info.segment_bytes = layout.segment_bytes();
  if (descriptor.deadline != 0) {
    // A deadline beyond the range of the clock becomes the last time that the clock can show.
    constexpr auto kLast = std::chrono::system_clock::time_point::max();
    const uint64_t last = static_cast<uint64_t>(
        std::chrono::floor<std::chrono::milliseconds>(kLast.time_since_epoch()).count());
    info.deadline = std::chrono::system_clock::time_point(
        std::chrono::milliseconds(std::min(descriptor.deadline, last)));
  }

  std::vector<Command> commands;
  for (uint64_t s = 0; s < info.segments; ++s) {
    const SegmentKey key = state_.KeyOf(s);
    commands.push_back(commands_.ReadState(s));
    commands.push_back(Command(key.slot, {"MEMORY", "USAGE", key.text, "SAMPLES", "0"}, 0));
  }
  commands.push_back(GetCommand(RebuildKey(state_.name())));
  client_.Run(commands);
  for (uint64_t s = 0; s < info.segments; ++s) {
    const Command& usage = commands[2 * s + 1];
    const bool nothing = usage.reply.type == Reply::Type::kNil;  // the key does not exist
    if (usage.answered && (nothing || usage.reply.IsInteger()) && usage.reply.integer >= 0) {
      ++info.measured_segments;
      const auto bytes = static_cast<uint64_t>(usage.reply.integer);
      info.server_bytes +=
          std::min(bytes, std::numeric_limits<uint64_t>::max() - info.server_bytes);
    }
    if (std::optional<Problem> bad = commands_.ProblemOfState(commands[2 * s], s)) {
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

}  // namespace tamis::redis
