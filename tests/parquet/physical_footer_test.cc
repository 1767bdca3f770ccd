// Footers without logical types: all places stay the same.
#include <gtest/gtest.h>

#include <string>

#include "tamis/parquet/add.h"
#include "tamis/parquet/footer.h"
#include "tamis/parquet/source.h"
#include "tests/test_util.h"

namespace tamis::parquet::physical_footer_test {

void ExpectSamePlaces(const Footer& footer) {
  const Footer physical(PhysicalFooter(footer), footer.offset());
  EXPECT_LT(physical.bytes().size(), footer.bytes().size());
  ASSERT_EQ(physical.schema().columns().size(), footer.schema().columns().size());
  ASSERT_EQ(physical.row_groups().size(), footer.row_groups().size());
  EXPECT_EQ(physical.rows(), footer.rows());
  EXPECT_EQ(physical.created_by(), footer.created_by());
  for (size_t c = 0; c < footer.schema().columns().size(); ++c) {
    const Column& column = physical.schema().columns()[c];
    EXPECT_EQ(physical.schema().PathOf(c), footer.schema().PathOf(c));
    EXPECT_EQ(column.physical, footer.schema().columns()[c].physical);
    EXPECT_EQ(column.width, footer.schema().columns()[c].width);
    EXPECT_EQ(column.logical, LogicalType{});
    for (size_t g = 0; g < footer.row_groups().size(); ++g) {
      const ColumnChunk a = physical.Chunk(g, c), b = footer.Chunk(g, c);
      EXPECT_EQ(a.values, b.values);
      EXPECT_EQ(a.first_page, b.first_page);
      EXPECT_EQ(a.filter_offset, b.filter_offset);
      EXPECT_EQ(a.compressed_bytes, b.compressed_bytes);
    }
  }
}

TEST(PhysicalFooterTest, FilesOfOtherWritersHaveTheSamePlaces) {
  for (const char* const name : {"pyarrow", "duckdb"}) {
    SCOPED_TRACE(name);
    const auto path = std::filesystem::path(TAMIS_PARQUET_DIR) / (std::string(name) + ".parquet");
    const Footer footer = Footer::Read(*OpenSource(path));
    ASSERT_NE(footer.schema().columns()[1].logical, LogicalType{});
    ExpectSamePlaces(footer);
  }
}

}  // namespace tamis::parquet::physical_footer_test
