// `tamis bank` with the Bloom filters of Parquet files, as users run it.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tamis/parquet/bloom_filter.h"
#include "tests/parquet/parquet_maker.h"
#include "tests/tools/command_test.h"

namespace tamis::tools::bank_command_test {

using parquet::MadeFile;

// Returns values as they are stored.
template <typename T>
std::vector<std::string> Stored(const std::vector<T>& values) {
  std::vector<std::string> stored;
  for (const T& value : values) {
    stored.emplace_back(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  return stored;
}

std::string FilterOf(const std::vector<std::string>& stored) {
  SplitBlockBloomFilter filter({.bytes = 1024, .hash = parquet::kFilterHash});
  const std::vector<std::string_view> views(stored.begin(), stored.end());
  filter.Insert(views);
  return parquet::ToParquet(filter);
}

class BankOfParquetTest : public CommandTest {
 protected:
  // Writes a file with one column of that type, and the filters of its row groups; "" for none.
  void WriteFile(const std::string& path, parquet::PhysicalType type,
                 const std::vector<std::string>& filters, std::optional<int64_t> nulls = {}) const {
    MadeFile file;
    file.columns[0].physical = static_cast<int>(type);
    for (const std::string& filter : filters) {
      file.groups.push_back({{.nulls = nulls, .filter = filter}});
    }
    Write(path, file.bytes());
  }
};

TEST_F(BankOfParquetTest, HasAMemberForEachRowGroup) {
  std::filesystem::create_directory(Path("lake"));
  WriteFile("lake/a.parquet", parquet::PhysicalType::kInt64,
            {FilterOf(Stored<int64_t>({1, 2})), FilterOf(Stored<int64_t>({2, -3}))});
  WriteFile("lake/b.parquet", parquet::PhysicalType::kInt64, {FilterOf(Stored<int64_t>({7}))});
  EXPECT_TRUE(Sh("tamis bank build -o b --from-parquet key lake")
                  .ErrHas("b: added 3, now 3 members in 1 group"));
  Write("keys", "2\n-3\n7\n1000\n");
  EXPECT_EQ(Ok("tamis bank query b --integers keys").out,
            "2\tlake/a.parquet#0\n2\tlake/a.parquet#1\n-3\tlake/a.parquet#1\n"
            "7\tlake/b.parquet#0\n");
  const CommandResult as_text = Sh("tamis bank query b keys");
  EXPECT_EQ(as_text.status, 2);
  EXPECT_TRUE(as_text.ErrHas("give --integers")) << as_text.err;
  // A file without the column is an error that names the file.
  const CommandResult none = Sh("tamis bank build -o c --from-parquet other lake");
  EXPECT_EQ(none.status, 2);
  EXPECT_TRUE(none.ErrHas("lake/a.parquet: ")) << none.err;
  EXPECT_FALSE(std::filesystem::exists(Path("c")));
}

TEST_F(BankOfParquetTest, KeysAreAskedAsTheyAreStored) {
  WriteFile("i.parquet", parquet::PhysicalType::kInt32,
            {FilterOf(Stored<int32_t>({5, -1, 1'000'000}))});
  WriteFile("l.parquet", parquet::PhysicalType::kInt64, {FilterOf(Stored<int64_t>({5, -9}))});
  WriteFile("f.parquet", parquet::PhysicalType::kFloat, {FilterOf(Stored<float>({0.1F, -0.0F}))});
  WriteFile("d.parquet", parquet::PhysicalType::kDouble, {FilterOf(Stored<double>({0.1, 5}))});
  WriteFile("s.parquet", parquet::PhysicalType::kByteArray, {FilterOf({"5", "x"})});
  Ok("tamis bank build -q -o b --from-parquet key ?.parquet");
  Write("integers", "5\n-1\n-9\n1000000\n4294967296\n");
  const CommandResult integers = Sh("tamis bank query b --integers integers");
  EXPECT_EQ(integers.out,
            "5\ti.parquet#0\n5\tl.parquet#0\n-1\ti.parquet#0\n"
            "-9\tl.parquet#0\n1000000\ti.parquet#0\n");
  EXPECT_TRUE(integers.ErrHas("3 of 5 members, such as \"d.parquet#0\"")) << integers.err;
  EXPECT_TRUE(integers.ErrHas("1 key without a 32-bit value")) << integers.err;
  Write("text", "0.1\n5\n0\nx\n");
  EXPECT_EQ(Ok("tamis bank query -q b text").out,
            "0.1\td.parquet#0\n0.1\tf.parquet#0\n5\td.parquet#0\n5\ts.parquet#0\n"
            "0\tf.parquet#0\nx\ts.parquet#0\n");
  EXPECT_EQ(Ok("tamis bank query -q b --count-per-member text").out,
            "d.parquet#0\t2\nf.parquet#0\t2\ns.parquet#0\t2\n");
  // No filter rules out a NaN.
  EXPECT_EQ(Ok("echo nan | tamis bank query -q b -").out, "nan\td.parquet#0\nnan\tf.parquet#0\n");
  // For a bank with keys of one type, the message explains which option selects this type.
  Ok("tamis bank build -q -o i --from-parquet key i.parquet");
  EXPECT_EQ(Ok("tamis bank query -q i --integers --count integers").out, "3/5\n");
  const CommandResult as_text = Sh("tamis bank query i text");
  EXPECT_EQ(as_text.status, 2);
  EXPECT_TRUE(as_text.ErrHas("give --integers")) << as_text.err;
  Ok("tamis bank build -q -o d --from-parquet key d.parquet");
  const CommandResult as_integers = Sh("tamis bank query d --integers integers");
  EXPECT_EQ(as_integers.status, 2);
  EXPECT_TRUE(as_integers.ErrHas("leave out --integers")) << as_integers.err;
}

TEST_F(BankOfParquetTest, RowGroupsWithoutAFilterAreNotLost) {
  const std::string filter = FilterOf(Stored<int64_t>({1}));
  WriteFile("a.parquet", parquet::PhysicalType::kInt64, {filter, "", filter});
  const CommandResult refused = Sh("tamis bank build -o b --from-parquet key a.parquet");
  EXPECT_EQ(refused.status, 2);
  EXPECT_TRUE(refused.ErrHas("a.parquet: row group 1: it has no Bloom filter")) << refused.err;
  EXPECT_FALSE(std::filesystem::exists(Path("b")));
  EXPECT_TRUE(Sh("tamis bank build -o b --from-parquet key --keep-without-filter a.parquet")
                  .ErrHas("1 member without a usable filter"));
  EXPECT_EQ(Ok("echo 77 | tamis bank query b --integers -").out, "77\ta.parquet#1\n");
  EXPECT_EQ(Ok("echo 1 | tamis bank query b --integers -").NumLines(), 3U);
  // A row group without values does not need a filter.
  WriteFile("n.parquet", parquet::PhysicalType::kInt64, {"", filter}, 1000);
  Ok("tamis bank build -q -o n --from-parquet key n.parquet");
  EXPECT_EQ(Ok("tamis bank info --json n").Json()["members"], 1);
}

TEST_F(BankOfParquetTest, FiltersWithoutBitsAndUnreadableFilesAreNamed) {
  const std::string filter = FilterOf(Stored<int64_t>({1}));
  WriteFile("a.parquet", parquet::PhysicalType::kInt64, {filter, FilterOf({})});
  const CommandResult refused = Sh("tamis bank build -o b --from-parquet key a.parquet");
  EXPECT_EQ(refused.status, 3);
  EXPECT_TRUE(refused.ErrHas("a.parquet: row group 1: its Bloom filter has no bits"))
      << refused.err;
  Write("x.parquet", "no Parquet file");
  const CommandResult unreadable =
      Sh("tamis bank build -o b --from-parquet key x.parquet a.parquet");
  EXPECT_EQ(unreadable.status, 3);
  EXPECT_TRUE(unreadable.ErrHas("x.parquet: ")) << unreadable.err;
  Ok("tamis bank build -q -o b --from-parquet key --keep-without-filter x.parquet a.parquet");
  EXPECT_EQ(Ok("echo 77 | tamis bank query b --integers -").out,
            "77\tx.parquet\n77\ta.parquet#1\n");
}

TEST_F(BankOfParquetTest, KeysThatAreStoredOtherwiseAreRefused) {
  const std::string filter = FilterOf({std::string(16, 'x')});
  const parquet::MadeFile file = {
      .columns = {{.name = "key",
                   .physical = 7,
                   .width = 16,
                   .logical = parquet::ThriftWriter().Struct(14, parquet::ThriftWriter())}},
      .groups = {{{.filter = filter}}}};
  Write("u.parquet", file.bytes());
  const CommandResult uuid = Sh("tamis bank build -o b --from-parquet key u.parquet");
  EXPECT_EQ(uuid.status, 3);
  EXPECT_TRUE(
      uuid.ErrHas("u.parquet: a bank cannot have keys of type FIXED_LEN_BYTE_ARRAY(16) (UUID)"))
      << uuid.err;
}

TEST_F(BankOfParquetTest, OtherFilesAreRefused) {
  Write("x.parquet", "no Parquet file");
  EXPECT_EQ(Sh("tamis bank build -o b --from-parquet key x.parquet").status, 3);
  WriteFile("t.parquet", parquet::PhysicalType::kInt96, {FilterOf({std::string(12, 'x')})});
  const CommandResult int96 = Sh("tamis bank build -o b --from-parquet key t.parquet");
  EXPECT_NE(int96.status, 0);
  EXPECT_TRUE(int96.ErrHas("t.parquet: filters of columns of type INT96")) << int96.err;
  WriteFile("a.parquet", parquet::PhysicalType::kInt64, {FilterOf(Stored<int64_t>({1}))});
  EXPECT_TRUE(Sh("tamis bank build -o b --from-parquet key a.parquet a.parquet")
                  .ErrHas("has a member \"a.parquet#0\" already"));
  EXPECT_EQ(Sh("tamis bank build -o b --keep-without-filter a.parquet").status, 2);
  EXPECT_FALSE(std::filesystem::exists(Path("b")));
}

}  // namespace tamis::tools::bank_command_test
