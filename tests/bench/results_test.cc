// The file of results.
#include "bench/suite/results.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tamis/backends.h"

namespace tamis::bench::results_test {

nlohmann::json Written(const Results& results) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("tamis_results_test_" + std::to_string(getpid()) + ".json");
  WriteResults(path, results);
  std::ifstream in(path);
  nlohmann::json json = nlohmann::json::parse(in);
  std::filesystem::remove(path);
  return json;
}

TEST(ResultsTest, EmptyOnesAreJson) {
  const nlohmann::json json = Written({});
  EXPECT_EQ(json["schema"], "tamis-bench");
  EXPECT_EQ(json["schema_version"], kSchemaVersion);
  EXPECT_TRUE(json["rows"].is_array());
  EXPECT_TRUE(json["rows"].empty());
}

TEST(ResultsTest, SayHowBusyOtherProgramsWere) {
  EXPECT_FALSE(Written({})["context"].contains("busy"));
  Results results;
  results.processors = 2;
  results.other_processors = 0.75;
  EXPECT_EQ(Written(results)["context"]["other_processors"], 0.75);
  EXPECT_EQ(Written(results)["context"]["busy"], true);
  results.other_processors = 0.01;
  EXPECT_EQ(Written(results)["context"]["busy"], false);
}

TEST(ResultsTest, RowsHaveTheirStatistics) {
  Results results;
  results.context = {{"a \"quoted\" name", "two\nlines"}};
  results.default_backend = FindBackend("portable").name;
  Row row;
  row.point.backend = &FindBackend("portable");
  row.filter_bytes = 1500;
  row.num_keys = 1000;
  row.ns_per_key = {4, 1, 2};
  results.rows = {row, row};
  results.rows[0].clock = {1.25};
  results.rows[1].point = {.operation = Operation::kBuild, .call_keys = 64};
  Limit limit;
  limit.per_second = {1e9};
  results.limits = {limit};
  const nlohmann::json json = Written(results);
  ASSERT_EQ(json["rows"].size(), 2u);
  const auto& first = json["rows"][0];
  EXPECT_EQ(first["ns_per_key"]["median"], 2);
  EXPECT_EQ(first["ns_per_key"]["q1"], 1.5);
  EXPECT_EQ(first["ns_per_key"]["samples"], (std::vector<double>{4, 1, 2}));
  EXPECT_EQ(first["keys_per_second"], 5e8);
  EXPECT_EQ(first["bits_per_key"], 12);
  EXPECT_EQ(first["hit_percent"], 50);
  EXPECT_TRUE(first["default_backend"]);
  EXPECT_TRUE(first["call_keys"].is_null());
  EXPECT_EQ(json["rows"][1]["call_keys"], 64);
  EXPECT_TRUE(first["share_of_limit"].is_null());
  EXPECT_EQ(first["chained_multiplications_per_ns"]["median"], 1.25);
  EXPECT_FALSE(json["rows"][1].contains("chained_multiplications_per_ns"));
  EXPECT_TRUE(json["rows"][1]["hit_percent"].is_null());
  EXPECT_EQ(json["rows"][1]["backend"], "own");
  EXPECT_EQ(json["context"]["a \"quoted\" name"], "two\nlines");
  EXPECT_EQ(json["limits"][0]["per_second"]["median"], 1e9);
}

TEST(ResultsTest, LatenciesHaveTheirPercentiles) {
  EXPECT_FALSE(Written({}).contains("latencies"));
  Results results;
  Latency alone;
  alone.beside = "nothing";
  alone.calls = 7;
  alone.ns = {{1, 4, 9, 20}, {3, 5, 7, 30}};
  Latency beside = alone;
  beside.beside = "insert";
  beside.large_threads = 2;
  beside.large_keys = 1000;
  beside.p99_over_alone = {2, 4};
  results.latencies = {alone, beside};
  const nlohmann::json json = Written(results)["latencies"];
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["p50_ns"]["samples"], (std::vector<double>{1, 3}));
  EXPECT_EQ(json[0]["p99_ns"]["median"], 4.5);
  EXPECT_EQ(json[0]["p999_ns"]["samples"], (std::vector<double>{9, 7}));
  EXPECT_EQ(json[0]["max_ns"]["samples"], (std::vector<double>{20, 30}));
  EXPECT_EQ(json[0]["calls"], 7);
  EXPECT_TRUE(json[0]["large_threads"].is_null());
  EXPECT_TRUE(json[0]["large_keys"].is_null());
  EXPECT_TRUE(json[0]["p99_over_alone"].is_null());
  EXPECT_EQ(json[1]["large_keys"], 1000);
  EXPECT_EQ(json[1]["p99_over_alone"]["median"], 3);
}

TEST(ResultsTest, AFileThatCannotBeWrittenIsAnError) {
  EXPECT_THROW(WriteResults("/dev/null/no.json", {}), std::runtime_error);
  EXPECT_THROW(RequireWritable("/dev/null/no.json"), std::runtime_error);
  EXPECT_NO_THROW(RequireWritable(""));
  EXPECT_NO_THROW(RequireWritable("/dev/null"));
}

// A run that stops before it has results must leave no new file and must not change an old one.
TEST(ResultsTest, CheckingThatAFileIsWritableChangesNothing) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("tamis_writable_test_" + std::to_string(getpid()) + ".json");
  RequireWritable(path);
  EXPECT_FALSE(std::filesystem::exists(path));
  std::ofstream(path) << "old";
  RequireWritable(path);
  EXPECT_EQ(std::filesystem::file_size(path), 3u);
  std::filesystem::remove(path);
}

}  // namespace tamis::bench::results_test
