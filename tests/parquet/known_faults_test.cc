// Files in tests/parquet/writers: from writers with wrong statistics, and from their next versions.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/parquet/filter_report.h"
#include "tamis/parquet/footer.h"
#include "tamis/parquet/pruner.h"
#include "tamis/parquet/source.h"

namespace tamis::parquet::known_faults_test {

struct WriterFile {
  std::string name;
  std::vector<std::string_view> there;   // keys in the first row group
  std::vector<std::string_view> absent;  // keys in no row group
  bool faulty;
  size_t skipped;  // row groups ruled out for `absent` by bounds and numbers of nulls
};

// make.py contains the values. A fault disables only the bounds that may be wrong.
const std::vector<WriterFile>& Files() {
  static const std::vector<WriterFile> files = {
      {"polars-1.44.2-decimal", {"-3", "7"}, {"15"}, true, 0},
      {"polars-2.0.0-decimal", {"-3", "7"}, {"15"}, false, 2},
      {"polars-1.36.1-text", {"k000", "z", "", "k0", "zz"}, {"a", "j"}, true, 2},
      {"polars-1.37.0-text", {"k000", "z", "", "k0", "zz"}, {"zzz"}, true, 1},
      {"polars-1.44.2-nulls", {"7"}, {"9"}, true, 2},
      {"polars-2.0.0-nulls", {"7"}, {"9"}, false, 2},
      {"polars-2.0.0-unsigned", {"1", "9223372036854775813"}, {"9223372036854777000"}, true, 0},
      {"polars-2.1.0-unsigned", {"1", "9223372036854775813"}, {"9223372036854777000"}, false, 2},
      {"polars-2.0.0-float", {"-5", "5000.5"}, {"6000"}, true, 0},
      {"polars-2.1.0-float", {"-5", "5000.5"}, {"6000"}, false, 2},
      {"pyarrow-10.0.1-dictionary", {"a", "z"}, {"zz"}, true, 0},
      {"pyarrow-11.0.0-dictionary", {"a", "z"}, {"zz"}, false, 2},
  };
  return files;
}

std::filesystem::path PathOf(const WriterFile& file) {
  return std::filesystem::path(TAMIS_PARQUET_DIR) / "writers" / (file.name + ".parquet");
}

FileAnswer Ask(const WriterFile& file, const std::vector<std::string_view>& keys) {
  const KeyList list = KeyList::Text(keys);
  return ParquetPruner(list, {.column = "x"}).Ask(*OpenSource(PathOf(file)));
}

TEST(KnownFaultsTest, KeysThatAreThereAreKept) {
  for (const WriterFile& file : Files()) {
    for (const std::string_view key : file.there) {
      const FileAnswer answer = Ask(file, {key});
      ASSERT_EQ(answer.doubt, "");
      EXPECT_EQ(answer.groups.at(0).outcome, Outcome::kNoFilter) << file.name << ": " << key;
    }
  }
}

TEST(KnownFaultsTest, KeysThatAreAbsentAreStillRuledOutWhereNothingIsWrong) {
  for (const WriterFile& file : Files()) {
    size_t skipped = 0;
    for (const GroupAnswer& group : Ask(file, file.absent).groups) {
      skipped += !IsKept(group.outcome);
    }
    EXPECT_EQ(skipped, file.skipped) << file.name;
  }
}

TEST(KnownFaultsTest, TheReportNamesIgnoredFilters) {
  for (const WriterFile& file : Files()) {
    const FileReport report = ReportFilters(*OpenSource(PathOf(file)));
    EXPECT_EQ(!report.columns.at(0).ignored.empty(), file.faulty) << file.name;
  }
}

}  // namespace tamis::parquet::known_faults_test
