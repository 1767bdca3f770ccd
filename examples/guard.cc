// A database behind a guard, under requests for keys that do not exist: how many requests reach it?
// `example_guard [REQUESTS]`
#include <sqlite3.h>
#include <tamis/engine/build.h>
#include <tamis/live/guard.h>
#include <tamis/tamis.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

constexpr uint64_t kUsers = 10'000;
constexpr double kFpr = 0.01;

using Filter = tamis::SplitBlockBloomFilter;
using Guard = tamis::CacheGuard<uint64_t, std::string, Filter>;

// A table of users in SQLite, which counts its queries.
class Database {
 public:
  Database() {
    Check(sqlite3_open(":memory:", &database_));
    Run("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)");
    Run("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < " +
        std::to_string(kUsers) + ") INSERT INTO users SELECT i * 7, 'user ' || i FROM n");
    Check(
        sqlite3_prepare_v2(database_, "SELECT name FROM users WHERE id = ?", -1, &find_, nullptr));
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database() {
    sqlite3_finalize(find_);
    sqlite3_close(database_);
  }

  std::optional<std::string> Find(uint64_t id) {
    const std::lock_guard lock(mutex_);
    ++queries_;
    Check(sqlite3_reset(find_));
    Check(sqlite3_bind_int64(find_, 1, static_cast<sqlite3_int64>(id)));
    if (sqlite3_step(find_) != SQLITE_ROW) return {};
    return reinterpret_cast<const char*>(sqlite3_column_text(find_, 0));
  }

  std::vector<uint64_t> AllIds() {
    std::vector<uint64_t> ids;
    sqlite3_stmt* all = nullptr;
    Check(sqlite3_prepare_v2(database_, "SELECT id FROM users", -1, &all, nullptr));
    while (sqlite3_step(all) == SQLITE_ROW) {
      ids.push_back(static_cast<uint64_t>(sqlite3_column_int64(all, 0)));
    }
    sqlite3_finalize(all);
    return ids;
  }

  uint64_t queries() const { return queries_; }

 private:
  void Check(int result) {
    if (result != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(database_));
  }
  void Run(const std::string& sql) {
    Check(sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr));
  }

  std::mutex mutex_;
  sqlite3* database_ = nullptr;
  sqlite3_stmt* find_ = nullptr;
  uint64_t queries_ = 0;
};

// A cache with room for all users.
class Cache {
 public:
  std::optional<std::string> Get(uint64_t id) {
    const std::lock_guard lock(mutex_);
    const auto found = names_.find(id);
    if (found == names_.end()) return {};
    return found->second;
  }
  void Put(uint64_t id, const std::string& name) {
    const std::lock_guard lock(mutex_);
    names_[id] = name;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<uint64_t, std::string> names_;
};

// Returns `n` requests. One in ten is for a user, the others are for random numbers.
std::vector<uint64_t> Requests(uint64_t n) {
  std::mt19937_64 random(1);
  std::vector<uint64_t> ids;
  for (uint64_t i = 0; i < n; ++i)
    ids.push_back(i % 10 == 0 ? random() % kUsers * 7 : random() >> 1);
  return ids;
}

int main(int argc, char** argv) {
  const uint64_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const std::vector<uint64_t> requests = Requests(n);

  // The requests that reach the database through a cache alone.
  Database bare;
  Cache bare_cache;
  std::vector<std::optional<std::string>> answers;
  for (const uint64_t id : requests) {
    std::optional<std::string> name = bare_cache.Get(id);
    if (!name && (name = bare.Find(id))) bare_cache.Put(id, *name);
    answers.push_back(name);
  }

  Database database;
  Cache cache;
  tamis::Live<Filter> live;
  live.Rebuild({[&](tamis::RebuildContext&) {
    return tamis::Build<Filter>([&](const auto& visit) { visit(database.AllIds()); },
                                {.fpr = kFpr});
  }});
  Guard guard(live);
  uint64_t wrong = 0;
  for (size_t i = 0; i < requests.size(); ++i) {
    const auto load = [&](uint64_t id) { return database.Find(id); };
    wrong += guard.Get(requests[i], cache, load) != answers[i];
  }

  // Every user once, and the share of the random numbers that are false positives.
  const tamis::GuardStats stats = guard.stats();
  const double rate = live.Read()->expected_fpr();
  const double allowed = static_cast<double>(kUsers) + 1.1 * rate * 0.9 * static_cast<double>(n);
  std::printf("%llu requests, 90%% of them for random numbers\n",
              static_cast<unsigned long long>(n));
  std::printf("queries of the database without a guard: %llu\n",
              static_cast<unsigned long long>(bare.queries()));
  std::printf("with a guard: %llu, of which %llu for random numbers\n",
              static_cast<unsigned long long>(database.queries()),
              static_cast<unsigned long long>(stats.false_positives));
  std::printf("%llu answers were wrong\n", static_cast<unsigned long long>(wrong));
  std::fputs(tamis::PrometheusText({{"users", stats}}).c_str(), stdout);
  return wrong == 0 && static_cast<double>(database.queries()) <= allowed &&
                 database.queries() == stats.loads && bare.queries() > n * 9 / 10
             ? 0
             : 1;
}
