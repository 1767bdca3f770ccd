// Compares with the sources of RedisBloom: makes the golden files, and compares answers, bytes and
// speed.
//   redis_bloom_peer golden FOLDER
//   redis_bloom_peer compare ROUNDS [SEED]
//   redis_bloom_peer speed KEYS
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "tamis/error.h"
#include "tamis/formats/redis_bloom.h"
#include "tamis/formats/redis_cuckoo.h"
#include "tests/formats/redis_bloom/peer_filters.h"
#include "tests/test_util.h"

namespace tamis {
namespace {

void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "differs: %s\n", what);
  std::exit(1);
}

int MakeGolden(const std::filesystem::path& folder) {
  const auto write = [&](const char* name, const std::vector<RedisChunk>& chunks) {
    std::ofstream file(folder / (std::string(name) + ".dump"), std::ios::binary);
    for (const RedisChunk& chunk : chunks) {
      const uint64_t n = chunk.bytes.size();
      file.write(reinterpret_cast<const char*>(&chunk.iterator), 8);
      file.write(reinterpret_cast<const char*>(&n), 8);
      file.write(reinterpret_cast<const char*>(chunk.bytes.data()),
                 static_cast<std::streamsize>(n));
    }
  };
  for (const RedisBloomRecipe& recipe : kRedisBloomRecipes) {
    PeerBloom filter(recipe);
    for (uint64_t i = 0; i < recipe.inserted; ++i) {
      Require(filter.Add(RedisTestKey(i)) >= 0, "a key has room");
    }
    write(recipe.name, filter.ScanDump());
  }
  for (const RedisCuckooRecipe& recipe : kRedisCuckooRecipes) {
    PeerCuckoo filter(recipe, 32);
    for (uint64_t i = 0; i < recipe.inserted; ++i) filter.Add(RedisTestKey(i));
    for (uint64_t i = 0; i < recipe.erased; ++i) filter.Del(RedisTestKey(i));
    write(recipe.name, filter.ScanDump());
  }
  return 0;
}

// Options of this library for the same filter as RedisBloom's. Other flags cannot be chosen here.
RedisBloomOptions OptionsOf(const RedisBloomRecipe& recipe) {
  return {.capacity = recipe.capacity,
          .error_rate = recipe.error_rate,
          .expansion = recipe.growth,
          .non_scaling = (recipe.flags & 8) != 0,
          .power_of_two = (recipe.flags & 1) == 0,
          .hash32 = (recipe.flags & 4) == 0};
}

// Returns 1 or 0, or a negative number for an error.
int AddTo(RedisBloomFilter& filter, std::string_view key) {
  try {
    return filter.Insert(key) ? 1 : 0;
  } catch (const Error&) {
    return -1;
  }
}

void UseBloom(RedisBloomFilter& ours, PeerBloom& theirs, uint64_t keys, Random& random) {
  for (uint64_t i = 0; i < keys; ++i) {
    const std::string key = RedisTestKey(random.Below(3 * keys));
    const int added = std::max(-1, theirs.Add(key));
    Require(AddTo(ours, key) == added, "BF.ADD");
  }
  const std::vector<std::string> asked = RedisTestKeys(0, 4 * keys);
  std::vector<uint8_t> answers(asked.size());
  ours.Contains(asked, answers);
  for (size_t i = 0; i < asked.size(); ++i) {
    const bool in = theirs.Check(asked[i]);
    Require(ours.Contains(asked[i]) == in && (answers[i] != 0) == in, "BF.EXISTS");
  }
  Require(ours.ToChunks() == theirs.ScanDump(), "BF.SCANDUMP");
}

