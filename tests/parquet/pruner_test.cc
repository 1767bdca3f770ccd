// The row groups and files that are kept, with reasons.
#include "tamis/parquet/pruner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <bit>
#include <cmath>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "parquet/src/filter_header.h"
#include "tamis/error.h"
#include "tamis/parquet/bloom_filter.h"
#include "tests/parquet/parquet_maker.h"

namespace tamis::parquet::pruner_test {

namespace fs = std::filesystem;
using Texts = std::vector<std::string_view>;

template <typename T>
std::string FilterOf(const std::vector<T>& keys, uint64_t bytes = 1024) {
  SplitBlockBloomFilter filter({.bytes = bytes, .hash = kFilterHash});
  filter.Insert(keys);
  return ToParquet(filter);
}

// Returns a chunk of integers with bounds and a filter.
MadeChunk ChunkOf(const std::vector<int64_t>& keys) {
  return {.min = Plain(*std::min_element(keys.begin(), keys.end())),
          .max = Plain(*std::max_element(keys.begin(), keys.end())),
          .nulls = 0,
          .filter = FilterOf(keys)};
}

FileAnswer Ask(const MadeFile& file, const KeyList& keys, PrunerOptions options = {}) {
  if (options.column.empty()) options.column = "key";
  const std::string bytes = file.bytes();
  return ParquetPruner(keys, options).Ask(MemorySource(BytesOf(bytes)));
}

Outcome OutcomeOf(const MadeChunk& chunk, const KeyList& keys, PrunerOptions options = {}) {
  const FileAnswer answer = Ask({.groups = {{chunk}}}, keys, options);
  EXPECT_EQ(answer.doubt, "");
  return answer.groups.empty() ? Outcome::kDoubt : answer.groups[0].outcome;
}

TEST(PrunerTest, BoundsThenFilters) {
  const std::vector<int64_t> keys = {50, 1001};
  const KeyList list = KeyList::Integers(keys);
  const FileAnswer answer =
      Ask({.groups = {{ChunkOf({1, 50, 100})}, {ChunkOf({1, 51, 100})}, {ChunkOf({60, 1000})}}},
          list, {.detail = Detail::kPairs});
  ASSERT_EQ(answer.groups.size(), 3u);
  EXPECT_EQ(answer.groups[0].outcome, Outcome::kHits);
  EXPECT_EQ(answer.groups[0].hits, 1u);
  EXPECT_EQ(answer.groups[0].keys, std::vector<uint32_t>{0});
  EXPECT_EQ(answer.groups[0].rows, 1000u);
  EXPECT_EQ(answer.groups[1].outcome, Outcome::kFilter);
  EXPECT_EQ(answer.groups[2].outcome, Outcome::kBounds);
  EXPECT_TRUE(answer.kept());
  EXPECT_FALSE(Ask({.groups = {{ChunkOf({1, 51})}}}, list).kept());
}

TEST(PrunerTest, WithoutFilterOrBounds) {
  const std::vector<int64_t> keys = {50};
  const KeyList list = KeyList::Integers(keys);
  MadeChunk chunk = ChunkOf({1, 51});
  EXPECT_EQ(OutcomeOf(chunk, list, {.filters = false}), Outcome::kNoFilter);
  chunk.filter.clear();
  EXPECT_EQ(OutcomeOf(chunk, list), Outcome::kNoFilter);
  MadeChunk outside = ChunkOf({60, 70});
  EXPECT_EQ(OutcomeOf(outside, list, {.bounds = false}), Outcome::kFilter);
  outside.filter.clear();
  EXPECT_EQ(OutcomeOf(outside, list), Outcome::kBounds);
  const FileAnswer answer = Ask({.groups = {{outside}}, .ordered = false}, list);
  EXPECT_EQ(answer.groups[0].outcome, Outcome::kNoFilter) << "of an order that nobody states";
}

std::string FilterWithoutBits() { return FilterOf(std::vector<int64_t>{}); }

TEST(PrunerTest, AFilterWithoutBitsOfAColumnWithValuesIsADoubt) {
  const std::vector<int64_t> keys = {50};
  MadeChunk chunk = ChunkOf({1, 50, 100});
  chunk.filter = FilterWithoutBits();
  for (const Detail detail : {Detail::kGroups, Detail::kCounts, Detail::kPairs}) {
    const GroupAnswer answer =
        Ask({.groups = {{chunk}}}, KeyList::Integers(keys), {.detail = detail}).groups.at(0);
    EXPECT_EQ(answer.outcome, Outcome::kDoubt);
    EXPECT_NE(answer.doubt.find("has no bits"), std::string::npos) << answer.doubt;
  }
  chunk.nulls = {};  // it may have values
  EXPECT_EQ(OutcomeOf(chunk, KeyList::Integers(keys)), Outcome::kDoubt);
  // The bounds still rule keys out. The filter of a chunk with only nulls has no bits set.
  const std::vector<int64_t> outside = {5000};
  EXPECT_EQ(OutcomeOf(chunk, KeyList::Integers(outside)), Outcome::kBounds);
  const MadeChunk nulls = {.nulls = 1000, .filter = FilterWithoutBits()};
  EXPECT_EQ(OutcomeOf(nulls, KeyList::Integers(keys)), Outcome::kNoValues);
}

TEST(PrunerTest, BoundsAndBitsMeanValues) {
  const std::vector<int64_t> there = {50};
  const std::vector<int64_t> absent = {51};
  MadeChunk chunk = {.values = 2, .min = Plain<int64_t>(50), .max = Plain<int64_t>(60), .nulls = 2};
  EXPECT_EQ(OutcomeOf(chunk, KeyList::Integers(there)), Outcome::kNoFilter);
  chunk.filter = FilterOf(there);
  EXPECT_EQ(OutcomeOf(chunk, KeyList::Integers(there)), Outcome::kHits);
  EXPECT_EQ(OutcomeOf(chunk, KeyList::Integers(absent)), Outcome::kFilter);
  chunk.min = chunk.max = {};
  EXPECT_EQ(OutcomeOf(chunk, KeyList::Integers(there)), Outcome::kHits);
  EXPECT_EQ(OutcomeOf(chunk, KeyList::Integers(absent)), Outcome::kFilter);
  chunk.nulls = 3;  // more than the number of values
  chunk.filter.clear();
  EXPECT_EQ(OutcomeOf(chunk, KeyList::Integers(there)), Outcome::kNoFilter);
}

// fastparquet counts not-a-number as null.
TEST(PrunerTest, NullsMayBeNotANumber) {
  const std::vector<double> keys = {std::nan(""), 5.0};
  for (const Detail detail : {Detail::kGroups, Detail::kCounts, Detail::kPairs}) {
    const MadeFile file = {.columns = {{.physical = 5}}, .groups = {{{.values = 9, .nulls = 9}}}};
    const GroupAnswer answer = Ask(file, KeyList::Doubles(keys), {.detail = detail}).groups.at(0);
    EXPECT_EQ(answer.outcome, Outcome::kHits);
    EXPECT_EQ(answer.hits, 1u);
  }
}

// A footer with fewer values than rows, as if the writer did not count nulls as values.
TEST(PrunerTest, FewerValuesThanRowsAreADoubt) {
  const std::vector<int64_t> keys = {50};
  const MadeFile file = {.columns = {{.name = "other"}, {.name = "key"}},
                         .groups = {{{.values = 10}, {.values = 5, .nulls = 5}}}};
  const GroupAnswer answer = Ask(file, KeyList::Integers(keys)).groups.at(0);
  EXPECT_EQ(answer.outcome, Outcome::kDoubt);
  EXPECT_NE(answer.doubt.find("5 values, nulls included, in 10 rows"), std::string::npos);
}

TEST(PrunerTest, AColumnInThePlaceOfAnotherIsADoubt) {
  const std::vector<int64_t> keys = {50};
  MadeFile file = {.columns = {{.name = "other"}, {.name = "key"}},
                   .groups = {{ChunkOf({1, 2}), ChunkOf({3, 4})}}};
  EXPECT_EQ(Ask(file, KeyList::Integers(keys)).groups.at(0).outcome, Outcome::kBounds);
  file.groups[0][1].path = "other";
  const GroupAnswer answer = Ask(file, KeyList::Integers(keys)).groups.at(0);
  EXPECT_EQ(answer.outcome, Outcome::kDoubt);
  EXPECT_NE(answer.doubt.find("key in the schema"), std::string::npos) << answer.doubt;
}

TEST(PrunerTest, ColumnsWithoutValues) {
  const std::vector<int64_t> keys = {50};
  const KeyList list = KeyList::Integers(keys);
  EXPECT_EQ(OutcomeOf({.values = 10, .nulls = 10}, list), Outcome::kNoValues);
  EXPECT_EQ(OutcomeOf({.values = 10, .nulls = 9}, list), Outcome::kNoFilter);
  EXPECT_EQ(OutcomeOf({.values = 0}, list), Outcome::kNoValues);
}

TEST(PrunerTest, FiltersOfEveryMultipleOf32WithAndWithoutTheirLength) {
  const std::vector<int64_t> keys = {7};
  for (const uint64_t bytes : {32, 96, 160, 4000}) {
    MadeChunk chunk = {.filter = FilterOf(std::vector<int64_t>{7, 8}, bytes)};
    EXPECT_EQ(OutcomeOf(chunk, KeyList::Integers(keys)), Outcome::kHits) << bytes;
    chunk.filter_length = false;
    EXPECT_EQ(OutcomeOf(chunk, KeyList::Integers(keys)), Outcome::kHits) << bytes;
    chunk.filter = FilterOf(std::vector<int64_t>{8}, bytes);
    EXPECT_EQ(OutcomeOf(chunk, KeyList::Integers(keys)), Outcome::kFilter) << bytes;
  }
}

// Each chunk is kept, with a reason.
TEST(PrunerTest, DoubtfulChunksAreKept) {
  const std::vector<int64_t> keys = {50};
  const KeyList list = KeyList::Integers(keys);
  const auto doubt_of = [&](const MadeChunk& chunk) {
    const FileAnswer answer = Ask({.groups = {{chunk}}}, list);
    EXPECT_TRUE(answer.kept());
    EXPECT_EQ(answer.groups.at(0).outcome, Outcome::kDoubt);
    return answer.groups.at(0).doubt;
  };
  MadeChunk chunk = ChunkOf({1, 51, 90});
  chunk.encrypted = true;
  EXPECT_NE(doubt_of(chunk).find("encrypted"), std::string::npos);
  chunk = ChunkOf({1, 51, 90});
  chunk.file_path = "other.parquet";
  EXPECT_NE(doubt_of(chunk).find("another file"), std::string::npos);
  chunk = ChunkOf({1, 51, 90});
  chunk.filter[3] ^= 0x7F;  // in the length
  EXPECT_NE(doubt_of(chunk), "");
  chunk = ChunkOf({1, 51, 90});
  chunk.filter = FilterHeader(1 << 20) + "short";
  EXPECT_NE(doubt_of(chunk), "");
  chunk.filter_length = false;
  EXPECT_NE(doubt_of(chunk).find("ends behind the data"), std::string::npos);
}

TEST(PrunerTest, FilesThatCannotBeAskedAreKept) {
  const Texts texts = {"x"};
  const KeyList words = KeyList::Text(texts);
  const MadeFile file = {.groups = {{ChunkOf({1})}}};
  EXPECT_NE(Ask(file, words).doubt.find("no key fits the type"), std::string::npos);
  EXPECT_NE(Ask(file, words, {.column = "other"}).doubt.find("the columns are key"),
            std::string::npos);
  MadeFile flags = file;
  flags.columns = {{.name = "key", .physical = 0}};
  EXPECT_NE(Ask(flags, words).doubt.find("BOOLEAN"), std::string::npos);
  EXPECT_TRUE(Ask(file, words).kept());
  const std::string bytes = file.bytes();
  const ParquetPruner pruner(words, {.column = "key"});
  const std::string encrypted = bytes.substr(0, bytes.size() - 1) + "E";
  EXPECT_NE(pruner.Ask(MemorySource(BytesOf(encrypted))).doubt.find("encrypted"),
            std::string::npos);
}

TEST(PrunerTest, ZerosAndNotANumber) {
  const auto chunk_of = [](const std::vector<double>& values) {
    std::vector<uint64_t> bits;
    for (const double value : values) bits.push_back(std::bit_cast<uint64_t>(value));
    return MadeChunk{
        .min = Plain(values.front()), .max = Plain(values.back()), .filter = FilterOf(bits)};
  };
  const auto ask = [&](const MadeChunk& chunk, const std::vector<double>& keys, Detail detail) {
    MadeFile file = {.columns = {{.physical = 5}}, .groups = {{chunk}}};
    return Ask(file, KeyList::Doubles(keys), {.detail = detail}).groups.at(0);
  };
  for (const double zero : {0.0, -0.0}) {
    for (const double key : {0.0, -0.0}) {
      EXPECT_EQ(ask(chunk_of({zero, 5.0}), {key}, Detail::kGroups).outcome, Outcome::kHits);
    }
  }
  for (const Detail detail : {Detail::kCounts, Detail::kPairs}) {
    EXPECT_EQ(ask(chunk_of({-0.0, 0.0}), {0.0}, detail).hits, 1u) << "two zeros are one key";
    MadeChunk bare = chunk_of({-0.0, 0.0});
    bare.filter.clear();
    EXPECT_EQ(ask(bare, {0.0}, detail).hits, 1u);
  }
  const GroupAnswer answer = ask(chunk_of({1.0, 5.0}), {std::nan(""), 9.0}, Detail::kPairs);
  EXPECT_EQ(answer.outcome, Outcome::kHits);
  EXPECT_EQ(answer.keys, std::vector<uint32_t>{0});
  for (const Detail detail : {Detail::kGroups, Detail::kCounts}) {
    for (const double other : {9.0, 3.0}) {  // out of the bounds, and not in the filter
      const GroupAnswer kept = ask(chunk_of({1.0, 5.0}), {std::nan(""), other}, detail);
      EXPECT_EQ(kept.outcome, Outcome::kHits);
      EXPECT_EQ(kept.hits, 1u);
    }
  }
}

// All threads start before any type is known.
TEST(PrunerTest, ManyThreadsAskAtATime) {
  const std::vector<int64_t> keys = {50, 1001};
  const std::string wide = MadeFile{.groups = {{ChunkOf({1, 50, 100})}}}.bytes();
  MadeFile narrow = {.groups = {{{.min = Plain(int32_t{7}), .max = Plain(int32_t{9})}}}};
  narrow.columns[0].physical = 1;  // INT32
  const std::string other = narrow.bytes();
  constexpr int kThreads = 4;
  for (int round = 0; round < 20; ++round) {
    const ParquetPruner pruner(KeyList::Integers(keys), {.column = "key"});
    std::barrier begin(kThreads);
    std::atomic<int> right = 0;
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back([&] {
          begin.arrive_and_wait();
          right += pruner.Ask(MemorySource(BytesOf(wide))).kept();
          right += !pruner.Ask(MemorySource(BytesOf(other))).kept();
        });
      }
    }
    EXPECT_EQ(right, 2 * kThreads);
    EXPECT_EQ(pruner.types().size(), 2u);
  }
}

