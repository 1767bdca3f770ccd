#include "tamis/redis/near_copy.h"

#include <algorithm>
#include <utility>

#include "redis/src/answers.h"
#include "redis/src/filter_impl.h"
#include "tamis/hash.h"

namespace tamis::redis {

using std::chrono::steady_clock;

NearCopy::NearCopy(SplitBlockFilter filter, const NearCopyOptions& options)
    : filter_(std::move(filter)),
      options_(options),
      copy_(filter_.impl().MakeLocal(options.memory)) {
  if (options_.staleness && options_.staleness->count() < 1) {
    throw Error(ErrorCode::kInvalidArgument, "staleness is " +
                                                 std::to_string(options_.staleness->count()) +
                                                 " ms, and has to be at least 1");
  }
  Refresh();
}

uint64_t NearCopy::Refresh() {
  const auto begin = steady_clock::now();
  const uint64_t read = filter_.impl().Refresh(copy_, {generation_, versions_}, [this] {
    complete_ = false;
    refreshed_at_ = {};
  });
  complete_ = true;
  refreshed_at_ = begin;
  return read;
}

void NearCopy::Ask(const Keys& keys, std::span<uint64_t> maybe) {
  SplitBlockFilter::Impl& impl = filter_.impl();
  if (impl.IsOver()) return impl.Ask(keys, maybe);  // which has no answers any more
  if (options_.staleness &&
      (!complete_ || steady_clock::now() - refreshed_at_ > *options_.staleness)) {
    try {
      Refresh();
    } catch (const Error&) {
      // The servers may have answers for these keys all the same, or say why not.
      copy_.Contains(keys, Bitmap(maybe));
      return Confirm(keys, maybe);
    }
  }
  copy_.Contains(keys, Bitmap(maybe));
  if (!options_.staleness) Confirm(keys, maybe);
}

void NearCopy::Confirm(const Keys& keys, std::span<uint64_t> maybe) {
  const Bitmap known(maybe);
  std::vector<uint64_t> hashes(keys.CountValid());
  HashKeys(keys, filter_.impl().hash(), hashes);
  std::vector<uint64_t> open;     // hashes
  std::vector<uint64_t> indices;  // of their keys
  size_t next = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!keys.IsValid(i)) continue;
    const uint64_t hash = hashes[next++];
    if (known.Test(i)) continue;
    open.push_back(hash);
    indices.push_back(i);
  }
  if (open.empty()) return;
  std::vector<uint64_t> answers(BitmapWords(open.size()));
  const auto write = [&] {
    for (size_t k = 0; k < open.size(); ++k) {
      if (Bitmap(answers).Test(k)) maybe[indices[k] / 64] |= uint64_t{1} << (indices[k] % 64);
    }
  };
  try {
    filter_.impl().Ask(Keys(Hashes{open}), answers);
  } catch (const UnansweredError& error) {
    write();
    std::vector<uint64_t> unanswered;
    for (const uint64_t k : error.keys()) unanswered.push_back(indices[k]);
    throw UnansweredError(error.code(), error.what(), std::move(unanswered));
  }
  write();
}

size_t NearCopy::Insert(Keys keys) {
  const size_t inserted = filter_.Insert(keys);
  copy_.Insert(keys);
  return inserted;
}

size_t NearCopy::Contains(Keys keys, Bitmap out) {
  RequireSize(out.words().size(), BitmapWords(keys.size()));
  return WithAnswers(
      keys.size(), [&](std::span<uint64_t> words) { Ask(keys, words); },
      [&](const std::vector<uint64_t>& words) {
        std::copy(words.begin(), words.end(), out.words().begin());
      });
}

size_t NearCopy::Contains(Keys keys, std::span<uint8_t> out) {
  RequireSize(out.size(), keys.size());
  return WithAnswers(
      keys.size(), [&](std::span<uint64_t> words) { Ask(keys, words); },
      [&](const std::vector<uint64_t>& words) {
        for (size_t i = 0; i < keys.size(); ++i) out[i] = (words[i / 64] >> (i % 64)) & 1;
      });
}

size_t NearCopy::Select(Keys keys, std::span<uint32_t> out) {
  RequireSize(out.size(), keys.size());
  if (keys.size() > uint64_t{1} << 32) {
    throw Error(ErrorCode::kInvalidArgument, "indices of 32 bits are for 2^32 keys at most");
  }
  return WithAnswers(
      keys.size(), [&](std::span<uint64_t> words) { Ask(keys, words); },
      [&](const std::vector<uint64_t>& words) { WriteIndices(words, out); });
}

size_t NearCopy::Select(Keys keys, std::span<uint64_t> out) {
  RequireSize(out.size(), keys.size());
  return WithAnswers(
      keys.size(), [&](std::span<uint64_t> words) { Ask(keys, words); },
      [&](const std::vector<uint64_t>& words) { WriteIndices(words, out); });
}

size_t NearCopy::Count(Keys keys) {
  return WithAnswers(
      keys.size(), [&](std::span<uint64_t> words) { Ask(keys, words); },
      [](const std::vector<uint64_t>&) {});
}

}  // namespace tamis::redis
