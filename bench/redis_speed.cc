// Compares a filter on a Redis server or cluster with the textbook way: k = 7 SETBIT or GETBIT for
// each key on one string, pipelined on the connections of the same client.
//
// Usage: tamis_redis_speed [KEYS [BATCH [LARGE]]]   (default 1,000,000, 1,000 and 10,000,000)
//
// TAMIS_REDIS_URL names the servers; redis/local_cluster.sh starts some and runs this program. The
// filter and the string are for KEYS at 1%. The filter is half full before anything is timed, and
// the string begins empty: the cost of SETBIT and GETBIT does not depend on the bit. Both ways get
// the same keys in turns. The program measures, in this order:
//
// - A NearCache and the local filter, in turns. Half of the keys are in the filter, and a writer
//   inserts 1,000 keys every 10 ms.
// - The time that another client waits for a GET of a small key while a local filter of KEYS keys
//   is pushed repeatedly: with pauses, without pauses, and without bounds. The client sends a GET
//   to the next master each millisecond.
// - The medians of calls of BATCH keys, each timed alone.
// - One call of each kind with LARGE keys. The textbook way stops after 10 seconds.
// - A rebuild of the filter of LARGE keys.
//
// Exit status: 0 if no present key was missed, otherwise 1; 2 for bad arguments.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "bench/arguments.h"
#include "bench/timing.h"
#include "bench/workload.h"
#include "redis/src/client/client.h"
#include "redis/src/client/slot.h"
#include "tamis/detail/str_cat.h"
#include "tamis/filters/sizing.h"
#include "tamis/redis/near_cache.h"
#include "tamis/redis/rebuild.h"
#include "tamis/redis/split_block_filter.h"

