// Footers and filters of files from pyarrow and DuckDB, and of damaged files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "parquet/src/filter_header.h"
#include "tamis/error.h"
#include "tamis/parquet/bloom_filter.h"
#include "tamis/parquet/filter_report.h"
#include "tamis/parquet/footer.h"
#include "tamis/parquet/pruner.h"
#include "tests/parquet/parquet_maker.h"

namespace tamis::parquet::reader_test {

using namespace std::string_literals;
namespace fs = std::filesystem;

// A file of another writer beside this file, and the contents of NAME.txt.
struct RealFile {
  explicit RealFile(const std::string& name)
      : path(fs::path(TAMIS_PARQUET_DIR) / (name + ".parquet")) {
    std::ifstream text(fs::path(TAMIS_PARQUET_DIR) / (name + ".txt"));
    std::string column;
    for (int i = 0; i < 2; ++i) text >> column >> offsets[i] >> sizes[i];
    int64_t value = 0;
    while (text >> value) {
      ids.push_back(value);
      text.ignore(1);
      std::getline(text, words.emplace_back());
    }
  }
  std::vector<std::string_view> views() const { return {words.begin(), words.end()}; }

  fs::path path;
  uint64_t offsets[2] = {};
  uint64_t sizes[2] = {};
  std::vector<int64_t> ids;
  std::vector<std::string> words;
};

template <typename F>
std::string ErrorOf(const F& f, ErrorCode code) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST(ParquetReaderTest, FilesOfOtherWriters) {
  for (const char* name : {"pyarrow", "duckdb"}) {
    SCOPED_TRACE(name);
    const RealFile real(name);
    ASSERT_EQ(real.ids.size(), 100u);
    const auto source = OpenSource(real.path);
    const Footer footer = Footer::Read(*source);
    EXPECT_EQ(footer.rows(), 1000u);
    EXPECT_FALSE(footer.encrypted());
    const Schema& schema = footer.schema();
    ASSERT_EQ(schema.columns().size(), 2u);
    EXPECT_EQ(schema.Find("word"), 1u);
    EXPECT_EQ(schema.columns()[0].physical, PhysicalType::kInt64);
    EXPECT_EQ(TypeText(schema.columns()[1]), "BYTE_ARRAY (string)");
    ASSERT_EQ(footer.row_groups().size(), 1u);
    for (size_t column = 0; column < 2; ++column) {
      const ColumnChunk chunk = footer.Chunk(0, column);
      EXPECT_EQ(chunk.values, 1000u);
      EXPECT_TRUE(footer.ordered(column));
      EXPECT_TRUE(chunk.statistics.min && chunk.statistics.max);
      const FilterPlace place = FindFilter(*source, footer, chunk);
      EXPECT_EQ(place.bits_offset, real.offsets[column]);
      EXPECT_EQ(place.bits, real.sizes[column]);
      EXPECT_EQ(place.bytes(), *chunk.filter_length);
    }
  }
}

// The file is read, mapped, and in memory at every alignment.
TEST(ParquetReaderTest, FiltersHaveTheirKeysWhereverTheyAre) {
  const RealFile real("pyarrow");
  const std::string bytes = ReadFile(real.path);
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(OpenSource(real.path));
  sources.push_back(MapSource(real.path));
  std::vector<std::vector<char>> shifted;
  for (size_t shift = 0; shift < 4; ++shift) {
    auto& copy = shifted.emplace_back(shift, 'x');
    copy.insert(copy.end(), bytes.begin(), bytes.end());
    sources.push_back(std::make_unique<MemorySource>(
        std::as_bytes(std::span(copy.data() + shift, bytes.size()))));
  }
  size_t in_place = 0;
  for (const auto& source : sources) {
    const Footer footer = Footer::Read(*source);
    FilterBuffer buffer;
    const auto view = ReadFilter(*source, FindFilter(*source, footer, footer.Chunk(0, 0)), buffer);
    EXPECT_EQ(view.Count(real.ids), 100u);
    const std::span<const std::byte> memory = source->Memory();
    in_place += !memory.empty() && view.blocks().data() >= memory.data() &&
                view.blocks().data() < memory.data() + memory.size();
  }
  EXPECT_GE(in_place, 1u);
}

TEST(ParquetReaderTest, FiltersEqualParquets) {
  for (const char* name : {"pyarrow", "duckdb"}) {
    const RealFile real(name);
    const std::string bytes = ReadFile(real.path);
    SplitBlockBloomFilter filter({.bytes = real.sizes[0], .hash = kFilterHash});
    filter.Insert(real.ids);
    const std::string ours = ToParquet(filter);
    const size_t begin = real.offsets[0] - (ours.size() - real.sizes[0]);
    EXPECT_EQ(ours, bytes.substr(begin, ours.size()));
    const SplitBlockBloomFilter again = FromParquet(BytesOf(bytes).subspan(begin));
    EXPECT_EQ(ToParquet(again), ours);
    EXPECT_EQ(again.Count(real.ids), 100u);
    EXPECT_NEAR(static_cast<double>(again.inserted_count()), 100, 15);
  }
}

TEST(ParquetReaderTest, FiltersThatParquetCannotHave) {
  ErrorOf([] { ToParquet(SplitBlockBloomFilter({.bytes = 64})); }, ErrorCode::kIncompatible);
  ErrorOf(
      [] {
        ToParquet(SplitBlockBloomFilter({.bytes = 64, .hash = {HashKind::kXxh64, 1}}));
      },
      ErrorCode::kIncompatible);
}

TEST(ParquetReaderTest, HeadersOfEverySize) {
  for (const uint64_t bits : {uint64_t{32}, uint64_t{96}, uint64_t{1} << 20, kMaxFilterBytes}) {
    const std::string header = FilterHeader(bits);
    const ParsedHeader parsed = ParseFilterHeader(BytesOf(header + "bits"), 0);
    EXPECT_EQ(parsed.header_bytes, header.size());
    EXPECT_EQ(parsed.bits, bits);
  }
  EXPECT_EQ(FilterHeader(32).size(), 15u);
}

TEST(ParquetReaderTest, InvalidHeaders) {
  const ThriftWriter known = ThriftWriter().Struct(1, ThriftWriter());
  const ThriftWriter other = ThriftWriter().Struct(2, ThriftWriter());
  const auto header = [&](int64_t bytes, const ThriftWriter& algorithm, const ThriftWriter& hash,
                          const ThriftWriter& compression) {
    return ThriftWriter()
        .I32(1, bytes)
        .Struct(2, algorithm)
        .Struct(3, hash)
        .Struct(4, compression)
        .bytes();
  };
  const auto parse = [](const std::string& bytes) { ParseFilterHeader(BytesOf(bytes), 5); };
  parse(header(32, known, known, known));
  using enum ErrorCode;
  EXPECT_NE(
      ErrorOf([&] { parse(header(32, other, known, known)); }, kUnsupported).find("algorithm"),
      std::string::npos);
  EXPECT_NE(ErrorOf([&] { parse(header(32, known, other, known)); }, kUnsupported).find("hash"),
            std::string::npos);
  EXPECT_NE(
      ErrorOf([&] { parse(header(32, known, known, other)); }, kUnsupported).find("compression"),
      std::string::npos);
  for (const int64_t bytes : {0, -32, 33, 31}) {
    ErrorOf([&] { parse(header(bytes, known, known, known)); }, kCorrupt);
  }
  ErrorOf([&] { parse(ThriftWriter().I32(1, 32).Struct(2, known).bytes()); }, kCorrupt);
  ErrorOf([&] { FromParquet(BytesOf(FilterHeader(64) + std::string(63, 'x'))); }, kCorrupt);
  EXPECT_EQ(FromParquet(BytesOf(FilterHeader(64) + std::string(64, 'x'))).bytes(), 64u);
}

// Expects an error or an answer for any file. Everything kept has a reason.
void Use(std::span<const std::byte> bytes, const ParquetPruner& pruner) {
  const MemorySource source(bytes);
  const FileAnswer answer = pruner.Ask(source);
  EXPECT_TRUE(answer.doubt.empty() || answer.kept());
  for (const GroupAnswer& group : answer.groups) {
    EXPECT_EQ(group.outcome == Outcome::kDoubt, !group.doubt.empty());
  }
}

TEST(ParquetReaderTest, CutOffAnywhereAFileIsKept) {
  const RealFile real("duckdb");
  const std::vector<std::string_view> words = real.views();
  const ParquetPruner pruner(KeyList::Text(words), {.column = "word"});
  const std::string bytes = ReadFile(real.path);
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::vector<char> part(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    const MemorySource source(std::as_bytes(std::span(part)));
    EXPECT_FALSE(pruner.Ask(source).doubt.empty()) << size;
  }
  EXPECT_TRUE(pruner.Ask(MemorySource(BytesOf(bytes))).doubt.empty());
}

TEST(ParquetReaderTest, ReportsOfColumnsThatCannotBeRead) {
  const auto verdict_of = [](const MadeChunk& chunk) {
    const std::string bytes = MadeFile{.groups = {{chunk}}}.bytes();
    return ReportFilters(MemorySource(BytesOf(bytes))).columns.at(0).verdict;
  };
  EXPECT_EQ(verdict_of({}), "It has no filters.");
  EXPECT_EQ(verdict_of({.encrypted = true}),
            "It is unknown whether it has filters: column key is encrypted.");
  const std::string cut = verdict_of({.filter = FilterHeader(64)});
  EXPECT_EQ(cut.find("Not all of its filters can be used: "), 0u) << cut;
}

// The name of a group is part of the path of each of its columns. Here all paths together would not
// fit into memory.
TEST(ParquetReaderTest, PathsThatWouldTakeTooMuchMemory) {
  const auto footer_of = [](size_t columns) {
    std::vector<ThriftWriter> schema = {ThriftWriter().Binary(4, "schema").I32(5, 1)};
    schema.push_back(
        ThriftWriter().Binary(4, std::string(1 << 20, 'x')).I32(5, static_cast<int64_t>(columns)));
    for (size_t i = 0; i < columns; ++i) schema.push_back(ThriftWriter().I32(1, 2).Binary(4, "c"));
    const std::string bytes = ThriftWriter().Structs(2, schema).I64(3, 0).Structs(4, {}).bytes();
    const auto span = BytesOf(bytes);
    return Footer({span.begin(), span.end()}, 4);
  };
  EXPECT_EQ(footer_of(100).schema().columns().size(), 100u);
  const std::string error = ErrorOf([&] { footer_of(1000); }, ErrorCode::kCorrupt);
  EXPECT_NE(error.find("too long"), std::string::npos) << error;
}

TEST(ParquetReaderTest, AFooterOfNothing) {
  const std::string bytes = "PAR1" + Plain(uint32_t{0}) + "PAR1";
  ErrorOf([&] { Footer::Read(MemorySource(BytesOf(bytes))); }, ErrorCode::kCorrupt);
}

TEST(ParquetReaderTest, ChangedBytesEndInAnErrorOrAnAnswer) {
  constexpr int kChanges = 100'000;
  std::minstd_rand random(19);
  for (const char* name : {"pyarrow", "duckdb"}) {
    const RealFile real(name);
    const std::vector<std::string_view> few = {real.words[3], "none"};
    const ParquetPruner pruner(KeyList::Text(few), {.column = "word", .detail = Detail::kPairs});
    const std::string whole = ReadFile(real.path);
    const uint64_t end = Footer::Read(*OpenSource(real.path)).offset();
    // Only footer and filters: the bytes of pages are never read.
    const size_t begin =
        static_cast<size_t>(std::min({real.offsets[0], real.offsets[1], end})) - 20;
    std::string bytes = whole;
    for (int i = 0; i < kChanges / 2; ++i) {
      std::vector<size_t> changed;
      for (uint64_t n = 1 + random() % 3; n > 0; --n) {
        changed.push_back(begin + random() % (bytes.size() - begin));
        bytes[changed.back()] = static_cast<char>(random());
      }
      Use(BytesOf(bytes), pruner);
      for (const size_t at : changed) bytes[at] = whole[at];
    }
    EXPECT_EQ(bytes, whole);
  }
}

}  // namespace tamis::parquet::reader_test
