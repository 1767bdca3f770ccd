// Reads untrusted bytes as tamis::redis reads servers: replies, slot maps, redirections,
// descriptors and states of segments. For any bytes, the outcome is an Error or a usable result. An
// accepted input equals the bytes that the library would write.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "redis/src/client/reply_reader.h"
#include "redis/src/client/slot_map.h"
#include "redis/src/client/url.h"
#include "redis/src/filter/descriptor.h"
#include "redis/src/filter/segment_state.h"
#include "tamis/error.h"

namespace tamis::redis {
namespace {

void Require(bool condition) {
  if (!condition) __builtin_trap();
}

void ReadDescriptor(std::string_view text) {
  try {
    const Descriptor descriptor = ParseDescriptor(text);
    Require(DescriptorText(descriptor) == text);
    const Layout& layout = descriptor.layout;
    const uint64_t segments = layout.segments();
    Require(segments >= 1 && layout.FirstBlock(segments - 1) < layout.blocks);
    for (const uint64_t s : {uint64_t{0}, segments / 2, segments - 1}) {
      const SegmentKey key = KeyOfSegment("x", layout, descriptor.generation, s);
      Require(SlotOfKey(key.text) == key.slot && layout.BytesOf(s) >= split_block::kBlockBytes);
    }
  } catch (const Error& error) {
    Require(error.code() == ErrorCode::kCorrupt || error.code() == ErrorCode::kUnsupported);
  }
}

void ReadState(std::string_view window) {
  const auto state = ParseState(window);
  Require(state.has_value() == (window.size() == kStateBytes));
  if (!state) return;
  Require(StateText(*state) == window);
  Require(!ProblemOfState(window, state->generation, state->length));
  Require(ProblemOfState(window, state->generation + 1, state->length).has_value());
}

void UseMap(SlotMap map) {
  uint64_t slots = 0;
  for (const SlotMap::Share& share : map.Shares()) slots += share.slots;
  uint64_t owned = 0;
  for (uint32_t slot = 0; slot < kSlots; ++slot) {
    const Address* const master = map.MasterOf(slot);
    Require((master == nullptr) == (map.ReplicasOf(slot) == nullptr));
    owned += master != nullptr;
  }
  Require(slots == owned && owned <= kSlots);
  map.Move(5, {"host", 7});
  Require(map.MasterOf(5)->port == 7 && !map.Nodes().empty());
}

void ReadReplies(std::string_view bytes) {
  ReplyReader reader;
  reader.set_limits({size_t{1} << 20, 10'000});
  if (!reader.Feed(bytes.data(), bytes.size())) return;
  std::unique_ptr<Reply> reply;
  while (reader.Next(reply) && reply != nullptr) {
    ReplyText(*reply);
    for (const bool tls : {false, true}) {
      try {
        UseMap(SlotMap::OfShards(*reply, {"asked", 1}, tls));
      } catch (const Error&) {
      }
    }
    try {
      UseMap(SlotMap::OfSlots(*reply, {"asked", 1}));
    } catch (const Error&) {
    }
    if (const auto redirect = ParseRedirect(reply->text, {"from", 2})) {
      Require(redirect->slot < kSlots && redirect->to.port != 0 && !redirect->to.host.empty());
    }
  }
}

void ReadUrl(std::string_view text) {
  try {
    const Url url = ParseUrl(text);
    Require(!url.address.host.empty());
  } catch (const Error& error) {
    Require(error.code() == ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace tamis::redis

// The first byte selects the kind of input.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tamis::redis;
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 'd':
      ReadDescriptor(rest);
      break;
    case 's':
      ReadState(rest);
      break;
    case 'u':
      ReadUrl(rest);
      break;
    default:
      ReadReplies(rest);
  }
  return 0;
}
