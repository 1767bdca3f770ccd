// Adds filters to files. An error leaves no file behind.
#include "tamis/parquet/add.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "parquet/src/splice.h"
#include "tamis/error.h"
#include "tamis/filters/sizing.h"
#include "tamis/parquet/bloom_filter.h"
#include "tests/os/test_os.h"
#include "tests/parquet/parquet_maker.h"
#include "tests/parquet/plain_file.h"
#include "tests/test_util.h"

namespace tamis::parquet::add_test {

namespace fs = std::filesystem;

using Outcome = AddedFilter::Outcome;

std::vector<int64_t> Integers(size_t n, uint64_t seed) {
  std::vector<int64_t> integers;
  for (const uint64_t key : RandomKeys(n, seed)) integers.push_back(static_cast<int64_t>(key));
  return integers;
}

std::vector<std::string> Words(size_t n, const std::string& prefix) {
  std::vector<std::string> words;
  for (size_t i = 0; i < n; ++i) words.push_back(prefix + std::to_string(i));
  return words;
}

// A file with two columns, and row groups of 1,000 values.
PlainFile TwoColumns() {
  PlainFile file = {.columns = {{"id", PhysicalType::kInt64}, {"word", PhysicalType::kByteArray}}};
  for (uint64_t i = 0; i < 3; ++i) {
    file.row_groups.push_back({{.integers = Integers(1000, i)},
                               {.strings = Words(900, "w" + std::to_string(i)), .nulls = 100}});
  }
  return file;
}

class AddTest : public testing::Test {
 protected:
  fs::path Put(const PlainFile& file, const std::string& name = "old.parquet") {
    return folder_.Write(name, file.Bytes());
  }
  fs::path to() const { return folder_.path() / "new.parquet"; }

