#include "bench/limits.h"

#include <barrier>
#include <cstring>
#include <thread>
#include <vector>

#include "bench/timing.h"
#include "bench/workload.h"
#include "tamis/detail/kernels.h"

namespace tamis::bench {
namespace {

constexpr size_t kLineBytes = 64;
constexpr size_t kStep = 8;         // lines per iteration of the loop: one cache line of offsets
constexpr size_t kReadAhead = 256;  // offsets
constexpr size_t kMaxAhead = 128;   // lines

// Sums one word of each line, so that the compiler cannot remove a read.
template <size_t kAhead, int kLocality>
uint64_t ReadLines(const std::byte* memory, const uint64_t* offsets, size_t n) {
  static_assert(kAhead <= kMaxAhead);
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i += kStep) {
    __builtin_prefetch(offsets + i + kReadAhead);
    if constexpr (kAhead > 0) {
      for (size_t j = i; j < i + kStep; ++j) {
        __builtin_prefetch(memory + offsets[j + kAhead], 0, kLocality);
      }
    }
    for (size_t j = i; j < i + kStep; ++j) {
      uint64_t word;
      std::memcpy(&word, memory + offsets[j], sizeof(word));
      sum += word;
    }
  }
  return sum;
}

struct Method {
  std::string_view name;
  uint64_t (*read)(const std::byte* memory, const uint64_t* offsets, size_t n);
};

// The locality argument of __builtin_prefetch: 3 is T0, the first-level cache, and 2 is T1, the
// second-level cache.
constexpr Method kMethods[] = {
    {"no prefetch", ReadLines<0, 3>},   {"T0, 16 ahead", ReadLines<16, 3>},
    {"T0, 32 ahead", ReadLines<32, 3>}, {"T0, 64 ahead", ReadLines<64, 3>},
    {"T1, 64 ahead", ReadLines<64, 2>}, {"T1, 128 ahead", ReadLines<128, 2>},
};

// Returns the median time, by the wall clock, of work(0) to work(threads - 1), which begin at the
// same time.
template <typename Work>
double MedianTogether(unsigned threads, int passes, const Work& work) {
  std::barrier turn(threads);
  std::vector<std::jthread> others;
  for (unsigned thread = 1; thread < threads; ++thread) {
    others.emplace_back([&, thread] {
      for (int i = 0; i < passes; ++i) {
        turn.arrive_and_wait();
        work(thread);
        turn.arrive_and_wait();
      }
    });
  }
  std::vector<double> samples;
  for (int i = 0; i < passes; ++i) {
    turn.arrive_and_wait();
    samples.push_back(Nanoseconds(Time::kWall, [&] {
      work(0);
      turn.arrive_and_wait();
    }));
  }
  return Median(std::move(samples));
}

void Keep(uint64_t value) { asm volatile("" : : "r"(value) : "memory"); }

}  // namespace

RandomLines::RandomLines(uint64_t bytes, size_t lines)
    : lines_(lines / kStep * kStep), offsets_(lines_ + kMaxAhead) {
  const uint64_t lines_of_memory = bytes / kLineBytes;
  for (size_t i = 0; i < offsets_.size(); ++i) {
    offsets_[i] = kLineBytes * (((KeyAt(i) >> 32) * lines_of_memory) >> 32);
  }
}

LineLimit RandomLines::Measure(std::span<const std::byte> memory, int passes,
                               unsigned threads) const {
  LineLimit best;
  for (const Method& method : kMethods) {
    const size_t share = lines_ / threads / kStep * kStep;
    const auto read = [&](unsigned thread) {
      Keep(method.read(memory.data(), offsets_.data() + thread * share, share));
    };
    if (passes > 1) read(0);
    const double pass_ns = threads == 1 ? MedianNanoseconds(Time::kThread, passes, [&] { read(0); })
                                        : MedianTogether(threads, passes, read);
    const double ns = pass_ns / static_cast<double>(share * threads);
    if (best.method.empty() || ns < best.ns) best = {ns, method.name};
  }
  return best;
}

double SequentialReadRate(std::span<const std::byte> memory, int passes) {
  const auto read = [&] {
    uint64_t sums[4] = {};
    for (size_t i = 0; i + sizeof(sums) <= memory.size(); i += sizeof(sums)) {
      uint64_t words[4];
      std::memcpy(words, memory.data() + i, sizeof(words));
      for (size_t j = 0; j < 4; ++j) sums[j] += words[j];
    }
    Keep(sums[0] + sums[1] + sums[2] + sums[3]);
  };
  read();
  return static_cast<double>(memory.size()) / MedianNanoseconds(Time::kThread, passes, read);
}

double ChainedMultiplicationsPerNs() {
  constexpr int kChain = 4096, kPasses = 3;
  double least = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    uint64_t x = KeyAt(static_cast<uint64_t>(pass)) | 1;
    const double ns = Nanoseconds(Time::kThread, [&] {
      for (int i = 0; i < kChain; ++i) x *= x;
      Keep(x);
    });
    if (pass == 0 || ns < least) least = ns;
  }
  return kChain / least;
}

double HashNs(const Backend& backend, int passes) {
  constexpr size_t kKeys = 1024;
  constexpr int kTurns = 64;  // so that a pass takes longer than reading the clock
  uint64_t keys[kKeys], hashes[kKeys];
  for (size_t i = 0; i < kKeys; ++i) keys[i] = KeyAt(i);
  const detail::Batch batch = detail::KeyBatch(HashSpec(), keys, kKeys);
  const auto hash = [&] {
    for (int i = 0; i < kTurns; ++i) {
      backend.kernels->hash(batch, hashes);
      Keep(hashes[static_cast<size_t>(i)]);
    }
  };
  hash();
  return MedianNanoseconds(Time::kThread, passes, hash) / (kKeys * kTurns);
}

}  // namespace tamis::bench
