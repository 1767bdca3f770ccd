#include "redis/src/client/slot_map.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "redis/src/client/reply_reader.h"
#include "tests/redis/redis_test_util.h"

namespace tamis::redis::slot_map_test {

const Address kAsked = {"10.0.0.9", 7009};

Reply Int(int64_t value) {
  Reply reply;
  reply.type = Reply::Type::kInteger;
  reply.integer = value;
  return reply;
}
Reply Str(std::string text) {
  Reply reply;
  reply.type = Reply::Type::kString;
  reply.text = std::move(text);
  return reply;
}
Reply Arr(std::vector<Reply> elements) {
  Reply reply;
  reply.type = Reply::Type::kArray;
  reply.elements = std::move(elements);
  return reply;
}
Reply Nil() { return {}; }

Reply Node(Reply host, int port, const char* role, const char* health = "online") {
  return Arr({Str("id"), Str("x"), Str("port"), Int(port), Str("ip"), Str("1.2.3.4"),
              Str("endpoint"), std::move(host), Str("role"), Str(role), Str("health"),
              Str(health)});
}
Reply Shard(std::vector<Reply> slots, std::vector<Reply> nodes) {
  return Arr({Str("slots"), Arr(std::move(slots)), Str("nodes"), Arr(std::move(nodes))});
}

TEST(RedisSlotMapTest, Shards) {
  const SlotMap map = SlotMap::OfShards(
      Arr({Shard({Int(0), Int(99), Int(200), Int(16383)},
                 {Node(Str("::1"), 7003, "replica"), Node(Str("::1"), 7001, "master")}),
           Shard({Int(100), Int(199)},
                 {Node(Str("b"), 7000, "master", "fail"), Node(Nil(), 7002, "master"),
                  Node(Str("?"), 7004, "replica"), Node(Str("c"), 0, "replica", "loading")}),
           Shard({}, {Node(Str("d"), 7005, "master")})}),
      kAsked, false);
  EXPECT_EQ(*map.MasterOf(0), (Address{"::1", 7001}));
  EXPECT_EQ(*map.MasterOf(16383), (Address{"::1", 7001}));
  EXPECT_EQ(*map.MasterOf(150), (Address{"10.0.0.9", 7002}));
  EXPECT_EQ(map.ReplicasOf(0)->at(0), (Address{"::1", 7003}));
  ASSERT_EQ(map.ReplicasOf(150)->size(), 1u);
  EXPECT_EQ(map.ReplicasOf(150)->at(0), (Address{"10.0.0.9", 7004}));
  EXPECT_EQ(map.Nodes().size(), 5u);
  // A loading replica gets no queries, but may become a master. A failed master is not a master.
  EXPECT_EQ(map.FollowersOf({"::1", 7001}), 1u);
  EXPECT_EQ(map.FollowersOf({"10.0.0.9", 7002}), 2u);
  EXPECT_EQ(map.FollowersOf({"d", 7005}), 0u);
  EXPECT_EQ(map.FollowersOf({"b", 7000}), std::nullopt);
  EXPECT_EQ(map.FollowersOf({"::1", 7003}), std::nullopt);
  ASSERT_EQ(map.Shares().size(), 2u);
  EXPECT_EQ(map.Shares()[1].slots, 100u);
}

TEST(RedisSlotMapTest, TlsHasPortsOfItsOwn) {
  const Reply both =
      Arr({Shard({Int(0), Int(1)},
                 {Arr({Str("tls-port"), Int(8000), Str("port"), Int(7000), Str("endpoint"),
                       Str("a"), Str("role"), Str("master"), Str("health"), Str("online")})})});
  EXPECT_EQ(SlotMap::OfShards(both, kAsked, true).MasterOf(0)->port, 8000);
  EXPECT_EQ(SlotMap::OfShards(both, kAsked, false).MasterOf(0)->port, 7000);
}

TEST(RedisSlotMapTest, Slots) {
  const auto node = [](Reply host, int port) {
    return Arr({std::move(host), Int(port), Str("id")});
  };
  const SlotMap map = SlotMap::OfSlots(
      Arr({Arr({Int(0), Int(5), node(Str("a"), 1), node(Str("b"), 2)}),
           Arr({Int(6), Int(6), node(Str(""), 3)}), Arr({Int(7), Int(9), node(Str("a"), 1)})}),
      kAsked);
  EXPECT_EQ(*map.MasterOf(9), (Address{"a", 1}));
  EXPECT_EQ(map.ReplicasOf(9)->at(0), (Address{"b", 2}));
  EXPECT_EQ(*map.MasterOf(6), (Address{"10.0.0.9", 3}));
  EXPECT_EQ(map.MasterOf(10), nullptr);
  EXPECT_EQ(map.ReplicasOf(10), nullptr);
  ASSERT_EQ(map.Shares().size(), 2u);
  EXPECT_EQ(map.Shares()[0].slots, 9u);
}

TEST(RedisSlotMapTest, OtherRepliesAreDamaged) {
  const auto good = [] { return Node(Str("a"), 7000, "master"); };
  const Reply bad_shards[] = {
      Nil(),
      Int(1),
      Str("x"),
      Arr({}),
      Arr({Nil()}),
      Arr({Int(5)}),
      Arr({Arr({})}),
      Arr({Arr({Str("slots"), Arr({})})}),
      Arr({Arr({Str("nodes"), Arr({good()})})}),
      Arr({Arr({Str("slots"), Nil(), Str("nodes"), Arr({good()})})}),
      Arr({Arr({Str("slots"), Arr({}), Str("nodes"), Nil()})}),
      Arr({Arr({Str("slots"), Arr({}), Str("nodes"), Arr({Nil()})})}),
      Arr({Shard({Int(0)}, {good()})}),
      Arr({Shard({Int(-1), Int(5)}, {good()})}),
      Arr({Shard({Int(0), Int(16384)}, {good()})}),
      Arr({Shard({Int(6), Int(5)}, {good()})}),
      Arr({Shard({Str("0"), Int(5)}, {good()})}),
      Arr({Shard({Int(0), Int(5), Int(5), Int(6)}, {good()})}),
      Arr({Shard({Int(0), Int(5)}, {good()}), Shard({Int(5), Int(9)}, {good()})}),
      Arr({Shard({Int(0), Int(5)}, {Node(Str("a"), 0, "master")})}),
      Arr({Shard({Int(0), Int(5)}, {Node(Str("a"), 65536, "master")})}),
      Arr({Shard({Int(0), Int(5)}, {Node(Str(std::string(256, 'a')), 1, "master")})}),
      Arr({Shard({Int(0), Int(5)}, {Node(Str("a b"), 1, "master")})}),
      Arr({Shard({Int(0), Int(5)}, {Node(Int(7), 1, "master")})}),
  };
  for (const Reply& reply : bad_shards) {
    SCOPED_TRACE(&reply - bad_shards);
    ExpectError([&] { SlotMap::OfShards(reply, kAsked, false); }, ErrorCode::kUnavailable, "slots");
  }
  const Reply node = Arr({Str("a"), Int(1)});
  const Reply bad_slots[] = {
      Nil(),
      Arr({}),
      Arr({Nil()}),
      Arr({Arr({Int(0), Int(5)})}),
      Arr({Arr({Int(0), Int(5), Nil()})}),
      Arr({Arr({Int(0), Int(5), Arr({Str("a")})})}),
      Arr({Arr({Int(0), Int(5), Arr({Str("a"), Str("1")})})}),
      Arr({Arr({Int(0), Int(5), node}), Arr({Int(5), Int(5), node})}),
      Arr({Arr({Int(1LL << 40), Int(1LL << 40), node})}),
  };
  for (const Reply& reply : bad_slots) {
    SCOPED_TRACE(&reply - bad_slots);
    ExpectError([&] { SlotMap::OfSlots(reply, kAsked); }, ErrorCode::kUnavailable, "slots");
  }
}

TEST(RedisSlotMapTest, MovedSlots) {
  SlotMap map = SlotMap::OfServer({"a", 1});
  map.Move(77, {"b", 2});
  EXPECT_EQ(*map.MasterOf(76), (Address{"a", 1}));
  EXPECT_EQ(*map.MasterOf(77), (Address{"b", 2}));
  map.Move(78, {"b", 2});
  EXPECT_EQ(map.Nodes().size(), 2u);
}

TEST(RedisSlotMapTest, Redirections) {
  const auto moved = ParseRedirect("MOVED 3999 127.0.0.1:6381", kAsked);
  ASSERT_TRUE(moved);
  EXPECT_FALSE(moved->ask);
  EXPECT_EQ(moved->slot, 3999u);
  EXPECT_EQ(moved->to, (Address{"127.0.0.1", 6381}));
  const auto ask = ParseRedirect("ASK 0 2001:db8::1:7000", kAsked);
  ASSERT_TRUE(ask);
  EXPECT_TRUE(ask->ask);
  EXPECT_EQ(ask->to, (Address{"2001:db8::1", 7000}));
  EXPECT_EQ(ParseRedirect("MOVED 1 :7000", kAsked)->to, (Address{"10.0.0.9", 7000}));
  EXPECT_EQ(ParseRedirect("MOVED 1 ?:7000", kAsked)->to, (Address{"10.0.0.9", 7000}));
  for (const char* text :
       {"MOVED", "MOVED ", "MOVED 1", "MOVED 1 ", "MOVED 1 a", "MOVED 1 a:", "MOVED 1 a:0",
        "MOVED 1 a:65536", "MOVED 16384 a:1", "MOVED -1 a:1", "MOVED x a:1", "MOVED 1 a b:1",
        "MOVED 1 \x1B[2Ja:1", "MOVED 1 a\x9B:1", "ASK", "ERR MOVED 1 a:1", ""}) {
    EXPECT_FALSE(ParseRedirect(text, kAsked)) << text;
  }
}

}  // namespace tamis::redis::slot_map_test
