#include "tamis/redis/split_block_filter.h"

#include <algorithm>
#include <utility>

#include "redis/src/answers.h"
#include "redis/src/filter_impl.h"

namespace tamis::redis {

const char* RebuildStateName(RebuildState state) noexcept {
  switch (state) {
    case RebuildState::kNone:
      return "none";
    case RebuildState::kRunning:
      return "running";
    case RebuildState::kAbandoned:
      return "abandoned";
    case RebuildState::kUnknown:
      break;
  }
  return "unknown";
}

SplitBlockFilter::SplitBlockFilter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SplitBlockFilter::SplitBlockFilter(SplitBlockFilter&&) noexcept = default;
SplitBlockFilter& SplitBlockFilter::operator=(SplitBlockFilter&&) noexcept = default;
SplitBlockFilter::~SplitBlockFilter() = default;

SplitBlockFilter::Impl& SplitBlockFilter::impl() const {
  if (impl_ == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, "a filter that was moved from cannot be used");
  }
  return *impl_;
}

SplitBlockFilter SplitBlockFilter::Create(const ServerOptions& servers, std::string_view name,
                                          const CreateOptions& options,
                                          const ClientOptions& client) {
  auto impl = std::make_unique<Impl>(servers, name, client);
  impl->Create(options);
  return SplitBlockFilter(std::move(impl));
}

SplitBlockFilter SplitBlockFilter::Open(const ServerOptions& servers, std::string_view name,
                                        const ClientOptions& client) {
  auto impl = std::make_unique<Impl>(servers, name, client);
  if (!impl->Find()) {
    throw Error(ErrorCode::kInvalidArgument, "there is no filter \"" + std::string(name) + "\"");
  }
  return SplitBlockFilter(std::move(impl));
}

SplitBlockFilter SplitBlockFilter::Open(const ServerOptions& servers, std::string_view name,
                                        const FilterOptions& expected,
                                        const ClientOptions& client) {
  SplitBlockFilter filter = Open(servers, name, client);
  filter.impl().RequireExpected(expected);
  return filter;
}

const std::string& SplitBlockFilter::name() const { return impl().name(); }
uint64_t SplitBlockFilter::num_blocks() const { return impl().descriptor().layout.blocks; }
uint64_t SplitBlockFilter::capacity() const { return impl().descriptor().capacity; }
double SplitBlockFilter::fpr() const { return impl().descriptor().fpr; }
const HashSpec& SplitBlockFilter::hash() const { return impl().hash(); }

size_t SplitBlockFilter::Contains(Keys keys, Bitmap out) {
  RequireSize(out.words().size(), BitmapWords(keys.size()));
  return WithAnswers(
      keys.size(), [&](std::span<uint64_t> words) { impl().Ask(keys, words); },
      [&](const std::vector<uint64_t>& words) {
        std::copy(words.begin(), words.end(), out.words().begin());
      });
}

size_t SplitBlockFilter::Contains(Keys keys, std::span<uint8_t> out) {
  RequireSize(out.size(), keys.size());
  return WithAnswers(
      keys.size(), [&](std::span<uint64_t> words) { impl().Ask(keys, words); },
      [&](const std::vector<uint64_t>& words) {
        for (size_t i = 0; i < keys.size(); ++i) out[i] = (words[i / 64] >> (i % 64)) & 1;
      });
}

size_t SplitBlockFilter::Select(Keys keys, std::span<uint32_t> out) {
  RequireSize(out.size(), keys.size());
  if (keys.size() > uint64_t{1} << 32) {
    throw Error(ErrorCode::kInvalidArgument, "indices of 32 bits are for 2^32 keys at most");
  }
  return WithAnswers(
      keys.size(), [&](std::span<uint64_t> words) { impl().Ask(keys, words); },
      [&](const std::vector<uint64_t>& words) { WriteIndices(words, out); });
}

size_t SplitBlockFilter::Select(Keys keys, std::span<uint64_t> out) {
  RequireSize(out.size(), keys.size());
  return WithAnswers(
      keys.size(), [&](std::span<uint64_t> words) { impl().Ask(keys, words); },
      [&](const std::vector<uint64_t>& words) { WriteIndices(words, out); });
}

size_t SplitBlockFilter::Count(Keys keys) {
  return WithAnswers(
      keys.size(), [&](std::span<uint64_t> words) { impl().Ask(keys, words); },
      [](const std::vector<uint64_t>&) {});
}

size_t SplitBlockFilter::Insert(Keys keys) { return impl().Insert(keys); }

RoutePlan SplitBlockFilter::PlanRoute(Operation operation, uint64_t keys) const {
  return impl().PlanRoute(operation, keys);
}

SplitBlockBloomFilter SplitBlockFilter::Pull(const MemoryOptions& memory) {
  return impl().Pull(memory);
}

void SplitBlockFilter::Push(const SplitBlockBloomFilter& filter) { impl().Push(filter); }

Info SplitBlockFilter::GetInfo() { return impl().GetInfo(); }

void SplitBlockFilter::Drop() { impl().Drop(); }

}  // namespace tamis::redis
