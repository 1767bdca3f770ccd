// A filter on a Redis server or cluster that several services share. TAMIS_REDIS_URL is the
// address. `redis/local_cluster.sh cluster -- example_redis` starts a cluster for it.
#include <tamis/redis/near_cache.h>
#include <tamis/redis/rebuild.h>
#include <tamis/redis/split_block_filter.h>
#include <tamis/tamis.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

int main() {
  const char* const url = std::getenv("TAMIS_REDIS_URL");
  tamis::redis::ServerOptions servers;
  if (url != nullptr) servers.url = url;

  // One service makes the filter.
  auto phones = tamis::redis::SplitBlockFilter::Create(
      servers, "phones", {.filter = {.capacity = 1'000'000, .fpr = 0.01}});
  std::vector<uint64_t> numbers;
  for (uint64_t i = 0; i < 100'000; ++i) numbers.push_back(4'930'000'000'000 + 7 * i);
  phones.Insert(numbers);

  // Others query it. If servers do not answer, every answer is "maybe".
  auto known = tamis::redis::SplitBlockFilter::Open(
      servers, "phones", {.unavailable = tamis::redis::Unavailable::kMaybe});
  const bool there = known.Contains(numbers[5]);
  const size_t hits = known.Count(numbers);
  std::printf("%zu of %zu may be in; %s\n", hits, numbers.size(),
              known.PlanRoute(tamis::redis::Operation::kContains, 1'000).reason.c_str());

  // A service with many queries keeps a near cache, whose "no" may be a second old.
  tamis::redis::NearCache near(tamis::redis::SplitBlockFilter::Open(servers, "phones"),
                               {.staleness = std::chrono::seconds(1)});
  const bool there_too = near.Contains(numbers[5]);

  // A service rebuilds it from the database, while the others continue to use it.
  tamis::redis::Rebuild(phones, [&](tamis::redis::RebuildInserter& filter) {
    filter.Insert(numbers);  // in parts, as they are read
  });
  const bool still_there = known.Contains(numbers[5]);

  // A copy in the memory of this machine, for a job with very many queries.
  const tamis::SplitBlockBloomFilter local = known.Pull();
  const bool same = local.Count(numbers) == numbers.size();
  phones.Drop();
  return there && there_too && still_there && same && hits == numbers.size() ? 0 : 1;
}
