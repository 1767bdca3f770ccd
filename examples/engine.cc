// An engine uses all processors, chooses how to carry out each call, and gives its reasons.
#include <tamis/tamis.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

void Print(const char* what, const tamis::CallRoute& route) {
  const std::string backend(route.backend->name);
  std::printf("  %-8s %s, threads: %u, predicted: %.0f us\n", what, backend.c_str(), route.threads,
              1e6 * route.seconds);
}

int main() {
  std::vector<uint64_t> keys;
  for (uint64_t i = 0; i < 500'000; ++i) keys.push_back(i * 11);
  tamis::SplitBlockBloomFilter filter({.capacity = keys.size(), .fpr = 0.01});

  // One engine is enough for a program. Its threads sleep between calls.
  const tamis::Engine engine;
  engine.Insert(filter, keys);
  const size_t found = engine.Count(filter, keys);

  // Prints the routes for a small and a large batch, and the next best routes.
  for (const uint64_t n : {uint64_t{1'000}, uint64_t{10'000'000}}) {
    const tamis::Engine::CallPlan plan = engine.PlanCall(filter, n);
    std::printf("%llu lookups: %s\n", static_cast<unsigned long long>(n), plan.reason.c_str());
    Print("chosen", plan.chosen);
    if (!plan.alternatives.empty()) Print("next", plan.alternatives.front());
    if (plan.chosen.threads > engine.threads()) return 1;
  }

  // The answers are equal to the answers of the filter's own functions.
  return found == keys.size() && filter.Count(keys) == found ? 0 : 1;
}
