// Operations on a Redis server that this program starts. If a call fails once, the client retries
// on another connection. If it always fails, the operation ends with an error that states why.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <utility>

#include "tamis/redis/near_cache.h"
#include "tamis/redis/rebuild.h"
#include "tamis/redis/split_block_filter.h"
#include "tamis/unanswered_error.h"
#include "tests/campaigns/fault_filters.h"
#include "tests/campaigns/fault_operations.h"

namespace tamis::campaigns {
namespace {

namespace fs = std::filesystem;

using redis::CreateOptions;
using redis::NearCache;
using redis::Route;
using redis::ServerOptions;
using redis::SplitBlockFilter;

constexpr const char* kName = "faults";
constexpr uint64_t kKeys = 200;

// Runs redis/local_cluster.sh, which ends with this process, when its standard input closes.
class Server {
 public:
  explicit Server(const fs::path& folder) {
    std::array<int, 2> in{}, out{};
    if (pipe(in.data()) != 0 || pipe(out.data()) != 0) throw std::runtime_error("pipe");
    pid_ = fork();
    if (pid_ == 0) {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      for (const int fd : {in[0], in[1], out[0], out[1]}) close(fd);
      execlp("sh", "sh", TAMIS_LOCAL_CLUSTER, "single", (folder / "redis").c_str(), nullptr);
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    in_ = in[1];
    out_ = out[0];
    // First "single PORT PID", and then "ready ...".
    std::string text;
    char c = 0;
    while (text.find("ready") == std::string::npos && read(out_, &c, 1) == 1) text += c;
    int port = 0;
    if (std::sscanf(text.c_str(), "single %d", &port) == 1) {
      url_ = "redis://127.0.0.1:" + std::to_string(port);
    }
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() {
    close(in_);
    waitpid(pid_, nullptr, 0);
    close(out_);
  }

  // Returns "" if redis-server is missing.
  const std::string& url() const { return url_; }

 private:
  pid_t pid_ = -1;
  int in_ = -1, out_ = -1;
  std::string url_;
};

struct Subject {
  explicit Subject(const fs::path& folder) : server(folder) {
    options.url = server.url();
    // If the packets of a connection attempt are lost, the system sends them again after a second.
    options.connect_timeout = std::chrono::milliseconds(3000);
    options.command_timeout = std::chrono::milliseconds(1000);
    options.retry_for = std::chrono::milliseconds(500);
    options.min_backoff = std::chrono::milliseconds(1);
    options.max_backoff = std::chrono::milliseconds(5);
    options.idle_share = 0;
    local.Insert(new_keys);
  }

  SplitBlockFilter Open(Route route = Route::kBlocks) const {
    return SplitBlockFilter::Open(options, kName, {.route = route});
  }
  void Drop() const {
    try {
      Open().Drop();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kInvalidArgument) throw;  // the filter does not exist
    }
  }
  // Creates a filter with the old keys.
  void Renew() const {
    Drop();
    SplitBlockFilter::Create(options, kName, create).Insert(old_keys);
  }
  std::string CheckOld() const {
    return Open().Count(old_keys) == kKeys ? "" : "keys of the old state are lost";
  }

  Server server;
  ServerOptions options;
  CreateOptions create = {.filter = {.capacity = 2 * kKeys}};
  std::vector<uint64_t> old_keys = KeysOf(0, kKeys), new_keys = KeysOf(kKeys, kKeys);
  std::vector<uint64_t> late_keys = KeysOf(2 * kKeys, kKeys);
  SplitBlockBloomFilter local = SplitBlockBloomFilter({.capacity = 2 * kKeys});
  // Objects and results of operations.
  std::optional<SplitBlockFilter> filter;
  std::optional<SplitBlockBloomFilter> pulled;
  std::optional<NearCache> copy;
  bool late = false;  // whether keys have been inserted during a rebuild
  size_t result = 0;
  std::vector<uint64_t> unanswered;
};

using SubjectPointer = std::shared_ptr<Subject>;

Operation On(const SubjectPointer& s, const std::string& name, std::function<void(Subject&)> run,
             std::function<std::string(Subject&, const Ending&)> check) {
  const auto clear = [s] {
    s->filter.reset();
    s->pulled.reset();
    s->copy.reset();
    s->late = false;
    s->result = 0;
    s->unanswered = std::vector<uint64_t>();  // {} would keep its memory
  };
  return {"redis: " + name, [s] { s->Renew(); }, [s, run] { run(*s); },
          [s, check](const Ending& ending) { return check(*s, ending); }, clear};
}

// All keys are in the filter, except keys that the error names.
std::string CheckInserted(Subject& s, const Ending& ending) {
  if (const std::string problem = s.CheckOld(); !problem.empty()) return problem;
  SplitBlockFilter filter = s.Open();
  if (!ending.threw) return filter.Count(s.new_keys) == kKeys ? "" : "inserted keys are missing";
  if (ending.out_of_memory || s.unanswered.empty()) return "";
  size_t next = 0;
  for (uint64_t i = 0; i < kKeys; ++i) {
    if (next < s.unanswered.size() && s.unanswered[next] == i) {
      ++next;
    } else if (!filter.Contains(s.new_keys[i])) {
      return "a key is missing that the error does not name";
    }
  }
  return "";
}

void AddKeyed(const SubjectPointer& subject, Route route, std::vector<Operation>& all) {
  const std::string by = route == Route::kBlocks ? ", by blocks" : ", by segments";
  all.push_back(On(
      subject, "count" + by,
      [route](Subject& s) {
        s.filter.emplace(s.Open(route));
        s.result = s.filter->Count(s.old_keys);
      },
      [](Subject& s, const Ending& ending) {
        if (!ending.threw && s.result != kKeys) return std::string("keys are missed");
        return s.CheckOld();
      }));
  all.push_back(On(
      subject, "insert" + by,
      [route](Subject& s) {
        s.filter.emplace(s.Open(route));
        try {
          s.filter->Insert(s.new_keys);
        } catch (const UnansweredError& error) {
          s.unanswered = error.keys();
          throw;
        }
      },
      CheckInserted));
}

// A near cache that answers "no" from its own memory.
constexpr std::chrono::hours kLong{1};
constexpr redis::NearCacheOptions kStale = {.staleness = kLong};
constexpr redis::NearCacheOptions kThreaded = {.staleness = kLong, .refresh_every = kLong};

// After a refresh without a fault, the copy has all keys that are on the servers.
std::string CheckCopy(Subject& s, const Ending& ending) {
  if (!s.copy) return ending.threw ? s.CheckOld() : "there is no copy";
  if (ending.threw) s.copy->Refresh();
  if (s.copy->Count(s.new_keys) != kKeys) return "the copy lacks keys that others have inserted";
  return s.copy->Count(s.old_keys) == kKeys ? s.CheckOld() : "the copy has lost keys";
}

void AddCopies(const SubjectPointer& subject, std::vector<Operation>& all) {
  const auto make = [](const redis::NearCacheOptions& options) {
    return [options](Subject& s) {
      s.copy.emplace(s.Open(), options);
      s.result = s.copy->Count(s.old_keys);
    };
  };
  const auto check_made = [](Subject& s, const Ending& ending) {
    if (!ending.threw && s.result != kKeys) return std::string("keys are missed");
    return s.CheckOld();
  };
  all.push_back(On(subject, "near cache", make(kStale), check_made));
  all.push_back(On(subject, "near cache with a thread", make(kThreaded), check_made));

  const auto with_copy = [subject](const redis::NearCacheOptions& options) {
    return [subject, options] {
      subject->Renew();
      subject->copy.emplace(subject->Open(), options);
      subject->Open().Insert(subject->new_keys);
    };
  };
  all.push_back(On(
      subject, "near cache: refresh", [](Subject& s) { s.copy->Refresh(); }, CheckCopy));
  all.back().prepare = with_copy(kStale);
  all.push_back(On(
      subject, "near cache: what the servers confirm",
      [](Subject& s) { s.result = s.copy->Count(s.new_keys); },
      [](Subject& s, const Ending& ending) {
        if (!ending.threw && s.result != kKeys) return std::string("keys are missed");
        return CheckCopy(s, ending);
      }));
  all.back().prepare = with_copy({});
  all.push_back(On(
      subject, "near cache: insert",
      [](Subject& s) {
        try {
          s.copy->Insert(s.new_keys);
        } catch (const UnansweredError& error) {
          s.unanswered = error.keys();
          throw;
        }
      },
      [](Subject& s, const Ending& ending) {
        const bool missed = !ending.threw && s.copy->Count(s.new_keys) != kKeys;
        return missed ? std::string("the copy lacks its own keys") : CheckInserted(s, ending);
      }));
  all.back().prepare = [subject] {
    subject->Renew();
    subject->copy.emplace(subject->Open(), kStale);
  };
}

// The lease of this client expires at once, so that the next rebuild can begin.
const redis::RebuildOptions kAtOnce = {.lease = std::chrono::milliseconds(1),
                                       .grace = std::chrono::milliseconds(0)};

void RebuildWhenFree(Subject& s, SplitBlockFilter& filter) {
  for (;;) {
    try {
      redis::Rebuild(
          filter,
          [&s](redis::RebuildInserter& to) {
            to.Insert(s.old_keys);
            to.Insert(s.new_keys);
          },
          kAtOnce);
      return;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kBusy) throw;
    }
  }
}

// The filter has the old or the new generation, with all keys that were inserted during the
// rebuild. The next rebuild removes the remains of this rebuild.
std::string CheckRebuilt(Subject& s, const Ending& ending) {
  if (const std::string problem = s.CheckOld(); !problem.empty()) return problem;
  SplitBlockFilter filter = s.Open();
  const bool in_place = ending.message.find("is in place") != std::string::npos;
  if ((!ending.threw || in_place) && filter.Count(s.new_keys) != kKeys) {
    return "keys of the new generation are missing";
  }
  if (s.late && filter.Count(s.late_keys) != kKeys) return "keys inserted meanwhile are lost";
  RebuildWhenFree(s, filter);
  if (filter.Count(s.old_keys) != kKeys || filter.Count(s.new_keys) != kKeys) {
    return "keys are lost by the next rebuild";
  }
  const redis::Info info = filter.GetInfo();
  const bool right = info.rebuild == redis::RebuildState::kNone && info.bad_segments == 0;
  return right ? "" : "something of a rebuild is left: " + info.problem;
}

void AddRebuilds(const SubjectPointer& subject, std::vector<Operation>& all) {
  all.push_back(On(
      subject, "rebuild",
      [](Subject& s) {
        s.filter.emplace(s.Open());
        const auto source = [&s](redis::RebuildInserter& to) {
          to.Insert(s.old_keys);
          to.Insert(s.new_keys);
          try {
            s.Open().Insert(s.late_keys);  // by another client, which may hit the fault
            s.late = true;
          } catch (const Error&) {
          }
        };
        redis::Rebuild(*s.filter, source, kAtOnce);
      },
      CheckRebuilt));
  all.push_back(On(
      subject, "near cache: refresh after a rebuild", [](Subject& s) { s.copy->Refresh(); },
      CheckCopy));
  all.back().prepare = [subject] {
    subject->Renew();
    subject->copy.emplace(subject->Open(), kStale);
    SplitBlockFilter filter = subject->Open();
    RebuildWhenFree(*subject, filter);
  };
}

}  // namespace

std::vector<Operation> RedisOperations(const fs::path& folder) {
  const auto subject = std::make_shared<Subject>(folder);
  std::vector<Operation> all;
  if (subject->server.url().empty()) return all;
  for (const Route route : {Route::kBlocks, Route::kSegments}) AddKeyed(subject, route, all);
  all.push_back(On(
      subject, "pull",
      [](Subject& s) {
        s.filter.emplace(s.Open());
        s.pulled.emplace(s.filter->Pull());
      },
      [](Subject& s, const Ending& ending) {
        if (!ending.threw && !HasAll(*s.pulled, s.old_keys)) return std::string("keys are missing");
        return s.CheckOld();
      }));
  all.push_back(On(
      subject, "push",
      [](Subject& s) {
        s.filter.emplace(s.Open());
        s.filter->Push(s.local);
      },
      CheckInserted));
  all.push_back(On(
      subject, "create",
      [](Subject& s) { s.filter.emplace(SplitBlockFilter::Create(s.options, kName, s.create)); },
      [](Subject& s, const Ending& ending) {
        // If the filter was made although the reply was lost, it can be dropped.
        if (!ending.threw) s.Open();
        s.Renew();
        return s.CheckOld();
      }));
  all.back().prepare = [subject] { subject->Drop(); };
  all.push_back(On(
      subject, "drop",
      [](Subject& s) {
        s.filter.emplace(s.Open());
        s.filter->Drop();
      },
      [](Subject& s, const Ending& ending) {
        if (ending.threw) return std::string();
        try {
          s.Open();
        } catch (const Error& error) {
          if (error.code() == ErrorCode::kInvalidArgument) return std::string();
        }
        return std::string("it is still there");
      }));
  return all;
}

std::vector<Operation> RedisCopyOperations(const fs::path& folder) {
  const auto subject = std::make_shared<Subject>(folder);
  std::vector<Operation> all;
  if (subject->server.url().empty()) return all;
  subject->options.retry_for = std::chrono::milliseconds(200);
  AddCopies(subject, all);
  AddRebuilds(subject, all);
  return all;
}

}  // namespace tamis::campaigns
