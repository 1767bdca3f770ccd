#include "bench/fixture.h"

#include <algorithm>
#include <memory>

#include "bench/limits.h"

namespace tamis::bench {
namespace {

constexpr size_t kArenaSlack = 4096;
constexpr uint64_t kStringsAtATime = 1'000'000;

FilterOptions Options(uint64_t num_keys, Arena& arena) {
  return {.capacity = num_keys, .bytes = FilterBytes(num_keys), .memory = {.resource = &arena}};
}

}  // namespace

Fixture& Fixture::ForKeys(uint64_t num_keys) {
  static std::unique_ptr<Fixture> fixture;
  if (!fixture || fixture->keys_.size() != num_keys) {
    fixture.reset();
    fixture = std::make_unique<Fixture>(num_keys);
  }
  return *fixture;
}

Fixture::Fixture(uint64_t num_keys)
    : num_queries_(num_keys <= 1'000'000 ? 1'000'000 : 4'000'000),
      arena_(FilterBytes(num_keys) + kArenaSlack),
      string_arena_(FilterBytes(num_keys) + kArenaSlack),
      keys_(MakeKeys(num_keys)),
      filter_(Options(num_keys, arena_)) {
  filter_.Insert(keys_);
}

const Queries& Fixture::QueriesFor(int hit_percent) {
  const auto found = queries_.find(hit_percent);
  if (found != queries_.end()) return found->second;
  return queries_.emplace(hit_percent, MakeQueries(keys_.size(), num_queries_, hit_percent))
      .first->second;
}

double Fixture::LimitNs() {
  if (!limit_ns_) {
    constexpr int kPasses = 7;
    limit_ns_ = RandomLines(filter_.bytes(), num_queries_).Measure(arena_.memory(), kPasses).ns;
  }
  return *limit_ns_;
}

SplitBlockBloomFilter& Fixture::FilterWith(const Backend& backend) {
  filter_.set_backend(backend);
  return filter_;
}

SplitBlockBloomFilter& Fixture::StringFilterWith(const Backend& backend) {
  if (!string_filter_) {
    string_filter_.emplace(Options(keys_.size(), string_arena_));
    for (uint64_t i = 0; i < keys_.size(); i += kStringsAtATime) {
      const std::span slice = keys().subspan(i, std::min(kStringsAtATime, keys_.size() - i));
      string_filter_->Insert(Strings(slice).views);
    }
  }
  string_filter_->set_backend(backend);
  return *string_filter_;
}

std::string BenchmarkName(const std::string& operation, const Backend& backend, uint64_t num_keys) {
  return "split_block/" + operation + "/" + std::string(backend.name) +
         "/keys:" + std::to_string(num_keys);
}

}  // namespace tamis::bench