void CompareBloom(Random& random) {
  static constexpr uint32_t kFlags[] = {5, 5, 13, 4, 12, 0, 1, 8, 9};
  RedisBloomRecipe recipe = {.name = "",
                             .capacity = 1 + random.Below(300),
                             .error_rate = std::exp(-13 * random.Unit()),
                             .flags = kFlags[random.Below(std::size(kFlags))],
                             .growth = static_cast<uint32_t>(1 + random.Below(4)),
                             .inserted = 0};
  if ((recipe.flags & 8) != 0 && random.Below(2) == 0) recipe.growth = 0;
  PeerBloom theirs(recipe);
  RedisBloomFilter ours(OptionsOf(recipe));
  Require(theirs.ok() && ours.ToChunks() == theirs.ScanDump(), "BF.RESERVE");
  UseBloom(ours, theirs, 1 + random.Below(1000), random);

  const std::vector<RedisChunk> dump = theirs.ScanDump();
  auto loaded = RedisBloomFilter::FromChunks(dump);
  Require(loaded.ToChunks() == dump, "a dump is written as it was read");
  PeerBloom reloaded(ours.ToChunks());
  Require(reloaded.ok(), "BF.LOADCHUNK");
  UseBloom(loaded, reloaded, 1 + random.Below(500), random);

  // If this library reads a damaged dump, RedisBloom reads it too, with the same result.
  for (int i = 0; i < 20; ++i) {
    std::vector<RedisChunk> damaged = dump;
    std::vector<std::byte>& bytes = damaged[random.Below(std::min<size_t>(2, dump.size()))].bytes;
    for (uint64_t left = 1 + random.Below(3); left > 0; --left) {
      bytes[random.Below(bytes.size())] ^= static_cast<std::byte>(1 << random.Below(8));
    }
    try {
      auto mine = RedisBloomFilter::FromChunks(damaged);
      PeerBloom other(damaged);
      Require(other.ok(), "BF.LOADCHUNK of a damaged dump");
      // With a larger capacity or expansion, both libraries could allocate without end.
      const bool small = mine.link(mine.num_links() - 1).capacity < 1000 && mine.expansion() < 10;
      if (small) UseBloom(mine, other, 50, random);
    } catch (const FormatError&) {
    }
  }
}

void UseCuckoo(RedisCuckooFilter& ours, PeerCuckoo& theirs, uint64_t changes, uint64_t keys,
               uint64_t erased_in_8, Random& random) {
  for (uint64_t i = 0; i < changes; ++i) {
    const std::string key = RedisTestKey(random.Below(keys));
    if (random.Below(8) < erased_in_8) {
      Require(ours.Erase(key) == theirs.Del(key), "CF.DEL");
    } else if (random.Below(3) == 0) {
      Require(ours.InsertIfAbsent(key) == theirs.AddNx(key), "CF.ADDNX");
    } else {
      Require(ours.Insert(key) == theirs.Add(key), "CF.ADD");
    }
  }
  if (random.Below(4) == 0) {
    ours.Compact();
    theirs.Compact();
  }
  const std::vector<std::string> asked = RedisTestKeys(0, 2 * keys);
  std::vector<uint8_t> answers(asked.size());
  std::vector<uint64_t> counts(asked.size());
  ours.Contains(asked, answers);
  ours.Occurrences(asked, counts);
  for (size_t i = 0; i < asked.size(); ++i) {
    const bool in = theirs.Exists(asked[i]);
    Require(ours.Contains(asked[i]) == in && (answers[i] != 0) == in, "CF.EXISTS");
    const uint64_t count = theirs.Count(asked[i]);
    Require(ours.Occurrences(asked[i]) == count && counts[i] == count, "CF.COUNT");
  }
  Require(ours.ToChunks() == theirs.ScanDump(), "CF.SCANDUMP");
}

void CompareCuckoo(Random& random) {
  RedisCuckooRecipe recipe = {};
  recipe.bucket_size = static_cast<uint16_t>(1 + random.Below(random.Below(4) == 0 ? 255 : 9));
  recipe.capacity = 2 * recipe.bucket_size + random.Below(400);
  recipe.max_iterations = static_cast<uint16_t>(1 + random.Below(60));
  recipe.expansion = static_cast<uint16_t>(random.Below(6));
  const auto max_expansions = static_cast<uint32_t>(1 + random.Below(40));
  PeerCuckoo theirs(recipe, max_expansions);
  RedisCuckooFilter ours({.capacity = recipe.capacity,
                          .bucket_size = recipe.bucket_size,
                          .max_iterations = recipe.max_iterations,
                          .expansion = recipe.expansion,
                          .max_expansions = max_expansions});
  Require(theirs.ok() && ours.ToChunks() == theirs.ScanDump(), "CF.RESERVE");
  const uint64_t keys = 1 + random.Below(1000);
  UseCuckoo(ours, theirs, random.Below(1500), keys, random.Below(3), random);
  UseCuckoo(ours, theirs, random.Below(1500), keys, random.Below(8), random);

  const std::vector<RedisChunk> dump = theirs.ScanDump();
  auto loaded = RedisCuckooFilter::FromChunks(dump, {.max_expansions = max_expansions});
  Require(loaded.ToChunks() == dump, "a dump is written as it was read");
  PeerCuckoo reloaded(ours.ToChunks(), max_expansions);
  Require(reloaded.ok(), "CF.LOADCHUNK");
  UseCuckoo(loaded, reloaded, random.Below(300), keys, random.Below(8), random);

  for (int i = 0; i < 20; ++i) {
    std::vector<RedisChunk> damaged = dump;
    std::vector<std::byte>& bytes = damaged[random.Below(std::min<size_t>(2, dump.size()))].bytes;
    for (uint64_t left = 1 + random.Below(3); left > 0; --left) {
      bytes[random.Below(bytes.size())] ^= static_cast<std::byte>(1 << random.Below(8));
    }
    try {
      auto mine = RedisCuckooFilter::FromChunks(damaged, {.max_expansions = max_expansions});
      PeerCuckoo other(damaged, max_expansions);
      Require(other.ok(), "CF.LOADCHUNK of a damaged dump");
      const bool small = mine.bytes() < 100000 && mine.expansion() < 10;
      if (small) UseCuckoo(mine, other, 50, keys, random.Below(8), random);
    } catch (const FormatError&) {
    }
  }
}