namespace tamis::bench {
namespace {

using redis::Client;
using redis::Command;
using redis::Operation;

constexpr size_t kHashes = 7;
constexpr double kFpr = 0.01;
constexpr int kRounds = 41;
constexpr double kLargeSeconds = 10;
constexpr size_t kTextbookCall = 10'000;  // keys in a large call
constexpr size_t kNearKeys = 1'000'000;
constexpr size_t kStrictKeys = 2'000;
constexpr double kNearSeconds = 10;
constexpr uint64_t kFewKeys = 100'000;  // with fewer keys, the program only checks that all works
constexpr size_t kWritten = 1'000;
constexpr std::chrono::milliseconds kWriterPause(10);
constexpr std::chrono::milliseconds kStaleness(2'000);
constexpr int kPushes = 40;
constexpr double kPushSeconds = 4;
constexpr size_t kOtherKeys = 16;  // keys of another client, in slots of all masters
constexpr std::chrono::milliseconds kOtherPause(1);

// Sets k bits per key at h1 + i h2 in one string, as in tutorials without modules.
class Textbook {
 public:
  Textbook(const redis::ServerOptions& servers, std::string key, uint64_t keys)
      : client_(servers),
        key_(std::move(key)),
        slot_(redis::SlotOfKey(key_)),
        bits_(static_cast<uint64_t>(std::ceil(static_cast<double>(keys) * 9.6))) {}

  // Makes the server allocate the string before anything is timed.
  void Create() {
    Command command(slot_,
                    {"SETRANGE", key_, std::to_string((bits_ - 1) / 8), std::string(1, '\0')}, 0);
    client_.Run(std::span(&command, 1));
  }
  void Drop() {
    Command command(slot_, {"DEL", key_}, 0);
    client_.Run(std::span(&command, 1));
  }
  uint64_t bits() const { return bits_; }

  size_t Insert(std::span<const uint64_t> keys) { return Run(keys, "SETBIT"); }
  // Returns the number of keys that may be in the filter.
  size_t Count(std::span<const uint64_t> keys) { return Run(keys, "GETBIT"); }

 private:
  size_t Run(std::span<const uint64_t> keys, std::string_view verb) {
    std::vector<Command> commands;
    commands.reserve(keys.size() * kHashes);
    for (const uint64_t key : keys) {
      const uint64_t h1 = HashU64(key);
      const uint64_t h2 = HashU64(key, {HashKind::kXxh3, 1}) | 1;
      for (size_t i = 0; i < kHashes; ++i) {
        const std::string bit = std::to_string((h1 + i * h2) % bits_);
        if (verb == "SETBIT") {
          commands.emplace_back(slot_,
                                std::initializer_list<std::string_view>{verb, key_, bit, "1"}, 0);
        } else {
          commands.emplace_back(slot_, std::initializer_list<std::string_view>{verb, key_, bit}, 0);
        }
      }
    }
    client_.Run(commands);
    size_t all = 0;
    for (size_t k = 0; k < keys.size(); ++k) {
      bool in = true;
      for (size_t i = 0; i < kHashes; ++i) {
        const Command& command = commands[k * kHashes + i];
        if (!command.answered || !command.reply.IsInteger()) throw std::runtime_error("no answer");
        in &= command.reply.integer == 1;
      }
      all += in;
    }
    return all;
  }

  Client client_;
  const std::string key_;
  const uint32_t slot_;
  const uint64_t bits_;
};

std::vector<uint64_t> KeysFrom(uint64_t first, uint64_t n) {
  std::vector<uint64_t> keys(n);
  for (uint64_t i = 0; i < n; ++i) keys[i] = KeyAt(first + i);
  return keys;
}

double UsPerKey(size_t keys, const std::function<void()>& act) {
  return 1e-3 * Nanoseconds(Time::kWall, act) / static_cast<double>(keys);
}

// Another client of the servers, which sends few requests.
class Other {
 public:
  explicit Other(const redis::ServerOptions& servers) : client_(servers) {
    for (size_t i = 0; i < kOtherKeys; ++i) {
      // The tags {0}, {1} ... spread the keys over all slots.
      keys_.push_back(detail::StrCat("{", i, "}tamis-bench-other"));
      Say({"SET", keys_[i], "x", "EX", "600"}, i);
    }
  }

  // Sends requests until `act` has returned. Returns the time of each request in ms, from the
  // moment when it is due until it is answered.
  std::vector<double> WaitsWhile(const std::function<void()>& act) {
    std::vector<double> waits;
    std::jthread asker([&](const std::stop_token& stop) {
      auto due = std::chrono::steady_clock::now();
      // Sends at least one request, because `act` may already have returned.
      for (size_t i = 0; i == 0 || !stop.stop_requested(); ++i, due += kOtherPause) {
        std::this_thread::sleep_until(due);
        Say({"GET", keys_[i % kOtherKeys]}, i % kOtherKeys);
        const std::chrono::duration<double, std::milli> wait =
            std::chrono::steady_clock::now() - due;
        waits.push_back(wait.count());
      }
    });
    act();
    asker.request_stop();
    asker.join();
    return waits;
  }

 private:
  void Say(std::initializer_list<std::string_view> words, size_t key) {
    Command command(redis::SlotOfKey(keys_[key]), words, 64);
    client_.Run(std::span(&command, 1));
    if (!command.answered) throw std::runtime_error("no answer");
  }

  Client client_;
  std::vector<std::string> keys_;
};

class Speed {
 public:
  Speed(const redis::ServerOptions& servers, uint64_t keys)
      : servers_(servers),
        keys_(keys),
        textbook_(servers, "tamis-bench-textbook", keys),
        filter_(redis::SplitBlockFilter::Create(servers, "tamis-bench",
                                                {{.capacity = keys, .fpr = kFpr}})) {
    textbook_.Create();
    // Inserts half of the keys. The textbook string stays empty: the cost of SETBIT and GETBIT does
    // not depend on the bit.
    ForEachBatch(0, keys_ / 2, [&](const std::vector<uint64_t>& some) { filter_.Insert(some); });
  }
  ~Speed() {
    filter_.Drop();
    textbook_.Drop();
  }

  bool Small(size_t batch) {
    std::vector<double> times[4];
    for (int round = 0; round < kRounds; ++round) {
      const std::vector<uint64_t> fresh = KeysFrom(next_, batch);
      next_ += batch;
      times[0].push_back(UsPerKey(batch, [&] { textbook_.Insert(fresh); }));
      times[1].push_back(UsPerKey(batch, [&] { filter_.Insert(fresh); }));
      // Half of the keys are in the filter.
      std::vector<uint64_t> asked = KeysFrom(next_ + (uint64_t{1} << 50), batch);
      std::copy(fresh.begin(), fresh.begin() + static_cast<std::ptrdiff_t>(batch / 2),
                asked.begin());
      size_t found[2] = {};
      times[2].push_back(UsPerKey(batch, [&] { found[0] = textbook_.Count(asked); }));
      times[3].push_back(UsPerKey(batch, [&] { found[1] = filter_.Count(asked); }));
      if (found[0] < batch / 2 || found[1] < batch / 2) missed_ = true;
    }
    Row("Insert", batch, Median(times[0]), Median(times[1]));
    Row("Contains", batch, Median(times[2]), Median(times[3]));
    return !missed_;
  }

  bool Large(size_t n) {
    const std::vector<uint64_t> fresh = KeysFrom(next_, n);
    next_ += n;
    const double textbook_insert =
        Textbooks(fresh, [&](std::span<const uint64_t> some) { textbook_.Insert(some); });
    const double insert = UsPerKey(n, [&] { filter_.Insert(fresh); });
    Row("Insert", n, textbook_insert, insert);
    const double textbook_ask =
        Textbooks(fresh, [&](std::span<const uint64_t> some) { textbook_.Count(some); });
    size_t found = 0;
    const double ask = UsPerKey(n, [&] { found = filter_.Count(fresh); });
    Row("Contains", n, textbook_ask, ask);
    if (found != n) missed_ = true;
    return !missed_;
  }

  void Near() {
    const auto open = [&] { return redis::SplitBlockFilter::Open(servers_, filter_.name()); };
    const std::jthread writer([&](const std::stop_token& stop) {
      redis::SplitBlockFilter mine = open();
      while (!stop.stop_requested()) {
        mine.Insert(KeysFrom(next_, kWritten));
        next_ += kWritten;
        std::this_thread::sleep_for(kWriterPause);
      }
    });
    const SplitBlockBloomFilter local = filter_.Pull();
    redis::NearCache strict(open());
    std::vector<uint64_t> asked = KeysFrom(uint64_t{1} << 50, kNearKeys);
    for (size_t i = 0; i < asked.size(); i += 2) asked[i] = KeyAt(i % (keys_ / 2));
    const std::span few = std::span(asked).first(kStrictKeys);
    std::vector<uint64_t> bits(BitmapWords(asked.size()));
    std::vector<double> strict_us;
    for (int round = 0; round < kRounds; ++round) {
      strict_us.push_back(UsPerKey(few.size(), [&] { strict.Contains(few, Bitmap(bits)); }));
    }
    std::printf(
        "| keys | refreshed by | local ns/key | near cache, %lld ms stale | share of its speed | "
        "longest call of %zu keys, ms | strict ns/key, %zu keys a call |\n"
        "|---:|---|---:|---:|---:|---:|---:|\n",
        static_cast<long long>(kStaleness.count()), asked.size(), few.size());
    for (const bool own_thread : {false, true}) {
      redis::NearCacheOptions options{.staleness = kStaleness};
      if (own_thread) options.refresh_every = kStaleness / 4;
      redis::NearCache near(open(), options);
      std::vector<double> times[2];
      const double seconds = keys_ < kFewKeys ? 0.5 : kNearSeconds;
      const auto end = NowNs(Time::kWall) + 1e9 * seconds;
      while (NowNs(Time::kWall) < end) {
        times[0].push_back(UsPerKey(asked.size(), [&] { local.Contains(asked, Bitmap(bits)); }));
        times[1].push_back(UsPerKey(asked.size(), [&] { near.Contains(asked, Bitmap(bits)); }));
      }
      // Uses the mean, because it includes the times of refreshes.
      const auto mean = [](const std::vector<double>& all) {
        double sum = 0;
        for (const double us : all) sum += us;
        return 1e3 * sum / static_cast<double>(all.size());
      };
      std::printf("| %llu | %s | %.2f | %.2f | %.2f | %.1f | %.0f |\n",
                  static_cast<unsigned long long>(keys_), own_thread ? "a thread" : "calls",
                  mean(times[0]), mean(times[1]), mean(times[0]) / mean(times[1]),
                  1e-3 * static_cast<double>(asked.size()) * Quantile(times[1], 1),
                  1e3 * Median(strict_us));
    }
    std::printf("\n");
  }

  // Measures the waits of another client while a filter is pushed.
  void Pushes() {
    Other other(servers_);
    const SplitBlockBloomFilter local = filter_.Pull();
    std::printf(
        "| keys | pushed | pushes/s | another client's GET: median ms | p99 | longest |\n"
        "|---:|---|---:|---:|---:|---:|\n");
    const auto row = [&](const char* name, double pushes, const std::vector<double>& waits) {
      std::printf("| %llu | %s | %.2f | %.2f | %.2f | %.1f |\n",
                  static_cast<unsigned long long>(keys_), name, pushes, Median(waits),
                  Quantile(waits, 0.99), Quantile(waits, 1));
    };
    row("nothing", 0, other.WaitsWhile([] { std::this_thread::sleep_for(kStaleness); }));
    struct Way {
      const char* name;
      double idle_share;
      uint64_t bytes;
    };
    const redis::ServerOptions usual;
    for (const Way& way :
         {Way{"a filter, default pauses", usual.idle_share, usual.max_bytes_in_flight},
          Way{"idle_share 0.2", 0.2, usual.max_bytes_in_flight},
          Way{"idle_share 0", 0, usual.max_bytes_in_flight},
          Way{"idle_share 0, 1 GiB in flight", 0, uint64_t{1} << 30}}) {
      redis::ServerOptions options = servers_;
      options.idle_share = way.idle_share;
      options.max_bytes_in_flight = way.bytes;
      auto to = redis::SplitBlockFilter::Open(options, filter_.name());
      int pushes = 0;
      double ns = 0;
      const std::vector<double> waits = other.WaitsWhile([&] {
        for (; pushes < kPushes && ns < 1e9 * kPushSeconds; ++pushes) {
          ns += Nanoseconds(Time::kWall, [&] { to.Push(local); });
        }
      });
      row(way.name, 1e9 * pushes / ns, waits);
    }
    std::printf("\n");
  }

  // Rebuilds a filter of `n` keys from a source that has them at once.
  bool Rebuilt(uint64_t n) {
    auto filter = redis::SplitBlockFilter::Create(servers_, "tamis-bench-rebuilt",
                                                  {{.capacity = n, .fpr = kFpr}});
    const auto all = [&](const auto& visit) { ForEachBatch(0, n, visit); };
    all([&](const std::vector<uint64_t>& some) { filter.Insert(some); });
    double source_ns = 0;
    const double ns = Nanoseconds(Time::kWall, [&] {
      redis::Rebuild(filter,
                     [&](redis::RebuildInserter& to) {
                       source_ns = Nanoseconds(Time::kWall, [&] {
                         all([&](const std::vector<uint64_t>& some) { to.Insert(some); });
                       });
                     },
                     {.grace = std::chrono::milliseconds(0)});
    });
    std::printf(
        "| keys | rebuilt in, s | of it reading the source | keys/s |\n|---:|---:|---:|---:|\n"
        "| %llu | %.3f | %.3f | %.3g |\n\n",
        static_cast<unsigned long long>(n), 1e-9 * ns, 1e-9 * source_ns,
        1e9 * static_cast<double>(n) / ns);
    uint64_t found = 0;
    all([&](const std::vector<uint64_t>& some) { found += filter.Count(some); });
    filter.Drop();
    return found == n;
  }

  const redis::SplitBlockFilter& filter() const { return filter_; }

 private:
  // Returns the time per key, for as many keys as there is time for.
  static double Textbooks(std::span<const uint64_t> keys,
                          const std::function<void(std::span<const uint64_t>)>& act) {
    double us = 0;
    size_t done = 0;
    while (done < keys.size() && us < 1e6 * kLargeSeconds) {
      const auto some = keys.subspan(done, std::min(kTextbookCall, keys.size() - done));
      us += UsPerKey(1, [&] { act(some); });
      done += some.size();
    }
    return us / static_cast<double>(done);
  }

  void Row(const char* name, size_t n, double textbook, double ours) const {
    std::printf("| %llu | %s | %zu | %.3f | %.3f | %.1f |\n",
                static_cast<unsigned long long>(keys_), name, n, textbook, ours, textbook / ours);
    std::fflush(stdout);
  }

  const redis::ServerOptions servers_;
  const uint64_t keys_;
  uint64_t next_ = uint64_t{1} << 45;  // differs from the keys that fill the filter
  Textbook textbook_;
  redis::SplitBlockFilter filter_;
  bool missed_ = false;
};

int Run(uint64_t keys, uint64_t batch, uint64_t large) {
  redis::ServerOptions servers;
  if (const char* const url = std::getenv("TAMIS_REDIS_URL")) servers.url = url;
  Speed speed(servers, keys);
  speed.Near();
  speed.Pushes();
  std::printf(
      "| keys | call | keys in the call | textbook us/key | tamis us/key | times as fast |\n"
      "|---:|---|---:|---:|---:|---:|\n");
  bool right = speed.Small(batch);
  right &= speed.Large(large);
  std::printf("\n");
  right &= speed.Rebuilt(large);
  for (const uint64_t n : {batch, large}) {
    for (const Operation operation : {Operation::kInsert, Operation::kContains}) {
      std::printf("%s %llu: %s\n", operation == Operation::kInsert ? "Insert" : "Contains",
                  static_cast<unsigned long long>(n),
                  speed.filter().PlanRoute(operation, n).reason.c_str());
    }
  }
  if (!right) std::printf("A PRESENT KEY WAS MISSED\n");
  return right ? 0 : 1;
}

}  // namespace
}  // namespace tamis::bench

int main(int argc, char** argv) {
  uint64_t numbers[3] = {1'000'000, 1'000, 10'000'000};
  for (int i = 1; i < argc; ++i) {
    if (i > 3 || !tamis::bench::ParseCount(argv[i], numbers[i - 1])) {
      std::fprintf(stderr, "usage: tamis_redis_speed [KEYS [BATCH [LARGE]]]\n");
      return 2;
    }
  }
  try {
    return tamis::bench::Run(numbers[0], numbers[1], numbers[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tamis_redis_speed: %s\n", error.what());
    return 1;
  }
}
