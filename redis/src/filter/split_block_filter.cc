#include "tamis/redis/split_block_filter.h"

#include <algorithm>
#include <utility>

#include "redis/src/client/batch.h"
#include "redis/src/filter/cost.h"
#include "redis/src/filter/filter_impl.h"

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
  impl->admin.Create(options);
  return SplitBlockFilter(std::move(impl));
}

SplitBlockFilter SplitBlockFilter::Open(const ServerOptions& servers, std::string_view name,
                                        const ClientOptions& client) {
  auto impl = std::make_unique<Impl>(servers, name, client);
  if (!impl->admin.Find(client.secret)) {
    throw Error(ErrorCode::kInvalidArgument,
                "the filter \"" + std::string(name) + "\" does not exist");
  }
  return SplitBlockFilter(std::move(impl));
}

SplitBlockFilter SplitBlockFilter::Open(const ServerOptions& servers, std::string_view name,
                                        const FilterOptions& expected,
                                        const ClientOptions& client) {
  SplitBlockFilter filter = Open(servers, name, client);
  filter.impl().admin.RequireExpected(expected);
  return filter;
}

const std::string& SplitBlockFilter::name() const { return impl().state.name(); }
uint64_t SplitBlockFilter::num_blocks() const { return impl().state.layout().blocks; }
uint64_t SplitBlockFilter::capacity() const { return impl().state.descriptor().capacity; }
double SplitBlockFilter::fpr() const { return impl().state.descriptor().fpr; }
const HashSpec& SplitBlockFilter::hash() const { return impl().state.hash(); }

QueryTraits SplitBlockFilter::traits() const noexcept {
  return {.thread_safety = QueryTraits::ThreadSafety::kOneThread,
          .slice_keys = QueryTraits::kAllKeys,
          .waits = true};
}

void SplitBlockFilter::Query(const Keys& keys, uint64_t* bits) const {
  const std::span<uint64_t> maybe(bits, BitmapWords(keys.size()));
  std::fill(maybe.begin(), maybe.end(), 0);
  impl().reader.Query(keys, maybe);
}

size_t SplitBlockFilter::Apply(Change, const Keys& keys, const ChangeOutputs& outputs) {
  Impl& impl = this->impl();
  if (uint64_t* next = outputs.rejected_indices) {
    for (uint64_t i = 0; i < keys.size(); ++i) {
      if (!keys.IsValid(i)) *next++ = i;
    }
  }
  return impl.writer.Insert(keys);
}

RoutePlan SplitBlockFilter::PlanRoute(Operation operation, uint64_t keys) const {
  return redis::PlanRoute(impl().state.layout(), operation, std::min<uint64_t>(keys, kMaxBatch),
                          impl().options.route);
}

SplitBlockBloomFilter SplitBlockFilter::Pull(const MemoryOptions& memory) {
  return impl().transfer.Pull(memory);
}

void SplitBlockFilter::Push(const SplitBlockBloomFilter& filter) { impl().transfer.Push(filter); }

Info SplitBlockFilter::GetInfo() { return impl().admin.GetInfo(); }

void SplitBlockFilter::Drop() { impl().admin.Drop(); }

}  // namespace tamis::redis
