#include "tamis/live/concurrent_bloom.h"

#include <type_traits>
#include <utility>

#include "core/src/bulk/valid_keys.h"
#include "core/src/filters/base/filter_access.h"
#include "live/src/shared_bits.h"
#include "live/src/shared_words.h"

namespace tamis {
namespace {

using detail::Batch;

template <typename F>
using SharedOf = std::conditional_t<std::is_same_v<F, SplitBlockBloomFilter>, detail::SharedBlocks,
                                    detail::SharedArray>;

template <typename F>
SharedOf<F> Shared(const F& filter) noexcept {
  using detail::FilterAccess;
  return {filter, FilterAccess::KernelsOf(filter), FilterAccess::StorageOf(filter)};
}

}  // namespace

template <typename F>
ConcurrentBloom<F>::ConcurrentBloom(const FilterOptions& options) : ConcurrentBloom(F(options)) {}

template <typename F>
ConcurrentBloom<F>::ConcurrentBloom(F&& filter)
    : ConcurrentFilter(filter.hash()),
      filter_((detail::FilterAccess::WritablePayload(filter), std::move(filter))),
      inserted_(filter_.inserted_count()),
      key_types_(filter_.key_types().bits()) {
  detail::FilterAccess::SetShared(filter_, true);
}

template <typename F>
F ConcurrentBloom<F>::Release() && {
  detail::FilterAccess::SetInserted(filter_, inserted_count());
  filter_.set_key_types(key_types());
  detail::FilterAccess::SetShared(filter_, false);
  inserted_.Set(0);
  key_types_ = 0;
  return std::move(filter_);
}

template <typename F>
ConcurrentBloom<F> ConcurrentBloom<F>::Load(const std::filesystem::path& path,
                                            const LoadOptions& options) {
  return ConcurrentBloom(F::Load(path, options));
}

template <typename F>
ConcurrentBloom<F>::ConcurrentBloom(ConcurrentBloom&& other) noexcept
    : ConcurrentFilter(std::move(other)),
      filter_(std::move(other.filter_)),
      inserted_(other.inserted_count()),
      key_types_(other.key_types_.exchange(0)) {
  other.inserted_.Set(0);
}

template <typename F>
ConcurrentBloom<F>& ConcurrentBloom<F>::operator=(ConcurrentBloom&& other) noexcept {
  if (this == &other) return *this;
  ConcurrentFilter::operator=(std::move(other));
  filter_ = std::move(other.filter_);
  inserted_.Set(other.inserted_count());
  key_types_ = other.key_types_.exchange(0);
  other.inserted_.Set(0);
  return *this;
}

template <typename F>
ConcurrentBloom<F>::~ConcurrentBloom() = default;

template <typename F>
bool ConcurrentBloom<F>::SetCounted(uint64_t hash) noexcept {
  if (detail::FilterAccess::StorageOf(filter_).read_only()) {  // moved from
    inserted_.Set(0);
    key_types_ = 0;
    return false;
  }
  detail::SetShared(Shared(filter_), hash);
  return true;
}

template <typename F>
bool ConcurrentBloom<F>::SetAbsent(KeyType type, uint64_t hash) noexcept {
  if (detail::FilterAccess::StorageOf(filter_).read_only()) return false;  // moved from
  const bool fresh = detail::InsertShared(Shared(filter_), hash);
  if (fresh) AddCounts(type, 1);
  return fresh;
}

template <typename F>
bool ConcurrentBloom<F>::ChangeOne(Change change, KeyType type, uint64_t hash) noexcept {
  return change == Change::kInsert ? InsertOne(type, hash) : InsertOneIfAbsent(type, hash);
}

template <typename F>
size_t ConcurrentBloom<F>::Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) {
  detail::FilterAccess::RequireWritable(filter_);
  const uint64_t inserted = change == Change::kInsert ? InsertAll(keys, outputs)
                                                      : detail::InsertAbsentShared(
                                                            Shared(filter_), keys, hash(), outputs);
  AddCounts(keys.key_type(), inserted);
  return inserted;
}

template <typename F>
uint64_t ConcurrentBloom<F>::InsertAll(const Keys& keys, const ChangeOutputs& outputs) {
  const SharedOf<F> shared = Shared(filter_);
  const auto insert = [&](const Batch& batch, uint64_t, detail::Outcomes&) {
    detail::ForEach64(shared.kernels, batch, [&](const uint64_t* hashes, size_t count, size_t) {
      detail::InsertShared(shared, hashes, count);
    });
    return batch.n;
  };
  const auto make_writer = [&](uint64_t n, unsigned) {
    return detail::MakeSharedWriter(shared, n);
  };
  detail::CallingThread alone;
  return detail::ForValidKeys(
      keys, hash(), outputs,
      [&](uint64_t n, const detail::BatchSource& source, detail::Outcomes of_valid) {
        return detail::ChangeByAll({shared.kernels, insert, make_writer}, n, source, true, alone, n,
                                   of_valid);
      });
}

// Reads the counts last, so that they include all keys whose bits were read.
template <typename F>
void ConcurrentBloom<F>::MergeFrom(const Filter& other, const ConcurrentFilter* shared) {
  detail::FilterAccess::RequireIntact(other);
  detail::OrWords(Shared(filter_).words, reinterpret_cast<const uint64_t*>(other.payload().data()),
                  bytes() / sizeof(uint64_t));
  if (shared == nullptr) return AddCounts(other.key_types(), other.inserted_count());
  AddCounts(shared->key_types(), shared->inserted_count());
}

template <typename F>
F ConcurrentBloom<F>::Snapshot(const MemoryOptions& memory) const {
  detail::FilterAccess::RequireWritable(filter_);  // a moved-from filter would look empty
  F copy = filter_.Clone(memory);
  // Reads the count after the copy was made, so it includes every key whose insertion had returned
  // when the copy began.
  detail::FilterAccess::SetInserted(copy, inserted_count());
  copy.set_key_types(key_types());
  return copy;
}

template <typename F>
void ConcurrentBloom<F>::Clear() {
  filter_.Clear();
  inserted_.Set(0);
  key_types_ = 0;
}

template class ConcurrentBloom<SplitBlockBloomFilter>;
template class ConcurrentBloom<BloomFilter>;

}  // namespace tamis
