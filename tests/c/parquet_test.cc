// Parquet files in C, compared with the C++ interface.
#include "tamis/c/parquet.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/c/c_test_util.h"

namespace tamis::parquet_test {

const std::string kFile = std::string(TAMIS_PARQUET_DIR) + "/duckdb.parquet";

struct FreePruner {
  void operator()(tamis_parquet_pruner* pruner) const { tamis_parquet_pruner_free(pruner); }
};
using CPruner = std::unique_ptr<tamis_parquet_pruner, FreePruner>;

tamis_parquet_options OptionsOf(const char* column, uint32_t meaning = TAMIS_PARQUET_VALUES) {
  auto options = TAMIS_INIT(tamis_parquet_options);
  options.column = column;
  options.meaning = meaning;
  options.detail = TAMIS_PARQUET_PAIRS;
  options.threads = 2;
  return options;
}

CPruner PrunerOf(const tamis_keys& keys, const tamis_parquet_options& options) {
  tamis_parquet_pruner* pruner = nullptr;
  EXPECT_EQ(tamis_parquet_pruner_create(&keys, &options, &pruner), TAMIS_OK) << tamis_last_error();
  return CPruner(pruner);
}

struct Seen {
  std::vector<uint64_t> indices;
  std::vector<bool> kept;
  std::vector<uint32_t> keys;
  std::string doubt;
  int32_t stop = 0;
};

int32_t Take(const tamis_parquet_file* file, void* context) {
  Seen& seen = *static_cast<Seen*>(context);
  seen.indices.push_back(file->index);
  seen.kept.push_back(file->kept != 0);
  seen.doubt += file->doubt;
  for (uint64_t g = 0; g < file->num_groups; ++g) {
    const tamis_parquet_group& group = file->groups[g];
    EXPECT_EQ(group.hits, group.num_keys);
    seen.keys.insert(seen.keys.end(), group.keys, group.keys + group.num_keys);
  }
  return seen.stop;
}

Seen RunOf(const CPruner& pruner, const std::vector<std::string>& files) {
  std::vector<const char*> paths;
  for (const std::string& file : files) paths.push_back(file.c_str());
  Seen seen;
  EXPECT_EQ(tamis_parquet_pruner_run(pruner.get(), paths.data(), paths.size(), Take, &seen),
            TAMIS_OK)
      << tamis_last_error();
  return seen;
}

TEST(CParquetTest, KeysOfEveryFormAreFound) {
  // duckdb.txt: id i is (-1)^i i^9, word i has (i + 2) / 3 letters.
  const std::array<int64_t, 4> integers = {512, 5, -1, 7};  // 2^9 and -1^9 are in
  const uint8_t validity = 0b0111;
  tamis_keys keys = {TAMIS_KEYS_I64, 0, 4, 0, integers.data(), nullptr, 0, nullptr, nullptr};
  EXPECT_EQ(RunOf(PrunerOf(keys, OptionsOf("id")), {kFile}).keys, (std::vector<uint32_t>{2, 0}));
  keys.validity = &validity;
  EXPECT_EQ(RunOf(PrunerOf(keys, OptionsOf("id")), {kFile}).keys, (std::vector<uint32_t>{2, 0}));
  const uint8_t second = 0b1110;
  keys.validity = &second;
  EXPECT_EQ(RunOf(PrunerOf(keys, OptionsOf("id")), {kFile}).keys, (std::vector<uint32_t>{2}));
  const std::array<int8_t, 2> narrow = {5, -1};
  keys = {TAMIS_KEYS_I8, 0, 2, 0, narrow.data(), nullptr, 0, nullptr, nullptr};
  EXPECT_EQ(RunOf(PrunerOf(keys, OptionsOf("id")), {kFile}).keys, (std::vector<uint32_t>{1}));
  const std::array<uint64_t, 2> bits = {std::bit_cast<uint64_t>(512.0),
                                        std::bit_cast<uint64_t>(.5)};
  keys = tamis_keys_u64(bits.data(), bits.size());
  const CPruner doubles = PrunerOf(keys, OptionsOf("id", TAMIS_PARQUET_DOUBLES));
  EXPECT_EQ(RunOf(doubles, {kFile}).keys, (std::vector<uint32_t>{0}));
  char* json = nullptr;
  ASSERT_EQ(tamis_parquet_pruner_types_json(doubles.get(), &json), TAMIS_OK);
  const std::string types = CText(json).get();
  EXPECT_EQ(types, "[{\"type\":\"INT64 (int64)\",\"misfits\":1,\"first_misfits\":[1]}]");
  const char* const texts[] = {"-1", "x", "512"};
  const uint64_t lengths[] = {2, 1, 3};
  keys = tamis_keys_strings(texts, lengths, 3);
  EXPECT_EQ(RunOf(PrunerOf(keys, OptionsOf("id", TAMIS_PARQUET_TEXT)), {kFile}).keys,
            (std::vector<uint32_t>{0, 2}));
  const int32_t offsets[] = {0, 1, 2};
  keys = {TAMIS_KEYS_STRINGS32, 0, 2, 0, offsets, "zf", 2, nullptr, nullptr};
  EXPECT_EQ(RunOf(PrunerOf(keys, OptionsOf("word")), {kFile}).keys, (std::vector<uint32_t>{1}));
}

TEST(CParquetTest, AnswersComeInOrderUntilTheCallerHasEnough) {
  const std::array<uint64_t, 1> absent = {5};
  const CPruner pruner = PrunerOf(tamis_keys_u64(absent.data(), 1), OptionsOf("id"));
  const Seen seen = RunOf(pruner, {kFile, "/none/of/these", kFile});
  EXPECT_EQ(seen.indices, (std::vector<uint64_t>{0, 1, 2}));
  EXPECT_EQ(seen.kept, (std::vector<bool>{false, true, false}));
  EXPECT_NE(seen.doubt.find("/none/of/these"), std::string::npos) << seen.doubt;
  EXPECT_TRUE(RunOf(pruner, {}).indices.empty());
  const char* const paths[] = {kFile.c_str(), kFile.c_str()};
  Seen stopped;
  stopped.stop = 1;
  EXPECT_EQ(tamis_parquet_pruner_run(pruner.get(), paths, 2, Take, &stopped), TAMIS_CANCELLED);
  EXPECT_EQ(stopped.indices, (std::vector<uint64_t>{0}));
}

TEST(CParquetTest, ErrorsNameTheProblem) {
  const std::array<uint64_t, 1> one = {1};
  const tamis_keys keys = tamis_keys_u64(one.data(), 1);
  tamis_parquet_pruner* out = nullptr;
  const auto status_of = [&](const tamis_keys& given, tamis_parquet_options options) {
    return tamis_parquet_pruner_create(&given, &options, &out);
  };
  auto options = OptionsOf(nullptr);
  EXPECT_EQ(status_of(keys, options), TAMIS_INVALID_ARGUMENT);
  EXPECT_STREQ(tamis_last_error(), "column is NULL");
  for (uint32_t tamis_parquet_options::*member :
       {&tamis_parquet_options::meaning, &tamis_parquet_options::detail,
        &tamis_parquet_options::threads, &tamis_parquet_options::no_bounds,
        &tamis_parquet_options::no_filters, &tamis_parquet_options::reserved}) {
    options = OptionsOf("id");
    options.*member = 5000;
    EXPECT_EQ(status_of(keys, options), TAMIS_INVALID_ARGUMENT);
  }
  EXPECT_EQ(status_of(keys, OptionsOf("id", TAMIS_PARQUET_TEXT)), TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(status_of({TAMIS_KEYS_HASHES, 0, 1, 0, one.data(), nullptr, 0, nullptr, nullptr},
                      OptionsOf("id")),
            TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(status_of({}, OptionsOf("id")), TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(
      status_of({TAMIS_KEYS_U64, 0, 0, 0, nullptr, nullptr, 0, nullptr, nullptr}, OptionsOf("id")),
      TAMIS_INVALID_ARGUMENT);
  EXPECT_STREQ(tamis_last_error(), "a list without keys");
  EXPECT_EQ(out, nullptr);
  const CPruner pruner = PrunerOf(keys, OptionsOf("id"));
  EXPECT_EQ(tamis_parquet_pruner_run(pruner.get(), nullptr, 1, Take, nullptr),
            TAMIS_INVALID_ARGUMENT);
  const char* const none[] = {nullptr};
  EXPECT_EQ(tamis_parquet_pruner_run(pruner.get(), none, 1, Take, nullptr), TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_parquet_pruner_run(pruner.get(), none, 1, nullptr, nullptr),
            TAMIS_INVALID_ARGUMENT);
}

TEST(CParquetTest, InfoIsJson) {
  char* text = nullptr;
  ASSERT_EQ(tamis_parquet_info_json(kFile.c_str(), 0, &text), TAMIS_OK) << tamis_last_error();
  const std::string json = CText(text).get();
  EXPECT_TRUE(json.starts_with("{\"file\":\"")) << json;
  for (const char* const part :
       {"\"rows\":1000,", "\"row_groups\":1,", "\"column\":\"id\",\"type\":\"INT64 (int64)\"",
        "\"filters\":[{\"row_group\":0,\"present\":true,\"bytes\":", "\"verdict\":\""}) {
    EXPECT_NE(json.find(part), std::string::npos) << part << " in " << json;
  }
  EXPECT_EQ(tamis_parquet_info_json(kFile.c_str(), 7, &text), TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_parquet_info_json("/none/of/these", 0, &text), TAMIS_IO);
  EXPECT_EQ(tamis_parquet_info_json(TAMIS_PARQUET_DIR "/CMakeLists.txt", 0, &text), TAMIS_CORRUPT);
}

}  // namespace tamis::parquet_test
