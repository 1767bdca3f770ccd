// A user's program: includes only public headers, and links everything that the library needs
// (hashing, vector kernels, threads).
#include <tamis/backends.h>
#include <tamis/live/live.h>
#include <tamis/tamis.h>

#include <cstdint>
#include <cstdio>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

int main() {
  std::vector<uint64_t> keys(100'000);
  std::iota(keys.begin(), keys.end(), uint64_t{0});

  tamis::SplitBlockBloomFilter filter({.capacity = keys.size(), .fpr = 0.01});
  tamis::Engine engine;
  engine.Insert(filter, keys);

  std::vector<uint64_t> bits(tamis::BitmapWords(keys.size()));
  const size_t found = filter.Contains(keys, tamis::Bitmap(bits));
  std::printf("tamis %s, backend %.*s: found %zu of %zu keys\n", TAMIS_VERSION_STRING,
              static_cast<int>(tamis::DefaultBackend().name.size()),
              tamis::DefaultBackend().name.data(), found, keys.size());

  try {  // must throw, whatever flags the project is compiled with
    const tamis::SplitBlockBloomFilter none(
        {.capacity = 1000, .fpr = std::numeric_limits<double>::quiet_NaN()});
    std::printf("a rate that is no number was taken for %g\n", none.expected_fpr());
    return 1;
  } catch (const tamis::Error&) {
  }

  tamis::Live<tamis::SplitBlockBloomFilter> live;
  live.Publish(std::move(filter));
  return found == keys.size() && live.Read()->Count(keys) == found ? 0 : 1;
}
