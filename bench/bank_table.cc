// Queries one key in many filters: in a bank, in the same filters one by one, and in the layout of
// another system. That layout stores block j of all filters side by side.
//
// Usage: tamis_bank_table [COLUMNS [KEYS]]   by default 1,000 filters of 100,000 keys each, at 1%
// No key is queried twice. Everything runs on one thread, except the last lines, which use all
// threads. "The lines alone" is the time of independent random reads of 64 bytes of the bank: the
// bank reads eight lines for each key and group. The slow methods query one key in 64. The bank is
// built twice. The second time, a virtual machine already has the memory from its host. The limit
// of building is the time to write the same number of bytes to new memory, also measured twice.
// Exit status: 0 if all answers agree, 1 if not, 2 for bad arguments.
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/arguments.h"
#include "bench/timing.h"
#include "bench/workload.h"
#include "tamis/backends.h"
#include "tamis/bank/filter_bank.h"
#include "tamis/detail/kernels.h"
#include "tamis/engine/engine.h"
#include "tamis/filters/sizing.h"
#include "tamis/layout/bank.h"

namespace tamis::bench {
namespace {

constexpr size_t kQueries = 1 << 14;
constexpr size_t kFewQueries = 1000;
constexpr int kRounds = 9;
constexpr size_t kShare = 64;  // the slow methods query one of this many keys

std::vector<uint64_t> Keys(uint64_t first, uint64_t n) {
  std::vector<uint64_t> keys(n);
  for (uint64_t i = 0; i < n; ++i) keys[i] = KeyAt(first + i);
  return keys;
}

void Print(const char* what, double ns_per_key, double bank_ns) {
  std::printf("%-34s %12.1f ns a key  %8.1f of the bank's\n", what, ns_per_key,
              ns_per_key / bank_ns);
  std::fflush(stdout);
}

// Returns the nanoseconds of one random line.
double RandomLine(uint64_t bytes, const std::vector<uint64_t>& keys) {
  std::vector<uint64_t> words(bytes / 8, 1);
  const uint64_t lines = bytes / 64;
  uint64_t sum = 0;
  constexpr uint64_t kReads = 64;  // reads for each key
  const double ns = Nanoseconds(Time::kThread, [&] {
    for (const uint64_t key : keys) {
      for (uint64_t i = 0; i < kReads; ++i) sum += words[(KeyAt(key + i) >> 20) % lines * 8];
    }
  });
  return sum == 0 ? 0 : ns / static_cast<double>(kReads * keys.size());
}

bool Run(uint64_t members, uint64_t keys_each) {
  const uint64_t blocks = BankBlocks(SplitBlockBlocks(keys_each, 0.01));
  const uint64_t bytes = blocks * split_block::kBlockBytes;
  std::vector<SplitBlockBloomFilter> filters;
  for (uint64_t c = 0; c < members; ++c) {
    filters.emplace_back(FilterOptions{.capacity = keys_each, .bytes = bytes});
    filters.back().Insert(Keys(c * keys_each, keys_each));
  }
  std::optional<FilterBank> built;
  double build_ns[2], new_memory_ns[2];
  for (int round = 0; round < 2; ++round) {
    built.reset();
    new_memory_ns[round] = Nanoseconds(
        Time::kThread, [&] { const std::vector<uint64_t> memory(members * bytes / 8, 1); });
    build_ns[round] = Nanoseconds(Time::kThread, [&] {
      built.emplace();
      for (uint64_t c = 0; c < members; ++c) built->Add(c, filters[c]);
      built->Flush();
    });
  }
  const FilterBank& bank = *built;
  std::printf("backend %s, %llu filters of %llu bytes, bank of %llu\n",
              std::string(DefaultBackend().name).c_str(), static_cast<unsigned long long>(members),
              static_cast<unsigned long long>(bytes),
              static_cast<unsigned long long>(bank.bytes()));
  const auto gb_per_s = [&](double ns) { return static_cast<double>(members * bytes) / ns; };
  std::printf("built at %.2f GB/s, again at %.2f (new memory alone: %.2f, %.2f)\n",
              gb_per_s(build_ns[0]), gb_per_s(build_ns[1]), gb_per_s(new_memory_ns[0]),
              gb_per_s(new_memory_ns[1]));

  const std::vector<uint64_t> keys = Keys(members * keys_each, kQueries);
  const auto n = static_cast<double>(kQueries);
  const size_t stride = bank.row_words();
  std::vector<uint64_t> rows(kQueries * stride), one(stride);
  const double one_ns = Nanoseconds(Time::kThread, [&] {
    for (const uint64_t key : keys) bank.Contains(key, Bitmap(one));
  });
  const double bank_ns = Nanoseconds(Time::kThread, [&] { bank.Contains(keys, Bitmap(rows)); }) / n;
  Print("bank, keys at once", bank_ns, bank_ns);
  Print("bank, key by key", one_ns / n, bank_ns);
  const double lines = static_cast<double>(8 * bank.groups().size());
  Print("the lines alone", lines * RandomLine(bank.bytes(), keys), bank_ns);
  Print("counts per member", Nanoseconds(Time::kThread, [&] { bank.CountPerMember(keys); }) / n,
        bank_ns);

  const std::vector<uint64_t> few(keys.begin(), keys.begin() + kQueries / kShare);
  bool same = true;
  std::vector<uint8_t> found(few.size() * members);
  const double loop_ns = Nanoseconds(Time::kThread, [&] {
    for (size_t i = 0; i < few.size(); ++i) {
      const uint64_t hash = HashU64(few[i], bank.hash());
      for (uint64_t c = 0; c < members; ++c) {
        found[i * members + c] = filters[c].ContainsHash(hash);
      }
    }
  });
  Print("filters in a loop, one hash", loop_ns / static_cast<double>(few.size()), bank_ns);
  for (size_t i = 0; i < few.size(); ++i) {
    for (uint64_t c = 0; c < members; ++c) {
      const uint64_t index = c;  // all filters have the same size, so members keep their order
      same &= found[i * members + c] == ((rows[i * stride + index / 64] >> (index % 64)) & 1);
    }
  }

  std::vector<uint32_t> side_by_side(blocks * members * split_block::kWords);
  for (uint64_t c = 0; c < members; ++c) {
    for (uint64_t b = 0; b < blocks; ++b) {
      std::memcpy(side_by_side.data() + (b * members + c) * split_block::kWords,
                  filters[c].payload().data() + b * split_block::kBlockBytes,
                  split_block::kBlockBytes);
    }
  }
  const auto contains_one = DefaultBackend().kernels->split_block.contains_one;
  uint64_t different = 0;
  const double side_ns = Nanoseconds(Time::kThread, [&] {
    for (size_t i = 0; i < few.size(); ++i) {
      const uint64_t hash = HashU64(few[i], bank.hash());
      const uint32_t* const first = side_by_side.data() + split_block::BlockIndex(hash, blocks) *
                                                              members * split_block::kWords;
      for (uint64_t c = 0; c < members; ++c) {
        different += contains_one(first + c * split_block::kWords, 1, hash) !=
                     static_cast<bool>(found[i * members + c]);
      }
    }
  });
  Print("blocks side by side", side_ns / static_cast<double>(few.size()), bank_ns);
  same &= different == 0;

  const Engine engine;
  for (const size_t queries : {kFewQueries, kQueries}) {
    const std::vector<uint64_t> others =
        Keys(members * keys_each + kQueries, (kRounds + 1) * queries);
    const uint64_t* next = others.data();
    const auto ask = [&] {
      bank.Contains(engine, std::span(next, queries), Bitmap(rows));
      next += queries;
    };
    ask();  // starts the threads
    const double engine_ns = MedianNanoseconds(Time::kWall, kRounds, ask);
    std::printf("%zu keys, %u threads: %.2e answers a second\n", queries, engine.threads(),
                1e9 * static_cast<double>(queries * members) / engine_ns);
  }
  if (!same) std::fprintf(stderr, "answers differ\n");
  return same;
}

}  // namespace
}  // namespace tamis::bench

int main(int argc, char** argv) try {
  uint64_t members = 1000, keys = 100'000;
  if (argc > 3 || (argc > 1 && !tamis::bench::ParseCount(argv[1], members, 1, 100'000)) ||
      (argc > 2 && !tamis::bench::ParseCount(argv[2], keys, 1, 100'000'000))) {
    std::fprintf(stderr, "usage: %s [COLUMNS [KEYS]]\n", argv[0]);
    return 2;
  }
  return tamis::bench::Run(members, keys) ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
