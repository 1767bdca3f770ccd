// The counterpart of GuavaFilters.java in this library, for guava_peer.py.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tamis/error.h"
#include "tamis/formats/guava.h"
#include "tests/formats/guava_test_keys.h"
#include "tests/formats/peer_timing.h"

namespace {

constexpr size_t kInserted = 100'000;
constexpr size_t kAsked = 1'000'000;

void Make(const std::filesystem::path& path, tamis::GuavaFunnel funnel,
          tamis::GuavaStrategy strategy) {
  const tamis::GuavaTestKeys keys(funnel, kInserted);
  tamis::GuavaBloomFilter filter(funnel,
                                 {.capacity = kInserted, .fpr = 0.01, .strategy = strategy});
  filter.Insert(keys.keys());
  filter.Save(path);
}

void Ask(const std::filesystem::path& path, tamis::GuavaFunnel funnel) {
  const tamis::GuavaTestKeys keys(funnel, kAsked);
  const auto filter = tamis::GuavaBloomFilter::Load(path, funnel);
  std::vector<uint64_t> bits(tamis::BitmapWords(kAsked));
  filter.Contains(keys.keys(), tamis::Bitmap(bits));
  std::ofstream out(path.string() + "_answers", std::ios::binary);
  out.write(reinterpret_cast<const char*>(bits.data()), kAsked / 8);
}

void Time(size_t n) {
  const tamis::GuavaTestKeys keys(tamis::GuavaFunnel::kLong, n);
  for (const tamis::GuavaStrategy strategy : tamis::kGuavaStrategies) {
    for (const size_t capacity : {size_t{100'000}, size_t{10'000'000}}) {
      tamis::GuavaBloomFilter filter(tamis::GuavaFunnel::kLong,
                                     {.capacity = capacity, .fpr = 0.01, .strategy = strategy});
      for (size_t i = 0; i < std::min(n, capacity) / 2; ++i) filter.Insert(keys.longs[2 * i]);
      tamis::TimeLookups(tamis::GuavaTestName(tamis::GuavaFunnel::kLong, strategy), capacity,
                         filter, keys.keys());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc == 3 ? argv[1] : "";
  if (what != "make" && what != "ask" && what != "time") {
    std::fprintf(stderr, "usage: %s make|ask FOLDER\n       %s time LOOKUPS\n", argv[0], argv[0]);
    return 2;
  }
  try {
    if (what == "time") {
      Time(std::stoul(argv[2]));
      return 0;
    }
    for (const tamis::GuavaFunnel funnel : tamis::kGuavaFunnels) {
      for (const tamis::GuavaStrategy strategy : tamis::kGuavaStrategies) {
        const std::filesystem::path path =
            std::filesystem::path(argv[2]) / (tamis::GuavaTestName(funnel, strategy) + ".guava");
        if (what == "make") {
          Make(path, funnel, strategy);
        } else {
          Ask(path, funnel);
        }
      }
    }
  } catch (const tamis::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
