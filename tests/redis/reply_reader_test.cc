#include "redis/src/client/reply_reader.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace tamis::redis::reply_reader_test {

constexpr ReplyLimits kLimits = {100, 20};

std::unique_ptr<Reply> Read(const std::string& bytes, const ReplyLimits& limits = kLimits) {
  ReplyReader reader;
  reader.set_limits(limits);
  EXPECT_TRUE(reader.Feed(bytes.data(), bytes.size()));
  std::unique_ptr<Reply> reply;
  EXPECT_TRUE(reader.Next(reply)) << reader.error();
  return reply;
}

std::string ErrorOf(const std::string& bytes, const ReplyLimits& limits = kLimits) {
  ReplyReader reader;
  reader.set_limits(limits);
  EXPECT_TRUE(reader.Feed(bytes.data(), bytes.size()));
  std::unique_ptr<Reply> reply;
  EXPECT_FALSE(reader.Next(reply)) << bytes;
  return reader.error();
}

TEST(RedisReplyReaderTest, AllTypes) {
  EXPECT_TRUE(Read("+OK\r\n")->IsStatus("OK"));
  EXPECT_TRUE(Read("-ERR no\r\n")->IsError());
  EXPECT_EQ(Read("-ERR no\r\n")->text, "ERR no");
  EXPECT_EQ(Read(":-42\r\n")->integer, -42);
  EXPECT_EQ(Read(std::string("$4\r\na\r\0b\r\n", 10))->text, std::string("a\r\0b", 4));
  EXPECT_EQ(Read("$-1\r\n")->type, Reply::Type::kNil);
  EXPECT_EQ(Read("*-1\r\n")->type, Reply::Type::kNil);
  EXPECT_TRUE(Read("*0\r\n")->IsArray());
  const auto nested = Read("*3\r\n:1\r\n*2\r\n$1\r\nx\r\n$-1\r\n+y\r\n");
  ASSERT_EQ(nested->elements.size(), 3u);
  EXPECT_EQ(nested->elements[0].integer, 1);
  ASSERT_EQ(nested->elements[1].elements.size(), 2u);
  EXPECT_EQ(nested->elements[1].elements[0].text, "x");
  EXPECT_TRUE(nested->elements[2].IsStatus("y"));
}

TEST(RedisReplyReaderTest, PiecesOfAReplyAreKeptUntilItIsWhole) {
  const std::string bytes = "*2\r\n$3\r\nabc\r\n:7\r\n+OK\r\n";
  ReplyReader reader;
  reader.set_limits(kLimits);
  std::unique_ptr<Reply> reply;
  int replies = 0;
  for (const char c : bytes) {
    ASSERT_TRUE(reader.Feed(&c, 1));
    ASSERT_TRUE(reader.Next(reply));
    replies += reply != nullptr;
  }
  EXPECT_EQ(replies, 2);
}

TEST(RedisReplyReaderTest, InvalidRepliesAreRefused) {
  for (const char* bytes : {"hello\r\n", "\r\n", "$x\r\n", "$-2\r\n", "*-2\r\n", "*x\r\n", ":x\r\n",
                            "$99999999999999999999\r\n"}) {
    EXPECT_NE(ErrorOf(bytes), "") << bytes;
  }
}

TEST(RedisReplyReaderTest, NothingLargerThanAskedForIsTaken) {
  const std::string large = "larger than expected";
  EXPECT_NE(ErrorOf("*2147483647\r\n").find(large), std::string::npos);
  EXPECT_NE(ErrorOf("*21\r\n").find(large), std::string::npos);
  EXPECT_NE(ErrorOf("$101\r\n" + std::string(101, 'x') + "\r\n").find(large), std::string::npos);
  EXPECT_EQ(Read("$100\r\n" + std::string(100, 'x') + "\r\n")->text.size(), 100u);
  // The limit is for the whole reply, not for each of its strings or arrays.
  const std::string half = "$60\r\n" + std::string(60, 'x') + "\r\n";
  EXPECT_NE(ErrorOf("*2\r\n" + half + half).find(large), std::string::npos);
  EXPECT_NE(ErrorOf("*2\r\n*9\r\n" + std::string(9 * 4, ' ')).size(), 0u);
  EXPECT_NE(ErrorOf("*6\r\n*5\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n*15\r\n").find(large),
            std::string::npos);
  // Each reply has its own limit.
  ReplyReader reader;
  reader.set_limits(kLimits);
  std::unique_ptr<Reply> reply;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(reader.Feed(half.data(), half.size()));
    ASSERT_TRUE(reader.Next(reply));
    ASSERT_EQ(reply->text.size(), 60u);
  }
}

TEST(RedisReplyReaderTest, DeepNestsAreRefused) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += "*1\r\n";
  EXPECT_NE(ErrorOf(bytes, {1000, 100'000}), "");
}

TEST(RedisReplyReaderTest, MessagesShowPrintableText) {
  EXPECT_EQ(ShownText("a\r\nb\x01\xFF"), "a??b??");
  std::string shown(200, 'x');  // GCC 12 with a sanitizer warns about a sum of both
  shown += "...";
  EXPECT_EQ(ShownText(std::string(300, 'x')), shown);
}

}  // namespace tamis::redis::reply_reader_test
