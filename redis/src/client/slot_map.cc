#include "redis/src/client/slot_map.h"

#include <algorithm>
#include <utility>

#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis::redis {
namespace {

constexpr size_t kMaxHost = 255;

[[noreturn]] void Refuse(const std::string& what) {
  throw Error(ErrorCode::kUnavailable,
              "the server's reply about the slots of its cluster is invalid: " + what);
}

uint64_t Number(const Reply& reply, uint64_t min, uint64_t max, const char* what) {
  if (!reply.IsInteger() || reply.integer < static_cast<int64_t>(min) ||
      reply.integer > static_cast<int64_t>(max)) {
    Refuse(std::string(what) + " is " + ReplyText(reply));
  }
  return static_cast<uint64_t>(reply.integer);
}

const std::vector<Reply>& Array(const Reply& reply, size_t min, const char* what) {
  if (!reply.IsArray() || reply.elements.size() < min) {
    Refuse(std::string(what) + " is " + ReplyText(reply));
  }
  return reply.elements;
}

// Errors contain hosts unchanged, so only printable ASCII is allowed.
bool IsHostText(std::string_view text) {
  return text.size() <= kMaxHost &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

// A server without a name for itself returns nil, "" or "?".
std::string Host(const Reply& reply, const Address& asked) {
  if (reply.type == Reply::Type::kNil) return asked.host;
  if (!reply.IsString() || reply.text.size() > kMaxHost) {
    Refuse("a host is " + ReplyText(reply));
  }
  if (reply.text.empty() || reply.text == "?") return asked.host;
  if (!IsHostText(reply.text)) Refuse("a host has an invalid character");
  return reply.text;
}

// Returns the value for `name` in an array of names and values; nullptr if it is missing.
const Reply* Find(const std::vector<Reply>& map, std::string_view name) {
  for (size_t i = 0; i + 1 < map.size(); i += 2) {
    if (map[i].IsString() && map[i].text == name) return &map[i + 1];
  }
  return nullptr;
}

const Reply& Need(const std::vector<Reply>& map, const char* name) {
  const Reply* const value = Find(map, name);
  if (value == nullptr) Refuse(std::string(name) + " is missing");
  return *value;
}

struct Node {
  Address address;
  bool master = false;
  bool online = false;
};

// Returns nothing for a failed node, such as a replaced master that the reply still lists. Returns
// no address for a loading node, because no command is sent to it.
std::optional<Node> ParseNode(const Reply& reply, const Address& asked, bool tls) {
  const std::vector<Reply>& fields = Array(reply, 0, "a node");
  const Reply& health = Need(fields, "health");
  const Reply& role = Need(fields, "role");
  Node node;
  node.master = role.IsString() && role.text == "master";
  node.online = health.IsString() && health.text == "online";
  if (!node.online) {
    const bool loads = health.IsString() && health.text == "loading";
    return loads ? std::optional(node) : std::nullopt;
  }
  const Reply* host = Find(fields, "endpoint");
  if (host == nullptr) host = Find(fields, "ip");
  if (host == nullptr) Refuse("a node has no endpoint");
  node.address.host = Host(*host, asked);
  node.address.port =
      static_cast<uint16_t>(Number(Need(fields, tls ? "tls-port" : "port"), 1, 65535, "a port"));
  return node;
}

}  // namespace

SlotMap SlotMap::OfServer(const Address& server) {
  SlotMap map;
  map.Assign(0, kSlots - 1, map.Add({server, {}, 0}));
  return map;
}

SlotMap SlotMap::OfShards(const Reply& reply, const Address& asked, bool tls) {
  SlotMap map;
  for (const Reply& entry : Array(reply, 1, "the list of shards")) {
    const std::vector<Reply>& fields = Array(entry, 0, "a shard");
    Shard shard;
    bool has_master = false;
    for (const Reply& item : Array(Need(fields, "nodes"), 0, "a list of nodes")) {
      std::optional<Node> node = ParseNode(item, asked, tls);
      if (!node) continue;
      if (!node->master) ++shard.followers;
      if (!node->online) continue;
      if (!node->master) {
        shard.replicas.push_back(std::move(node->address));
      } else if (!has_master) {
        shard.master = std::move(node->address);
        has_master = true;
      }
    }
    const std::vector<Reply>& slots = Array(Need(fields, "slots"), 0, "a list of slots");
    if (slots.size() % 2 != 0) Refuse("a range of slots has no end");
    if (!has_master) continue;
    const uint16_t index = map.Add(std::move(shard));
    for (size_t i = 0; i < slots.size(); i += 2) {
      map.Assign(Number(slots[i], 0, kSlots - 1, "a slot"),
                 Number(slots[i + 1], 0, kSlots - 1, "a slot"), index);
    }
  }
  return map;
}

SlotMap SlotMap::OfSlots(const Reply& reply, const Address& asked) {
  const auto address = [&](const Reply& node) {
    const std::vector<Reply>& fields = Array(node, 2, "a node");
    return Address{Host(fields[0], asked),
                   static_cast<uint16_t>(Number(fields[1], 1, 65535, "a port"))};
  };
  SlotMap map;
  for (const Reply& entry : Array(reply, 1, "the list of slots")) {
    const std::vector<Reply>& range = Array(entry, 3, "a range of slots");
    Shard shard{address(range[2]), {}, static_cast<uint32_t>(range.size() - 3)};
    for (size_t i = 3; i < range.size(); ++i) shard.replicas.push_back(address(range[i]));
    map.Assign(Number(range[0], 0, kSlots - 1, "a slot"), Number(range[1], 0, kSlots - 1, "a slot"),
               map.Add(std::move(shard)));
  }
  return map;
}

const Address* SlotMap::MasterOf(uint32_t slot) const {
  return owners_[slot] == kNobody ? nullptr : &shards_[owners_[slot]].master;
}

const std::vector<Address>* SlotMap::ReplicasOf(uint32_t slot) const {
  return owners_[slot] == kNobody ? nullptr : &shards_[owners_[slot]].replicas;
}

std::optional<uint32_t> SlotMap::FollowersOf(const Address& master) const {
  for (const Shard& shard : shards_) {
    if (shard.master == master) return shard.followers;
  }
  return {};
}

void SlotMap::Move(uint32_t slot, const Address& master) { owners_[slot] = Add({master, {}, 0}); }

std::vector<Address> SlotMap::Nodes() const {
  std::vector<Address> nodes;
  for (const Shard& shard : shards_) {
    nodes.push_back(shard.master);
    nodes.insert(nodes.end(), shard.replicas.begin(), shard.replicas.end());
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

std::vector<SlotMap::Share> SlotMap::Shares() const {
  std::vector<Share> shares;
  for (const Shard& shard : shards_) shares.push_back({shard.master, 0});
  for (const uint16_t owner : owners_) {
    if (owner != kNobody) ++shares[owner].slots;
  }
  std::erase_if(shares, [](const Share& share) { return share.slots == 0; });
  return shares;
}

void SlotMap::Assign(uint64_t first, uint64_t last, uint16_t shard) {
  if (first > last) Refuse("a range of slots ends before it begins");
  for (uint64_t slot = first; slot <= last; ++slot) {
    if (owners_[slot] != kNobody) Refuse(detail::StrCat("slot ", slot, " has two owners"));
    owners_[slot] = shard;
  }
}

// Keeps one shard for each master, so that there are never more shards than slots.
uint16_t SlotMap::Add(Shard shard) {
  for (size_t i = 0; i < shards_.size(); ++i) {
    if (shards_[i].master == shard.master) {
      if (!shard.replicas.empty()) shards_[i].replicas = std::move(shard.replicas);
      shards_[i].followers = std::max(shards_[i].followers, shard.followers);
      return static_cast<uint16_t>(i);
    }
  }
  if (shards_.size() >= kSlots) Refuse("there are more masters than slots");
  shards_.push_back(std::move(shard));
  return static_cast<uint16_t>(shards_.size() - 1);
}

std::optional<Redirect> ParseRedirect(std::string_view error, const Address& from) {
  Redirect redirect;
  if (error.starts_with("MOVED ")) {
    error.remove_prefix(6);
  } else if (error.starts_with("ASK ")) {
    error.remove_prefix(4);
    redirect.ask = true;
  } else {
    return {};
  }
  const size_t space = error.find(' ');
  const size_t colon = error.rfind(':');  // the last colon: IPv6 addresses have no brackets here
  if (space == std::string_view::npos || colon == std::string_view::npos || colon < space)
    return {};
  uint64_t slot = 0, port = 0;
  if (!ParseDecimal(error.substr(0, space), kSlots - 1, slot) ||
      !ParseDecimal(error.substr(colon + 1), 65535, port) || port == 0) {
    return {};
  }
  const std::string_view host = error.substr(space + 1, colon - space - 1);
  if (!IsHostText(host)) return {};
  redirect.slot = static_cast<uint32_t>(slot);
  redirect.to.host = host.empty() || host == "?" ? from.host : std::string(host);
  redirect.to.port = static_cast<uint16_t>(port);
  return redirect;
}

}  // namespace tamis::redis