// Chunks end within a link and within a layer.
void CompareLarge() {
  const RedisBloomRecipe bloom = {"", uint64_t{1} << 24, 0.01, 5, 2, 0};
  PeerBloom their_bloom(bloom);
  RedisBloomFilter our_bloom(OptionsOf(bloom));
  const RedisCuckooRecipe cuckoo = {"", (uint64_t{1} << 25) + 2, 2, 20, 1, 0, 0};
  PeerCuckoo their_cuckoo(cuckoo, 32);
  RedisCuckooFilter our_cuckoo({.capacity = cuckoo.capacity});
  for (uint64_t i = 0; i < 100000; ++i) {
    const std::string key = RedisTestKey(i);
    their_bloom.Add(key);
    our_bloom.Insert(key);
    their_cuckoo.Add(key);
    our_cuckoo.Insert(key);
  }
  const std::vector<RedisChunk> bloom_dump = their_bloom.ScanDump();
  Require(bloom_dump.size() == 3 && our_bloom.ToChunks() == bloom_dump, "a large Bloom filter");
  const std::vector<RedisChunk> cuckoo_dump = their_cuckoo.ScanDump();
  Require(cuckoo_dump.size() == 5 && our_cuckoo.ToChunks() == cuckoo_dump, "a large cuckoo filter");
  Require(RedisBloomFilter::FromBytes(our_bloom.ToBytes()).ToChunks() == bloom_dump &&
              RedisCuckooFilter::FromBytes(our_cuckoo.ToBytes()).ToChunks() == cuckoo_dump,
          "large filters read again");
}

int Compare(uint64_t rounds, uint64_t seed) {
  CompareLarge();
  Random random(seed);
  for (uint64_t i = 0; i < rounds; ++i) {
    CompareBloom(random);
    CompareCuckoo(random);
  }
  std::printf("the same in %llu rounds\n", static_cast<unsigned long long>(rounds));
  return 0;
}

// Measures nanoseconds per key on this thread, the best of five alternating runs of each. Both must
// find the same number of keys.
template <typename Theirs, typename Ours>
void TakeTurns(const char* filter, const char* what, size_t keys, const Theirs& theirs,
               const Ours& ours) {
  const auto time = [&](const auto& ask, double& best) {
    const std::clock_t begin = std::clock();
    const size_t found = ask();
    const double ns = 1e9 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    best = std::min(best, ns / static_cast<double>(keys));
    return found;
  };
  double their_best = 1e9, our_best = 1e9;
  for (int i = 0; i < 5; ++i) {
    Require(time(theirs, their_best) == time(ours, our_best), "counts of a timed run");
  }
  std::printf("%-8s %-28s RedisBloom %6.1f ns, tamis %6.1f ns: %.2fx\n", filter, what, their_best,
              our_best, their_best / our_best);
  std::fflush(stdout);
}