// Many files with many groups of different types: Run gives the answers of Ask, in order.
TEST(PrunerTest, ManyFilesOnManyThreads) {
  const Folder folder;
  std::vector<fs::path> files;
  std::vector<int64_t> keys;
  for (int64_t f = 0; f < 30; ++f) {
    MadeFile file;
    if (f % 3 == 1) file.columns[0].physical = 1;  // INT32
    for (int64_t g = 0; g < f % 7; ++g) {
      const int64_t value = 1000 * f + g;
      if (f % 3 == 1) {
        const std::vector<int32_t> narrow = {static_cast<int32_t>(value)};
        SplitBlockBloomFilter filter({.bytes = 64, .hash = kFilterHash});
        filter.Insert(FixedColumn{narrow.data(), 4, 1, KeyType::kInt32});
        file.groups.push_back({{.filter = ToParquet(filter)}});
      } else {
        file.groups.push_back({{.filter = FilterOf(std::vector<int64_t>{value}, 64)}});
      }
      if ((f + g) % 4 == 0) keys.push_back(value);
    }
    files.push_back(folder.Write(std::to_string(f), f == 20 ? "damaged" : file.bytes()));
  }
  files.push_back(folder.path() / "missing");
  const PrunerOptions options = {.column = "key", .detail = Detail::kPairs, .threads = 4};
  const ParquetPruner pruner(KeyList::Integers(keys), options);
  std::vector<FileAnswer> answers;
  std::atomic<uint64_t> advanced = 0;
  pruner.Run(
      files, [&](FileAnswer&& answer) { answers.push_back(std::move(answer)); },
      [&](uint64_t bytes) { advanced += bytes; });
  ASSERT_EQ(answers.size(), files.size());
  uint64_t bytes = 0;
  std::set<int64_t> found;
  for (size_t f = 0; f < files.size(); ++f) {
    const FileAnswer& answer = answers[f];
    EXPECT_EQ(answer.name, files[f].string());
    bytes += answer.bytes;
    EXPECT_EQ(answer.doubt.empty(), f != 20 && f != 30) << answer.doubt;
    if (!answer.doubt.empty()) {
      EXPECT_TRUE(answer.kept());
      continue;
    }
    EXPECT_EQ(answer.groups.size(), f % 7);
    const FileAnswer alone = pruner.Ask(*OpenSource(files[f]));
    for (size_t g = 0; g < answer.groups.size(); ++g) {
      EXPECT_EQ(answer.groups[g].outcome, alone.groups[g].outcome);
      EXPECT_EQ(answer.groups[g].keys, alone.groups[g].keys);
      const int64_t value = static_cast<int64_t>(1000 * f + g);
      for (const uint32_t key : answer.groups[g].keys) {
        if (keys[key] == value) found.insert(value);
      }
    }
  }
  size_t expected = 0;  // except keys of the damaged file
  for (const int64_t key : keys) expected += key / 1000 != 20;
  EXPECT_EQ(found.size(), expected);
  EXPECT_EQ(advanced, bytes);
  EXPECT_EQ(pruner.types().size(), 2u) << "hashes are made once for each type";
}

