#include "redis/src/client/url.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/redis/redis_test_util.h"

namespace tamis::redis::url_test {

TEST(RedisUrlTest, AllParts) {
  const Url url = ParseUrl("rediss://me:se%3Acret@db.example:7001/3");
  EXPECT_TRUE(url.tls);
  EXPECT_EQ(url.user, "me");
  EXPECT_EQ(url.password, "se:cret");
  EXPECT_EQ(url.address, (Address{"db.example", 7001}));
  EXPECT_EQ(url.database, 3u);
}

TEST(RedisUrlTest, PartsLeftOut) {
  for (const char* text : {"redis://localhost", "redis://localhost/", "redis://localhost:6379"}) {
    const Url url = ParseUrl(text);
    EXPECT_EQ(url.address, (Address{"localhost", 6379})) << text;
    EXPECT_FALSE(url.tls);
    EXPECT_TRUE(url.user.empty() && url.password.empty());
    EXPECT_EQ(url.database, 0u);
  }
  EXPECT_EQ(ParseUrl("redis://:pw@h").password, "pw");
  EXPECT_EQ(ParseUrl("redis://:p@w/x@h").password, "p@w/x");
  // The password is not part of the URL.
  EXPECT_EQ(ParseUrl("redis://me@h").user, "me");
  EXPECT_TRUE(ParseUrl("redis://me@h").password.empty());
}

TEST(RedisUrlTest, Ipv6IsInBrackets) {
  EXPECT_EQ(ParseUrl("redis://[::1]").address, (Address{"::1", 6379}));
  EXPECT_EQ(ParseUrl("redis://:p@[fe80::1%25eth0]:7000/1").address.port, 7000);
  EXPECT_EQ(AddressText({"::1", 7000}), "[::1]:7000");
  EXPECT_EQ(AddressText({"10.0.0.1", 7000}), "10.0.0.1:7000");
}

TEST(RedisUrlTest, WrongOnesAreRefusedWithoutTheirPassword) {
  const std::string long_host(256, 'a');
  for (const std::string& text : {std::string(),
                                  std::string("redis:"),
                                  std::string("http://x"),
                                  std::string("redis://"),
                                  std::string("redis://:7000"),
                                  std::string("redis://h:0"),
                                  std::string("redis://h:65536"),
                                  std::string("redis://h:07000"),
                                  std::string("redis://h:7000x"),
                                  std::string("redis://h:"),
                                  std::string("redis://[::1"),
                                  std::string("redis://[::1]7000"),
                                  std::string("redis://::1"),
                                  std::string("redis://h/x"),
                                  std::string("redis://h/-1"),
                                  std::string("redis://h/1/2"),
                                  std::string("redis://h/99999999999"),
                                  std::string("redis://a b"),
                                  std::string("redis://@h"),
                                  std::string("redis://hunter2%4@h"),
                                  std::string("redis://u:@h"),
                                  std::string("redis://u:hunter2%4@h"),
                                  std::string("redis://u:hunter2%zz@h"),
                                  std::string("redis://u:hunter2@h:x"),
                                  "redis://" + long_host,
                                  std::string(5000, 'x'),
                                  std::string("redis://h\0x", 11),
                                  std::string("redis://h\r\nAUTH")}) {
    try {
      ParseUrl(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << text;
      EXPECT_EQ(std::string(error.what()).find("hunter2"), std::string::npos) << error.what();
    }
  }
}

TEST(RedisUrlTest, DecimalsHaveOneForm) {
  uint64_t value = 7;
  for (const char* text : {"", "01", "-1", "+1", " 1", "1 ", "0x1", "18446744073709551616",
                           "99999999999999999999", "111111111111111111111"}) {
    EXPECT_FALSE(ParseDecimal(text, ~uint64_t{0}, value)) << text;
  }
  EXPECT_EQ(value, 7u);
  EXPECT_TRUE(ParseDecimal("18446744073709551615", ~uint64_t{0}, value));
  EXPECT_EQ(value, ~uint64_t{0});
  EXPECT_TRUE(ParseDecimal("0", 0, value));
  EXPECT_EQ(value, 0u);
  EXPECT_FALSE(ParseDecimal("101", 100, value));
  EXPECT_FALSE(ParseDecimal("9", 3, value));
  EXPECT_TRUE(ParseDecimal("100", 100, value));
}

}  // namespace tamis::redis::url_test
