#include "tamis/live/concurrent_filter.h"

#include <string>
#include <utility>

#include "core/src/filters/base/filter_access.h"
#include "tamis/file/filter_kind_name.h"
#include "tamis/filters/set_operations.h"
#include "tamis/live/concurrent_bloom.h"
#include "tamis/live/concurrent_cuckoo.h"

namespace tamis {
namespace {

// Returns make.operator()<C, F>(), where F is the filter class of `kind` and C its concurrent
// class.
template <typename Make>
std::unique_ptr<ConcurrentFilter> ForKind(FilterKind kind, const Make& make) {
  switch (kind) {
    case FilterKind::kSplitBlock:
      return make.template operator()<ConcurrentSplitBlockBloomFilter, SplitBlockBloomFilter>();
    case FilterKind::kBloom:
      return make.template operator()<ConcurrentBloomFilter, BloomFilter>();
    case FilterKind::kCuckoo8:
      return make.template operator()<ConcurrentCuckooFilter<8>, CuckooFilter<8>>();
    case FilterKind::kCuckoo12:
      return make.template operator()<ConcurrentCuckooFilter<12>, CuckooFilter<12>>();
    case FilterKind::kCuckoo16:
      return make.template operator()<ConcurrentCuckooFilter<16>, CuckooFilter<16>>();
    default:
      throw Error(ErrorCode::kUnsupported,
                  std::string("a concurrent filter cannot be of kind ") + FilterKindName(kind) +
                      "; allowed: split-block, bloom and the cuckoo kinds");
  }
}

void RequireMergeable(const Filter& into, const Filter& from) {
  detail::FilterAccess::RequireWritable(into);
  if (const MergeCheck check = CanMerge(into, from); !check) {
    throw Error(ErrorCode::kIncompatible, check.reason);
  }
}

}  // namespace

QueryTraits ConcurrentFilter::traits() const noexcept {
  return {.thread_safety = QueryTraits::ThreadSafety::kConcurrentChanges,
          .backend = &plain().backend()};
}

void ConcurrentFilter::Merge(const Filter& other) {
  RequireMergeable(plain(), other);
  MergeFrom(other, nullptr);
}

void ConcurrentFilter::Merge(const ConcurrentFilter& other) {
  RequireMergeable(plain(), other.plain());
  MergeFrom(other.plain(), &other);
}

void ConcurrentFilter::MergeFrom(const Filter&, const ConcurrentFilter*) {
  throw Error(ErrorCode::kIncompatible, std::string("concurrent filters of kind ") +
                                            FilterKindName(kind()) + " cannot be merged");
}

void ConcurrentFilter::Save(const std::filesystem::path& path, const SaveOptions& options) const {
  Snapshot()->Save(path, options);
}

bool EraseHash(ConcurrentFilter& from, uint64_t hash) {
  if (from.change_traits().erases) return from.EraseHash(hash);
  throw Error(ErrorCode::kUnsupported, std::string("keys cannot be erased from a concurrent ") +
                                           FilterKindName(from.kind()) + " filter");
}

std::unique_ptr<ConcurrentFilter> MakeConcurrent(AnyFilter filter) {
  return ForKind(filter->kind(), [&]<typename C, typename F>() {
    return std::make_unique<C>(std::move(*filter.As<F>()));
  });
}

void RequireConcurrentKind(FilterKind kind) {
  ForKind(kind, []<typename C, typename F>() { return std::unique_ptr<C>(); });
}

}  // namespace tamis
