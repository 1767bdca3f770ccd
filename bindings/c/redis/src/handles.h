// What handles are, and the calls with keys that filters and near copies have in common.
#ifndef TAMIS_BINDINGS_C_REDIS_SRC_HANDLES_H_
#define TAMIS_BINDINGS_C_REDIS_SRC_HANDLES_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/c/src/guard.h"
#include "bindings/c/src/lookup.h"
#include "bindings/c/src/string_key.h"
#include "tamis/c/redis.h"
#include "tamis/redis/near_copy.h"
#include "tamis/redis/split_block_filter.h"

namespace tamis::c {

// The keys of a call that have no answer: those of the exception, which is kept, as a copy of them
// could not always be had.
class Unanswered {
 public:
  // Within a handler of `error`.
  void Keep(const redis::UnansweredError& error) noexcept {
    error_ = std::current_exception();
    keys_ = error.keys();
  }
  void Clear() noexcept { *this = {}; }
  // Throws the error, if there is one.
  void Throw() const {
    if (error_ != nullptr) std::rethrow_exception(error_);
  }
  std::span<const uint64_t> keys() const noexcept { return keys_; }

 private:
  std::exception_ptr error_;
  std::span<const uint64_t> keys_;
};

}  // namespace tamis::c

struct tamis_redis_filter {
  tamis::redis::SplitBlockFilter client;
  tamis::c::Unanswered unanswered = {};
  // What tamis_redis_info points to.
  tamis::redis::Info info = {};
  std::vector<tamis_redis_node> nodes = {};
};

struct tamis_redis_near_copy {
  tamis::redis::NearCopy client;
  bool has_thread = false;
  tamis::c::Unanswered unanswered = {};
  std::string last_error = {};  // what tamis_redis_near_copy_stats points to
};

namespace tamis::c {

// Calls of a client with all keys at once. If some have no answer the outputs are written, counts
// among them, and the error is kept, to be thrown after that.
template <typename Client>
class Calls {
 public:
  static constexpr size_t kRunKeys = std::numeric_limits<size_t>::max();

  Calls(Client& client, Unanswered& unanswered) : client_(client), unanswered_(unanswered) {}

  size_t Contains(const Keys& keys, Bitmap out) const {
    Kept([&] { client_.Contains(keys, out); });
    size_t ones = 0;
    for (const uint64_t word : out.words()) ones += static_cast<size_t>(std::popcount(word));
    return ones;
  }
  size_t Contains(const Keys& keys, std::span<uint8_t> out) const {
    Kept([&] { client_.Contains(keys, out); });
    return static_cast<size_t>(std::count(out.begin(), out.end(), uint8_t{1}));
  }
  template <typename Index>
  size_t Select(const Keys& keys, std::span<Index> out) const {
    std::vector<uint64_t> words(BitmapWords(keys.size()));
    Contains(keys, Bitmap(words));
    size_t count = 0;
    for (size_t w = 0; w < words.size(); ++w) {
      for (uint64_t word = words[w]; word != 0; word &= word - 1) {
        out[count++] = static_cast<Index>(64 * w + static_cast<size_t>(std::countr_zero(word)));
      }
    }
    return count;
  }
  size_t Count(const Keys& keys) const {
    std::vector<uint64_t> words(BitmapWords(keys.size()));
    return Contains(keys, Bitmap(words));
  }
  // How many are in as asked for.
  size_t Insert(const Keys& keys) const {
    size_t inserted = 0;
    const bool all = Kept([&] { inserted = client_.Insert(keys); });
    return all ? inserted : keys.CountValid() - unanswered_.keys().size();
  }

 private:
  template <typename Work>
  bool Kept(const Work& work) const {
    try {
      work();
      return true;
    } catch (const redis::UnansweredError& error) {
      unanswered_.Keep(error);
      return false;
    }
  }

  Client& client_;
  Unanswered& unanswered_;
};

// Calls body(calls) with those of the handle, and throws what was kept.
template <typename Handle, typename Body>
void Call(Handle* handle, const char* name, const Body& body) {
  Handle& called = Required(handle, name);
  called.unanswered.Clear();
  body(Calls(called.client, called.unanswered));
  called.unanswered.Throw();
}

// Forms of one key beside integers.
struct CallersString {
  const char* string;
  size_t bytes;
};
struct ReadyHash {
  uint64_t hash;
};

template <typename Ask>
void WithKey(const uint64_t& key, const Ask& ask) {
  ask(Keys(std::span(&key, 1)));
}
template <typename Ask>
void WithKey(const CallersString& key, const Ask& ask) {
  const std::string_view string = StringKey(key.string, key.bytes);
  ask(Keys(std::span(&string, 1)));
}
template <typename Ask>
void WithKey(const ReadyHash& key, const Ask& ask) {
  ask(Keys(Hashes{std::span(&key.hash, 1)}));
}

// The functions of filters and near copies, which differ in their handles alone.

template <typename Handle, typename Key>
tamis_answer ContainsOne(Handle* handle, const char* name, const Key& key) noexcept {
  return Answer([&] {
    bool found = false;
    Call(handle, name, [&](const auto& calls) {
      WithKey(key, [&](const Keys& one) { found = calls.Count(one) == 1; });
    });
    return found;
  });
}

template <typename Handle, typename Key>
tamis_answer InsertOne(Handle* handle, const char* name, const Key& key) noexcept {
  return Answer([&] {
    Call(handle, name,
         [&](const auto& calls) { WithKey(key, [&](const Keys& one) { calls.Insert(one); }); });
    return true;
  });
}

template <typename Handle, typename LookUp>
tamis_status AskMany(Handle* handle, const char* name, const LookUp& look_up) noexcept {
  return Guard([&] { Call(handle, name, look_up); });
}

template <typename Handle>
tamis_status InsertMany(Handle* handle, const char* name, const tamis_keys* keys,
                        uint64_t* inserted) noexcept {
  return Guard([&] {
    Call(handle, name, [&](const auto& calls) {
      const WantedOutput inserted_out(inserted, "inserted");
      uint64_t done = 0;
      KeysFor(calls, keys).ForRuns([&](const Keys& run, size_t) { done += calls.Insert(run); });
      inserted_out.Set(done);
    });
  });
}

template <typename Handle>
tamis_status UnansweredOf(const Handle* handle, const char* name, const uint64_t** keys,
                          uint64_t* count) noexcept {
  return Guard([&] {
    const std::span<const uint64_t> found = Required(handle, name).unanswered.keys();
    const uint64_t*& first = Required(keys, "keys");
    Required(count, "count") = found.size();
    first = found.data();
  });
}

}  // namespace tamis::c

#endif  // TAMIS_BINDINGS_C_REDIS_SRC_HANDLES_H_