TEST(PrunerTest, AnExceptionOfDeliverEndsTheRun) {
  const Folder folder;
  const std::vector<fs::path> files(50, folder.Write("a", MadeFile{.groups = {{{}}}}.bytes()));
  const std::vector<int64_t> keys = {1};
  const ParquetPruner pruner(KeyList::Integers(keys), {.column = "key", .threads = 3});
  int calls = 0;
  EXPECT_THROW(pruner.Run(files,
                          [&](FileAnswer&&) {
                            if (++calls == 3) throw std::runtime_error("enough");
                          }),
               std::runtime_error);
  EXPECT_EQ(calls, 3);
}

TEST(PrunerTest, PredictsFromASample) {
  const Folder folder;
  std::vector<int64_t> keys(1000);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int64_t>(1'000'000 + i);
  std::vector<int64_t> stored(100);
  for (size_t i = 0; i < stored.size(); ++i) stored[i] = static_cast<int64_t>(i);
  const MadeFile file = {.groups = {{{.filter = FilterOf(stored, 128)}}}};
  const std::vector<fs::path> files(3, folder.Write("a", file.bytes()));
  const ParquetPruner pruner(KeyList::Integers(keys), {.column = "key", .detail = Detail::kCounts});
  const Prediction prediction = pruner.Predict(files);
  EXPECT_EQ(prediction.filters, 3u);
  EXPECT_EQ(prediction.keys, 1000);
  EXPECT_NEAR(prediction.false_hits, prediction.rate * 1000, 1e-6);
  EXPECT_LT(prediction.ruled_out, 0.01);
  pruner.Run(files, [&](FileAnswer&& answer) {
    const auto hits = static_cast<double>(answer.groups[0].hits);
    EXPECT_NEAR(hits, prediction.false_hits, 6 * std::sqrt(prediction.false_hits) + 3);
  });
  EXPECT_EQ(pruner.Predict({}).filters, 0u);
}

TEST(PrunerTest, ListsAndOptionsThatMakeNoSense) {
  EXPECT_THROW(ParquetPruner(KeyList::Integers({}), {.column = "key"}), Error);
  const std::vector<int64_t> keys = {1};
  EXPECT_THROW(ParquetPruner(KeyList::Integers(keys), {.column = "key", .threads = 5000}), Error);
}

}  // namespace tamis::parquet::pruner_test
