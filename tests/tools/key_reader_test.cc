// Batches of keys: their contents must not depend on where blocks and batches end.
#include "tools/input/key_reader.h"

#include <gtest/gtest.h>
#include <tamis/error.h>

#include <string>
#include <vector>

#include "tests/tools/command_test.h"

namespace tamis::tools::key_reader_test {

class KeyReaderTest : public CommandTest {
 protected:
  struct All {
    std::vector<std::string> keys;
    std::vector<std::string> records;
    std::vector<uint64_t> bad;  // indices of records
    uint64_t num_records = 0;
    size_t batches = 0;
  };

  // Reads the keys as text, even if they are integers.
  All ReadAll(InputOptions options, const std::string& name) const {
    options.paths = {Path(name)};
    KeyReader reader(options, {.records = true, .report_bad = false});
    All all;
    KeyBatch batch;
    while (reader.Next(batch)) {
      for (const size_t bad : batch.bad) all.bad.push_back(all.num_records + bad);
      for (const std::string_view key : batch.strings) all.keys.emplace_back(key);
      for (const uint64_t key : batch.integers) all.keys.push_back(std::to_string(key));
      for (const std::string_view record : batch.records) all.records.emplace_back(record);
      EXPECT_EQ(batch.keys().size(), batch.size());
      EXPECT_EQ(batch.records.size(), batch.size());
      all.num_records += batch.num_records();
      ++all.batches;
    }
    EXPECT_EQ(reader.num_bad(), all.bad.size());
    EXPECT_EQ(reader.bytes_read(), Read(name).size());
    return all;
  }
};

TEST_F(KeyReaderTest, ManyShortLines) {
  // More than one block of 8 MiB and one batch of 2^20 keys.
  constexpr size_t kLines = 1'300'000;
  Write("keys", Numbers(0, kLines));
  const All all = ReadAll({}, "keys");
  ASSERT_EQ(all.keys.size(), kLines);
  for (size_t i = 0; i < all.keys.size(); ++i) {
    ASSERT_EQ(all.keys[i], std::to_string(i));
    ASSERT_EQ(all.records[i], std::to_string(i) + "\n");
  }
  EXPECT_GT(all.batches, 1U);
  InputOptions options;
  options.integers = true;
  EXPECT_EQ(ReadAll(options, "keys").keys, all.keys);
}

TEST_F(KeyReaderTest, LinesOfAllLengths) {
  // Some are longer than a block of 8 MiB.
  std::string text;
  std::vector<std::string> keys;
  for (const size_t length : {1U, 5U << 20, 3U, 9U << 20, 1U << 20, 12U << 20, 2U}) {
    keys.push_back(std::string(length, static_cast<char>('a' + keys.size())));
    text += keys.back() + "\r\n";
  }
  Write("keys", text);
  EXPECT_EQ(ReadAll({}, "keys").keys, keys);
  Write("endless", std::string(20 << 20, 'x'));
  EXPECT_THROW(ReadAll({}, "endless"), Error);
}

TEST_F(KeyReaderTest, CsvAcrossBlocks) {
  std::string text;
  std::vector<std::string> keys;
  for (int i = 0; i < 200'000; ++i) {
    const std::string number = std::to_string(i);
    keys.push_back("line \"" + number + "\",\n" + std::string(i % 97, '.'));
    text += number + ",\"line \"\"" + number + "\"\",\n" + std::string(i % 97, '.') + "\"\n";
  }
  ASSERT_GT(text.size(), 10U << 20);
  Write("keys", text);
  InputOptions options;
  options.csv = true;
  options.column = "2";
  const All all = ReadAll(options, "keys");
  EXPECT_EQ(all.keys, keys);
  std::string records;
  for (const std::string& record : all.records) records += record;
  EXPECT_EQ(records, text);
}

TEST_F(KeyReaderTest, BadRecordsKeepTheirPlaces) {
  Write("keys", "1\nx\n3\n\n\n6\n7\ny");
  InputOptions options;
  options.integers = true;
  const All all = ReadAll(options, "keys");
  EXPECT_EQ(all.keys, (std::vector<std::string>{"1", "3", "6", "7"}));
  EXPECT_EQ(all.bad, (std::vector<uint64_t>{1, 3, 4, 7}));
  EXPECT_EQ(all.num_records, 8U);
}

TEST_F(KeyReaderTest, RawIntegers) {
  std::vector<uint64_t> values;
  for (uint64_t i = 0; i < 1'100'000; ++i) values.push_back(i * 0x9E3779B97F4A7C15);
  WriteU64("keys", values);
  InputOptions options;
  options.u64 = true;
  const All all = ReadAll(options, "keys");
  ASSERT_EQ(all.keys.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(all.keys[i], std::to_string(values[i]));
}

TEST_F(KeyReaderTest, BytesLeftOfRawIntegersAreInNoBatchThatIsFull) {
  Write("keys", std::string(2 * sizeof(uint64_t) + 3, 'x'));
  InputOptions options;
  options.u64 = true;
  options.paths = {Path("keys")};
  KeyReader reader(options, {.report_bad = false, .max_batch = 2});
  KeyBatch batch;
  ASSERT_TRUE(reader.Next(batch));
  EXPECT_EQ(batch.size(), 2U);
  EXPECT_EQ(batch.num_records(), 2U);
  ASSERT_TRUE(reader.Next(batch));
  EXPECT_EQ(batch.size(), 0U);
  EXPECT_EQ(batch.bad, std::vector<size_t>{0});
  EXPECT_FALSE(reader.Next(batch));
  EXPECT_EQ(reader.num_bad(), 1U);
}

}  // namespace tamis::tools::key_reader_test