// Queries n keys, half of which were inserted, on one thread: RedisBloom one by one, like
// BF.MEXISTS, and this library in bulk.
template <typename Theirs, typename MakeTheirs, typename LoadOurs>
void Speed(const char* name, size_t n, const MakeTheirs& make, const LoadOurs& load,
           bool (Theirs::*ask)(std::string_view) const) {
  const std::vector<uint64_t> inserted = RandomKeys(n / 2, 1);
  std::vector<uint64_t> asked = RandomKeys(n / 2, 2);
  asked.insert(asked.end(), inserted.begin(), inserted.end());
  Random random(3);
  for (size_t i = asked.size(); i > 1; --i) std::swap(asked[i - 1], asked[random.Below(i)]);
  std::vector<uint64_t> bits(BitmapWords(asked.size()));
  const auto count = [&](const Theirs& theirs, const auto& bytes_of) {
    size_t found = 0;
    for (size_t i = 0; i < asked.size(); ++i) found += (theirs.*ask)(bytes_of(i));
    return found;
  };
  {
    const auto bytes_of = [](const std::vector<uint64_t>& keys) {
      return [&keys](size_t i) {
        return std::string_view(reinterpret_cast<const char*>(&keys[i]), 8);
      };
    };
    const auto theirs = make(n / 2, bytes_of(inserted));
    const auto ours = load(theirs->ScanDump(), RedisIntegers::kBytes);
    TakeTurns(
        name, "8 bytes of integers", asked.size(), [&] { return count(*theirs, bytes_of(asked)); },
        [&] { return ours.Contains(asked, Bitmap(bits)); });
  }
  std::string text;
  std::vector<int32_t> offsets = {0};
  std::vector<std::string> decimals;
  for (const uint64_t key : inserted) decimals.push_back(std::to_string(static_cast<int64_t>(key)));
  for (const uint64_t key : asked) {
    text += std::to_string(static_cast<int64_t>(key));
    offsets.push_back(static_cast<int32_t>(text.size()));
  }
  const StringColumn column{text.data(), offsets};
  const auto theirs = make(n / 2, [&](size_t i) { return std::string_view(decimals[i]); });
  const auto ours = load(theirs->ScanDump(), RedisIntegers::kSigned);
  TakeTurns(
      name, "decimal text, made before", asked.size(),
      [&] { return count(*theirs, [&](size_t i) { return column[i]; }); },
      [&] { return ours.Contains(column, Bitmap(bits)); });
  char buffer[24];
  const auto print = [&](size_t i) {
    const int length =
        std::snprintf(buffer, sizeof(buffer), "%lld", static_cast<long long>(asked[i]));
    return std::string_view(buffer, static_cast<size_t>(length));
  };
  TakeTurns(
      name, "integers, to decimal text", asked.size(), [&] { return count(*theirs, print); },
      [&] { return ours.Contains(asked, Bitmap(bits)); });
}

int SpeedOf(size_t n) {
  Speed<PeerBloom>(
      "Bloom", n,
      [](size_t keys, const auto& of) {
        auto filter = std::make_unique<PeerBloom>(RedisBloomRecipe{"", keys, 0.01, 5, 2, 0});
        for (size_t i = 0; i < keys; ++i) filter->Add(of(i));
        return filter;
      },
      [](const std::vector<RedisChunk>& dump, RedisIntegers integers) {
        return RedisBloomFilter::FromChunks(dump, {.integers = integers});
      },
      &PeerBloom::Check);
  Speed<PeerBloom>(
      "6 links", n,
      [](size_t keys, const auto& of) {
        auto filter = std::make_unique<PeerBloom>(RedisBloomRecipe{"", keys / 60, 0.01, 5, 2, 0});
        for (size_t i = 0; i < keys; ++i) filter->Add(of(i));
        return filter;
      },
      [](const std::vector<RedisChunk>& dump, RedisIntegers integers) {
        return RedisBloomFilter::FromChunks(dump, {.integers = integers});
      },
      &PeerBloom::Check);
  Speed<PeerCuckoo>(
      "cuckoo", n,
      [](size_t keys, const auto& of) {
        auto filter = std::make_unique<PeerCuckoo>(RedisCuckooRecipe{"", keys, 2, 20, 1, 0, 0}, 32);
        for (size_t i = 0; i < keys; ++i) filter->Add(of(i));
        return filter;
      },
      [](const std::vector<RedisChunk>& dump, RedisIntegers integers) {
        return RedisCuckooFilter::FromChunks(dump, {.integers = integers});
      },
      &PeerCuckoo::Exists);
  return 0;
}

int Main(int argc, char** argv) {
  const std::string mode = argc > 2 ? argv[1] : "";
  if (mode == "golden") return MakeGolden(argv[2]);
  const uint64_t number = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  if (mode == "compare") {
    return Compare(number, argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
  }
  if (mode == "speed") return SpeedOf(number);
  std::fprintf(stderr, "redis_bloom_peer golden FOLDER | compare ROUNDS [SEED] | speed KEYS\n");
  return 2;
}

}  // namespace
}  // namespace tamis

int main(int argc, char** argv) { return tamis::Main(argc, argv); }