  // Returns the code of the error thrown. Expects that no file is left behind.
  ErrorCode Refusal(const fs::path& from, const AddOptions& options,
                    const OpenValues& open = OpenPlainValues) {
    try {
      AddFilters(from, to(), open, options);
    } catch (const Error& error) {
      EXPECT_EQ(Names(), std::vector<std::string>{"old.parquet"}) << error.what();
      return error.code();
    }
    ADD_FAILURE() << "no error";
    return ErrorCode::kNotDurable;
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  Folder folder_;
};

// Counts keys with the filter of a chunk.
size_t CountIn(const fs::path& path, size_t row_group, size_t column, const Keys& keys) {
  const auto source = OpenSource(path);
  const Footer footer = Footer::Read(*source);
  const FilterPlace place = FindFilter(*source, footer, footer.Chunk(row_group, column));
  FilterBuffer buffer;
  return ReadFilter(*source, place, buffer).Count(keys);
}

TEST_F(AddTest, ANewFileHasTheOldOneAndFiltersForAllKeys) {
  const PlainFile file = TwoColumns();
  const fs::path from = Put(file);
  const AddResult result =
      AddFilters(from, to(), OpenPlainValues, {.columns = {"word", "id", "id"}});
  const std::string before = ReadFile(from), after = ReadFile(to());
  EXPECT_EQ(before, file.Bytes());
  EXPECT_EQ(result.old_bytes, before.size());
  EXPECT_EQ(result.new_bytes, after.size());
  const Footer old_footer = Footer::Read(*OpenSource(from));
  const Footer footer = Footer::Read(*OpenSource(to()));
  EXPECT_TRUE(std::equal(
      before.begin(), before.begin() + static_cast<ptrdiff_t>(old_footer.offset()), after.begin()));
  ASSERT_EQ(result.chunks.size(), 6u);
  std::vector<FilterEntry> entries;
  uint64_t added = 0;
  for (size_t i = 0; i < 6; ++i) {
    const AddedFilter& chunk = result.chunks[i];
    EXPECT_EQ(std::pair(chunk.row_group, chunk.column), std::pair(i / 2, i % 2));
    EXPECT_EQ(chunk.outcome, Outcome::kAdded) << chunk.reason;
    EXPECT_EQ(chunk.values, 1000u);
    EXPECT_NEAR(static_cast<double>(chunk.distinct), i % 2 == 0 ? 1000 : 900, 20);
    EXPECT_EQ(chunk.bytes, 2048u);  // 10.5 bits per key, rounded up to a power of two
    EXPECT_LE(chunk.fpr, 0.01);
    const ColumnChunk there = footer.Chunk(i / 2, i % 2);
    EXPECT_EQ(there.filter_offset, chunk.offset);
    EXPECT_EQ(there.filter_length, 16u + 2048);
    EXPECT_EQ((chunk.offset + 16) % 32, 0u);
    entries.push_back({i / 2, i % 2, static_cast<int64_t>(chunk.offset), 16 + 2048});
    added += chunk.bytes_in_file;
  }
  EXPECT_EQ(footer.offset(), old_footer.offset() + added);
  EXPECT_TRUE(std::ranges::equal(footer.bytes(), SpliceFooter(old_footer.bytes(), 0, entries)));
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(CountIn(to(), i, 0, file.row_groups[i][0].integers), 1000u);
    EXPECT_EQ(CountIn(to(), i, 1, file.row_groups[i][1].strings), 900u);
    EXPECT_LT(CountIn(to(), i, 0, Integers(10000, 99)), 200u);
  }
  EXPECT_EQ(Names(), (std::vector<std::string>{"new.parquet", "old.parquet"}));
}

TEST_F(AddTest, SizesFollowTheDistinctKeys) {
  for (const size_t distinct : {9, 20, 100, 1000, 3000}) {
    std::vector<int64_t> keys = Integers(distinct, 7), values;
    for (size_t i = 0; i < 30000; ++i) values.push_back(keys[i % distinct]);
    const fs::path from = Put({{{"id", PhysicalType::kInt64}}, {{{.integers = values}}}});
    for (const double fpr : {0.1, 0.01, 1e-5}) {
      const AddResult result =
          AddFilters(from, to(), OpenPlainValues, {.columns = {"id"}, .fpr = fpr});
      const AddedFilter& chunk = result.chunks[0];
      EXPECT_NEAR(static_cast<double>(chunk.distinct), static_cast<double>(distinct),
                  0.02 * static_cast<double>(distinct));
      const uint64_t bytes = std::bit_ceil(32 * SplitBlockBlocks(distinct, fpr));
      EXPECT_EQ(chunk.bytes, bytes) << distinct << " at " << fpr;
      EXPECT_LE(chunk.fpr, fpr);
      // Folded or not, the filter equals a filter that is created with this size.
      SplitBlockBloomFilter filter({.bytes = bytes, .hash = kFilterHash});
      filter.Insert(keys);
      const std::string after = ReadFile(to());
      const std::string expected = ToParquet(filter);
      ASSERT_LE(chunk.offset + expected.size(), after.size());
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(),
                             after.begin() + static_cast<ptrdiff_t>(chunk.offset)));
    }
  }
}

TEST_F(AddTest, FiltersThatCannotPayAreLeftOutUnlessForced) {
  PlainFile file = {.columns = {{"id", PhysicalType::kInt64}}};
  std::vector<int64_t> few;
  for (int64_t i = 0; i < 1000; ++i) few.push_back(i % 8);
  file.row_groups = {
      {{.nulls = 1000}},
      {{.integers = few}},
      {{.integers = Integers(1000, 1), .dictionary_bytes = 2048 + 16}},
      {{.integers = Integers(9, 1)}},
      {{.integers = Integers(1000, 1), .dictionary_bytes = 2048 + 17}},
  };
  const fs::path from = Put(file);
  const AddResult result =
      AddFilters(from, to(), OpenPlainValues, {.columns = {"id"}, .fpr = 1e-2});
  const char* const reasons[] = {"null", "few distinct values: 8 among 1000", "in the dictionary"};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(result.chunks[i].outcome, Outcome::kLeftOut);
    EXPECT_NE(result.chunks[i].reason.find(reasons[i]), std::string::npos)
        << result.chunks[i].reason;
    EXPECT_FALSE(Footer::Read(*OpenSource(to())).Chunk(i, 0).filter_offset);
  }
  EXPECT_EQ(result.chunks[3].outcome, Outcome::kAdded);  // 72 bytes, and the filter takes 47
  EXPECT_EQ(result.chunks[4].outcome, Outcome::kAdded);
  const AddResult finer = AddFilters(from, to(), OpenPlainValues, {.columns = {"id"}, .fpr = 1e-5});
  EXPECT_NE(finer.chunks[3].reason.find("no smaller than the column chunk"), std::string::npos)
      << finer.chunks[3].reason;
  const AddResult forced =
      AddFilters(from, to(), OpenPlainValues, {.columns = {"id"}, .force = true});
  for (const AddedFilter& chunk : forced.chunks) {
    EXPECT_EQ(chunk.outcome, Outcome::kAdded);
    EXPECT_EQ(chunk.reason, "");
  }
  EXPECT_EQ(CountIn(to(), 0, 0, Integers(100, 5)), 0u);
  EXPECT_EQ(CountIn(to(), 1, 0, few), few.size());
}

