// Four threads share one filter: each page is fetched by the thread that sees it first.
#include <tamis/live/concurrent_bloom.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

int main() {
  tamis::ConcurrentSplitBlockBloomFilter seen({.capacity = 100'000, .fpr = 0.0001});
  std::atomic<uint64_t> fetched = 0;

  // All threads see the same 50,000 addresses, in different orders.
  const auto crawl = [&](uint64_t step) {
    for (uint64_t i = 0; i < 50'000; ++i) {
      const std::string url = "https://example.org/" + std::to_string(i * step % 50'000);
      if (seen.InsertIfAbsent(url)) ++fetched;
    }
  };
  std::vector<std::thread> threads;
  for (const uint64_t step : {1, 3, 7, 9}) threads.emplace_back(crawl, step);
  for (std::thread& thread : threads) thread.join();

  // Two threads that see a page at the same time may both fetch it. One page in 10,000 is a false
  // positive, and is not fetched.
  std::printf("50000 pages, met four times each, were fetched %s times\n",
              fetched > 49'900 && fetched < 55'000 ? "about as many" : "NOT AS MANY");

  const tamis::SplitBlockBloomFilter plain = std::move(seen).Release();
  return fetched > 49'900 && fetched < 55'000 && plain.Contains("https://example.org/7") ? 0 : 1;
}
