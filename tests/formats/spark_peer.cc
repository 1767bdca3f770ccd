// The counterpart of SparkFilters.java in this library, for spark_peer.py.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tamis/error.h"
#include "tamis/formats/spark.h"
#include "tests/formats/peer_timing.h"
#include "tests/formats/spark_test_keys.h"

namespace {

namespace fs = std::filesystem;

constexpr size_t kInserted = 100'000;
constexpr size_t kAsked = 1'000'000;

tamis::SparkOptions OptionsFor(const tamis::SparkVariant& variant, uint64_t capacity) {
  return {.capacity = capacity, .fpr = 0.01, .version = variant.version, .seed = variant.seed};
}

// Makes two halves and merges them.
void Make(const fs::path& path, const tamis::SparkSort& sort, const tamis::SparkVariant& variant) {
  std::vector<uint8_t> first(kInserted / 8), second(kInserted / 8);
  std::fill_n(first.begin(), first.size() / 2, uint8_t{0xFF});
  std::fill(second.begin() + static_cast<std::ptrdiff_t>(second.size() / 2), second.end(),
            uint8_t{0xFF});
  const tamis::GuavaTestKeys keys = sort.MakeKeys(kInserted);
  tamis::SparkBloomFilter filter(OptionsFor(variant, kInserted));
  filter.Insert(keys.keys().WithValidity(first.data()));
  tamis::SparkBloomFilter rest(OptionsFor(variant, kInserted));
  rest.Insert(keys.keys().WithValidity(second.data()));
  filter.Merge(rest);
  filter.Save(path);
}

void Ask(const fs::path& path, const tamis::SparkSort& sort) {
  const tamis::GuavaTestKeys keys = sort.MakeKeys(kAsked);
  const auto filter = tamis::SparkBloomFilter::Load(path);
  std::vector<uint64_t> bits(tamis::BitmapWords(kAsked));
  filter.Contains(keys.keys(), tamis::Bitmap(bits));
  std::ofstream out(path.string() + "_answers", std::ios::binary);
  out.write(reinterpret_cast<const char*>(bits.data()), kAsked / 8);
}

// Writes which filters can be merged, and their numbers of bits.
void Merges(const fs::path& path) {
  struct Shape {
    uint64_t capacity, bits;
  };
  constexpr Shape kShapes[] = {{40, 320}, {40, 300}, {40, 310}, {20, 300}, {40, 321}};
  const auto make = [](const tamis::SparkVariant& variant, const Shape& shape) {
    return tamis::SparkBloomFilter({.capacity = shape.capacity,
                                    .num_bits = shape.bits,
                                    .version = variant.version,
                                    .seed = variant.seed});
  };
  const auto name = [](const tamis::SparkVariant& variant, const Shape& shape) {
    return variant.name + (" " + std::to_string(shape.capacity)) + " " + std::to_string(shape.bits);
  };
  std::ofstream out(path);
  for (const tamis::SparkVariant& mine : tamis::kSparkVariants) {
    for (const Shape& shape : kShapes) {
      for (const tamis::SparkVariant& theirs : tamis::kSparkVariants) {
        for (const Shape& other : kShapes) {
          tamis::SparkBloomFilter filter = make(mine, shape);
          filter.Insert(tamis::kSparkSorts[0].MakeKeys(20).keys());
          tamis::SparkBloomFilter rest = make(theirs, other);
          rest.Insert(tamis::kSparkSorts[2].MakeKeys(20).keys());
          out << name(mine, shape) << " + " << name(theirs, other) << ": ";
          try {
            filter.Merge(rest);
            int bits = 0;
            for (const uint64_t word : filter.words()) bits += std::popcount(word);
            out << bits << "\n";
          } catch (const tamis::Error&) {
            out << "no\n";
          }
        }
      }
    }
  }
}

void Time(size_t n) {
  const tamis::GuavaTestKeys keys = tamis::kSparkSorts[0].MakeKeys(n);
  for (const tamis::SparkVariant& variant : tamis::kSparkVariants) {
    for (const size_t capacity : {size_t{100'000}, size_t{10'000'000}}) {
      tamis::SparkBloomFilter filter(OptionsFor(variant, capacity));
      for (size_t i = 0; i < std::min(n, capacity) / 2; ++i) filter.Insert(keys.longs[2 * i]);
      tamis::TimeLookups(variant.name, capacity, filter, keys.keys());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc == 3 ? argv[1] : "";
  if (what != "make" && what != "ask" && what != "merges" && what != "time") {
    std::fprintf(stderr, "usage: %s make|ask|merges FOLDER\n       %s time LOOKUPS\n", argv[0],
                 argv[0]);
    return 2;
  }
  try {
    if (what == "time") Time(std::stoul(argv[2]));
    if (what == "merges") Merges(fs::path(argv[2]) / "merges");
    if (what == "time" || what == "merges") return 0;
    for (const tamis::SparkSort& sort : tamis::kSparkSorts) {
      for (const tamis::SparkVariant& variant : tamis::kSparkVariants) {
        const fs::path path =
            fs::path(argv[2]) / (tamis::SparkTestName(sort.name, variant) + ".spark");
        if (what == "make") {
          Make(path, sort, variant);
        } else if (fs::exists(path)) {  // Spark before 4.1 writes only version 1
          Ask(path, sort);
        }
      }
    }
  } catch (const tamis::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