TEST_F(AddTest, FiltersThatAreThereStayOrAreReplaced) {
  PlainFile file = TwoColumns();
  file.row_groups[1][0].filter_offset = 4;  // not a filter, and not read
  const fs::path from = Put(file);
  AddOptions options = {.columns = {"id"}};
  const AddResult kept = AddFilters(from, to(), OpenPlainValues, options);
  EXPECT_EQ(kept.chunks[1].outcome, Outcome::kKept);
  EXPECT_EQ(Footer::Read(*OpenSource(to())).Chunk(1, 0).filter_offset, 4u);
  EXPECT_FALSE(Footer::Read(*OpenSource(to())).Chunk(1, 0).filter_length);
  EXPECT_EQ(kept.chunks[2].outcome, Outcome::kAdded);
  options.replace = true;
  const AddResult replaced = AddFilters(from, to(), OpenPlainValues, options);
  EXPECT_EQ(replaced.chunks[0].outcome, Outcome::kAdded);
  EXPECT_EQ(replaced.chunks[1].outcome, Outcome::kReplaced);
  EXPECT_EQ(CountIn(to(), 1, 0, file.row_groups[1][0].integers), 1000u);
}

TEST_F(AddTest, FiltersWithoutBitsAreReplacedWhereThereAreValues) {
  PlainFile file = {.columns = {{"id", PhysicalType::kInt64}}};
  const std::vector<int64_t> few = {1, 2, 3};
  file.row_groups = {{{.integers = few}}, {{.nulls = 1000}}};
  const fs::path with_filters = folder_.path() / "with filters";
  AddFilters(Put(file), with_filters, OpenPlainValues, {.columns = {"id"}, .force = true});
  // A writer that never inserts keys leaves such a filter.
  std::string bytes = ReadFile(with_filters);
  const auto source = OpenSource(with_filters);
  const Footer footer = Footer::Read(*source);
  const FilterPlace place = FindFilter(*source, footer, footer.Chunk(0, 0));
  bytes.replace(place.bits_offset, place.bits, place.bits, '\0');
  const fs::path from = folder_.Write("without bits", bytes);
  EXPECT_EQ(CountIn(from, 0, 0, few), 0u);
  const AddResult result = AddFilters(from, to(), OpenPlainValues, {.columns = {"id"}});
  EXPECT_EQ(result.chunks[0].outcome, Outcome::kReplaced) << "though it does not pay";
  EXPECT_EQ(result.chunks[1].outcome, Outcome::kKept) << "of nulls alone";
  EXPECT_EQ(CountIn(to(), 0, 0, few), few.size());
}

TEST_F(AddTest, WithoutAnyFilterTheNewFileIsACopy) {
  const PlainFile file = {{{"id", PhysicalType::kInt64}}, {{{.nulls = 10}}}};
  AddFilters(Put(file), to(), OpenPlainValues, {.columns = {"id"}});
  EXPECT_EQ(ReadFile(to()), file.Bytes());
}

