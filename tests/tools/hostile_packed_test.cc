// Packed input that is damaged or malicious.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <tamis/error.h>
#include <unistd.h>

#include <random>
#include <string>
#include <thread>

#include "tests/tools/command_test.h"
#include "tests/tools/packing.h"
#include "tools/input/key_reader.h"
#include "tools/input/unpacker.h"

namespace tamis::tools::hostile_packed_test {

class HostilePackedTest : public CommandTest {
 protected:
  void SetUp() override {
    if (GzipLibrary().empty() || ZstdLibrary().empty()) {
      GTEST_SKIP() << "built without zlib or libzstd";
    }
  }

  void ExpectFailure(const std::string& contents, int status, const std::string& error) const {
    Write("f", "precious");
    Write("keys.packed", contents);
    for (const char* options : {"", "--capacity 1000 "}) {
      const CommandResult result = Sh("tamis build -o f " + std::string(options) + "keys.packed");
      EXPECT_EQ(result.status, status) << error << ": " << result.err;
      EXPECT_TRUE(result.ErrHas("keys.packed")) << result.err;
      EXPECT_TRUE(result.ErrHas(error)) << result.err;
      EXPECT_EQ(Read("f"), "precious");
    }
  }

  // Returns all keys of standard input, where every read returns one byte.
  std::string ReadByteByByte(const std::string& contents) const {
    int pair[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    const int before = dup(STDIN_FILENO);
    dup2(pair[0], STDIN_FILENO);
    close(pair[0]);
    std::thread writer([&] {
      for (const char c : contents) {
        if (write(pair[1], &c, 1) != 1) break;
      }
      close(pair[1]);
    });
    std::string keys;
    KeyReader reader({}, {});
    KeyBatch batch;
    while (reader.Next(batch)) {
      for (const std::string_view key : batch.strings) (keys += key) += '\n';
    }
    EXPECT_EQ(reader.bytes_read(), contents.size());
    writer.join();
    dup2(before, STDIN_FILENO);
    close(before);
    return keys;
  }
};

TEST_F(HostilePackedTest, TruncatedData) {
  const std::string keys = Numbers(1, 50000);
  const std::string gzip = Gzip(keys), zstd = Zstd(keys);
  for (const std::string& packed : {gzip, zstd}) {
    for (const size_t bytes : {size_t{4}, size_t{11}, packed.size() / 2, packed.size() - 1}) {
      ExpectFailure(packed.substr(0, bytes), 3, "end too early");
    }
  }
  ExpectFailure(gzip + gzip.substr(0, 20), 3, "end too early");
  ExpectFailure(zstd + zstd.substr(0, 20), 3, "end too early");
  // Only the bytes by which the format is recognized.
  ExpectFailure("\x1F\x8B", 3, "end too early");
}

TEST_F(HostilePackedTest, DamagedData) {
  const std::string keys = Numbers(1, 50000);
  std::string gzip = Gzip(keys);
  gzip[gzip.size() / 2] ^= 1;
  ExpectFailure(gzip, 3, "gzip data are damaged: incorrect data check");
  gzip = Gzip(keys);
  gzip[10] = '\7';  // a block of an invalid type
  ExpectFailure(gzip, 3, "gzip data are damaged: invalid block type");
  std::string zstd = Zstd(keys);
  zstd[6] |= 6;  // the same
  ExpectFailure(zstd, 3, "zstd data are damaged");
}

TEST_F(HostilePackedTest, OtherBytesAfterTheData) {
  const std::string gzip = Gzip("1\n2\n"), zstd = Zstd("1\n2\n");
  ExpectFailure(gzip + "garbage", 3, "not gzip data follow");
  ExpectFailure(gzip + zstd, 3, "not gzip data follow");
  ExpectFailure(gzip + std::string(100, '\0') + "garbage", 3, "not gzip data follow");
  ExpectFailure(gzip + std::string(100, '\0') + gzip, 3, "not gzip data follow");
  ExpectFailure(gzip + "\x1Fgarbage", 3, "gzip data are damaged");
  ExpectFailure(zstd + "garbage", 3, "zstd data are damaged");
}

// 1 GB without a line end, packed into 1 MB and into 32 KB. The command unpacks only the length of
// the longest allowed record.
TEST_F(HostilePackedTest, BombsAreRecordsThatAreTooLong) {
  const std::string letters = ZstdRun(1'000'000'000, 'x');
  ASSERT_LT(letters.size(), 40'000U);
  ExpectFailure(letters, 2, "a record of more than 16 MiB");
  Ok("head -c 100000000 /dev/zero | tr '\\0' x | gzip > part; cat part part part part part > a\n"
     "cat a a > bomb.gz");
  ExpectFailure(Read("bomb.gz"), 2, "a record of more than 16 MiB");

  InputOptions options;
  options.paths = {Path("bomb.gz")};
  KeyReader reader(options, {});
  KeyBatch batch;
  EXPECT_THROW(reader.Next(batch), Error);
  EXPECT_LT(reader.bytes_read(), Read("bomb.gz").size() / 10);
}

TEST_F(HostilePackedTest, BombsOfEmptyLinesGiveNoKey) {
  ExpectFailure(ZstdRun(2'000'000, '\n') + Gzip(""), 3, "zstd data are damaged");
  Write("f", "precious");
  Write("keys", ZstdRun(2'000'000, '\n'));
  const CommandResult result = Sh("tamis build -o f keys");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(result.ErrHas("none of 2,000,000 lines contains a key")) << result.err;
  EXPECT_EQ(Read("f"), "precious");
}

TEST_F(HostilePackedTest, BytesThatComeOneByOne) {
  const std::string keys = Numbers(1, 300);
  EXPECT_EQ(ReadByteByByte(Gzip(keys) + Gzip(keys)), keys + keys);
  EXPECT_EQ(ReadByteByByte(ZstdSkipped("x") + Zstd(keys) + Zstd(keys)), keys + keys);
  EXPECT_EQ(ReadByteByByte(keys), keys);
  EXPECT_EQ(ReadByteByByte("\xEF\xBB\xBF" + keys), keys);
  EXPECT_EQ(ReadByteByByte("PAR1S\n"), "PAR1S\n");
}

// The result must be an error with the file's name, or some keys, and not a crash.
TEST_F(HostilePackedTest, AnyByteMayBeWrong) {
  std::mt19937_64 random(7);
  for (const std::string& packed : {Gzip(Numbers(1, 30)), Zstd(Numbers(1, 30))}) {
    for (size_t i = 0; i < packed.size(); ++i) {
      std::string damaged = packed;
      damaged[i] ^= static_cast<char>(1 + random() % 255);
      Write("keys", damaged);
      InputOptions options;
      options.paths = {Path("keys")};
      KeyReader reader(options, {.report_bad = false});
      KeyBatch batch;
      try {
        while (reader.Next(batch)) {
        }
        EXPECT_LE(reader.bytes_read(), damaged.size());
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("keys"), std::string::npos);
      }
    }
  }
}

}  // namespace tamis::tools::hostile_packed_test
