// The pairs of rows that are compared, each within the same repetition.
#include "bench/suite/ratios.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tamis/backends.h"

namespace tamis::bench::ratios_test {

Row MakeRow(const std::string& kind, const Case& point, const std::vector<double>& ns,
            const std::string& size = "1000_keys") {
  Row row;
  row.kind = kind;
  row.point = point;
  row.size_class = size;
  row.ns_per_key = ns;
  return row;
}

TEST(RatiosTest, AreToTheBulkOperationAndToTheFirstKind) {
  const Backend* const backend = &Backends().front();
  const std::vector<Row> rows = {
      MakeRow("ours", {.operation = Operation::kContains, .backend = backend}, {1, 2, 4}),
      MakeRow("ours", {.operation = Operation::kOneKey, .backend = backend}, {3, 4, 20}),
      MakeRow("ours", {.operation = Operation::kContains, .backend = backend, .threads = 2},
              {0.5, 1.5, 2}),
      MakeRow("peer", {.operation = Operation::kContains}, {2, 5, 4}),
      MakeRow("peer", {.operation = Operation::kBuild}, {1, 1, 1}),
      MakeRow("ours", {.operation = Operation::kOneKey, .backend = backend}, {7}, "9_keys"),
  };
  const std::vector<Ratio> ratios = Ratios(rows);
  ASSERT_EQ(ratios.size(), 3u);
  EXPECT_EQ(ratios[0].row, &rows[1]);
  EXPECT_EQ(ratios[0].to, &rows[0]);
  EXPECT_DOUBLE_EQ(ratios[0].median, 3);
  EXPECT_DOUBLE_EQ(ratios[0].least, 2);
  EXPECT_DOUBLE_EQ(ratios[0].most, 5);
  EXPECT_EQ(ratios[1].row, &rows[2]);
  EXPECT_EQ(ratios[1].to, &rows[0]);
  EXPECT_DOUBLE_EQ(ratios[1].median, 0.5);
  EXPECT_EQ(ratios[2].row, &rows[3]);
  EXPECT_EQ(ratios[2].to, &rows[0]);
  EXPECT_DOUBLE_EQ(ratios[2].median, 2);
}

TEST(RatiosTest, AConcurrentKindIsComparedWithThePlainOne) {
  const Backend* const backend = &Backends().front();
  const std::vector<Row> rows = {
      MakeRow("a", {.backend = backend}, {1}),
      MakeRow("b", {.backend = backend}, {2}),
      MakeRow("concurrent_b", {.backend = backend}, {3}),
      MakeRow("concurrent_b",
              {.operation = Operation::kContainsBesideWriter, .backend = backend, .threads = 2},
              {6}),
  };
  const std::vector<Ratio> ratios = Ratios(rows);
  ASSERT_EQ(ratios.size(), 4u);
  EXPECT_EQ(ratios[0].to, &rows[0]);
  EXPECT_EQ(ratios[1].to, &rows[1]);
  EXPECT_DOUBLE_EQ(ratios[1].median, 1.5);
  EXPECT_EQ(ratios[2].to, &rows[2]);
  EXPECT_DOUBLE_EQ(ratios[2].median, 2);
  EXPECT_EQ(ratios[3].to, &rows[1]);
  EXPECT_DOUBLE_EQ(ratios[3].median, 3);
}

TEST(RatiosTest, OneKeyOfAPeerIsComparedWithOneKeyOfOurs) {
  const std::vector<Row> rows = {
      MakeRow("ours", {.operation = Operation::kBuildOneKey, .backend = &Backends().front()}, {2}),
      MakeRow("peer", {.operation = Operation::kBuildOneKey}, {3}),
      MakeRow("peer", {.operation = Operation::kBuild}, {1}),
  };
  const std::vector<Ratio> ratios = Ratios(rows);
  ASSERT_EQ(ratios.size(), 2u);
  EXPECT_EQ(ratios[0].to, &rows[2]);
  EXPECT_DOUBLE_EQ(ratios[0].median, 3);
  EXPECT_EQ(ratios[1].to, &rows[0]);
  EXPECT_DOUBLE_EQ(ratios[1].median, 1.5);
  EXPECT_TRUE(Ratios({}).empty());
}

}  // namespace tamis::bench::ratios_test