TEST_F(AddTest, FailuresLeaveNothing) {
  PlainFile file = TwoColumns();
  file.columns.push_back({"truth", PhysicalType::kBoolean});
  file.columns.push_back({"old time", PhysicalType::kInt96});
  for (auto& row_group : file.row_groups) row_group.resize(4);
  const fs::path from = Put(file);
  EXPECT_EQ(Refusal(from, {}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Refusal(from, {.columns = {"name"}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Refusal(from, {.columns = {"id", "truth"}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Refusal(from, {.columns = {"old time"}}), ErrorCode::kInvalidArgument);
  for (const double fpr : {0.0, -1.0, 0.6, std::nan("")}) {
    EXPECT_EQ(Refusal(from, {.columns = {"id"}, .fpr = fpr}), ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(Refusal(folder_.path() / "none.parquet", {.columns = {"id"}}), ErrorCode::kIo);
  PlainFile other = file;
  other.signed_footer = true;
  EXPECT_EQ(Refusal(Put(other), {.columns = {"id"}}), ErrorCode::kUnsupported);
  other = file;
  other.other_file = true;
  EXPECT_EQ(Refusal(Put(other), {.columns = {"id"}}), ErrorCode::kUnsupported);
}

TEST_F(AddTest, TheOldFileIsNeverTheNewOne) {
  const PlainFile file = TwoColumns();
  const fs::path from = Put(file);
  fs::create_hard_link(from, folder_.path() / "hard");
  std::vector<std::string> names = {"hard", "old.parquet"};
  if (test_os::MakeSymbolicLink("old.parquet", folder_.path() / "link")) {
    names.insert(names.begin() + 1, "link");
  }
  for (const std::string& name : names) {
    for (const fs::path& path : {folder_.path() / name, folder_.path() / "." / name}) {
      EXPECT_THROW(AddFilters(from, path, OpenPlainValues, {.columns = {"id"}}), Error);
      EXPECT_EQ(ReadFile(from), file.Bytes()) << path;
    }
  }
  EXPECT_EQ(Names(), names);
}

// Reads only some of the values.
class FewerValues final : public ColumnValues {
 public:
  uint64_t Read(size_t, size_t, const Take& take) override {
    take(std::vector<int64_t>(999));
    return 999;
  }
};

TEST_F(AddTest, ValuesThatAreMissingAreAnError) {
  const fs::path from = Put(TwoColumns());
  EXPECT_EQ(Refusal(from, {.columns = {"id"}},
                    [](const fs::path&) { return std::make_unique<FewerValues>(); }),
            ErrorCode::kCorrupt);
}

TEST_F(AddTest, WorkThatEndsEarlyLeavesTheOldTarget) {
  const fs::path from = Put(TwoColumns());
  folder_.Write("new.parquet", "old");
  int chunks = 0;
  const auto stop = [&](const AddedFilter&) {
    if (++chunks == 4) throw Error(ErrorCode::kCancelled, "enough");
  };
  EXPECT_THROW(
      AddFilters(from, to(), OpenPlainValues, {.columns = {"id", "word"}, .on_chunk = stop}),
      Error);
  EXPECT_EQ(ReadFile(to()), "old");
  EXPECT_EQ(Names(), (std::vector<std::string>{"new.parquet", "old.parquet"}));
}

TEST_F(AddTest, AFileThatChangesDuringTheRunIsAnError) {
  PlainFile file = TwoColumns();
  const fs::path from = Put(file);
  const auto with = [&](const std::function<void()>& change) {
    return AddOptions{.columns = {"id"}, .on_chunk = [change](const AddedFilter& chunk) {
                        if (chunk.row_group == 2) change();
                      }};
  };
  // Another file replaces the file during the work, so the decoded values may be from either file.
  if (test_os::ReplacesOpenFiles()) {
    EXPECT_EQ(Refusal(from, with([&] { fs::rename(Put(file, "other"), from); })), ErrorCode::kBusy);
  }
  EXPECT_EQ(Refusal(from, with([&] {
                      std::string bytes = file.Bytes();
                      bytes[100] ^= 1;
                      folder_.Write("old.parquet", bytes);
                    })),
            ErrorCode::kIo);
}

}  // namespace tamis::parquet::add_test
