#include "tamis/live/concurrent_cuckoo.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "core/src/bulk/output.h"
#include "core/src/bulk/query.h"
#include "core/src/bulk/valid_keys.h"
#include "core/src/filters/base/filter_access.h"
#include "live/src/shared_cuckoo.h"
#include "tamis/filters/sizing.h"

namespace tamis {

using detail::Batch;
using detail::Outcomes;
using detail::SharedCuckoo;

namespace {

// Returns a table of the words of `filter`, which stay in place when the filter is moved.
template <int kBits>
std::unique_ptr<SharedCuckoo<kBits>> TableOf(CuckooFilter<kBits>& filter) {
  detail::FilterAccess::RequireWritable(filter);
  return std::make_unique<SharedCuckoo<kBits>>(
      reinterpret_cast<cuckoo::Word<kBits>*>(detail::FilterAccess::WritablePayload(filter).data()),
      filter.geometry(), filter.size(), filter.key_types());
}

}  // namespace

template <int kBits>
ConcurrentCuckooFilter<kBits>::ConcurrentCuckooFilter(const FilterOptions& options)
    : ConcurrentCuckooFilter(CuckooFilter<kBits>(options)) {}

// Makes the table before it moves the filter. If memory runs out, the caller still has the filter.
template <int kBits>
ConcurrentCuckooFilter<kBits>::ConcurrentCuckooFilter(CuckooFilter<kBits>&& filter)
    : ConcurrentCuckooFilter(filter, TableOf(filter)) {}

template <int kBits>
ConcurrentCuckooFilter<kBits>::ConcurrentCuckooFilter(CuckooFilter<kBits>& filter,
                                                      std::unique_ptr<SharedCuckoo<kBits>> table)
    : ConcurrentFilter(filter.hash()), filter_(std::move(filter)), table_(std::move(table)) {}

template <int kBits>
CuckooFilter<kBits> ConcurrentCuckooFilter<kBits>::Release() && {
  if (table_ != nullptr) {
    detail::FilterAccess::SetInserted(filter_, table_->size());
    filter_.set_key_types(table_->key_types());
    table_.reset();
  }
  return std::move(filter_);
}

template <int kBits>
ConcurrentCuckooFilter<kBits> ConcurrentCuckooFilter<kBits>::Load(const std::filesystem::path& path,
                                                                  const LoadOptions& options) {
  return ConcurrentCuckooFilter(CuckooFilter<kBits>::Load(path, options));
}

template <int kBits>
ConcurrentCuckooFilter<kBits>::ConcurrentCuckooFilter(ConcurrentCuckooFilter&& other) noexcept =
    default;
template <int kBits>
ConcurrentCuckooFilter<kBits>& ConcurrentCuckooFilter<kBits>::operator=(
    ConcurrentCuckooFilter&& other) noexcept = default;
template <int kBits>
ConcurrentCuckooFilter<kBits>::~ConcurrentCuckooFilter() = default;

template <int kBits>
uint64_t ConcurrentCuckooFilter<kBits>::inserted_count() const noexcept {
  return table_ != nullptr ? table_->size() : 0;
}

template <int kBits>
KeyTypes ConcurrentCuckooFilter<kBits>::key_types() const noexcept {
  return table_ != nullptr ? table_->key_types() : KeyTypes();
}

template <int kBits>
void ConcurrentCuckooFilter<kBits>::set_key_types(KeyTypes types) noexcept {
  if (table_ != nullptr) table_->set_key_types(types);
}

template <int kBits>
double ConcurrentCuckooFilter<kBits>::expected_fpr() const noexcept {
  return CuckooFpr(kBits, static_cast<double>(inserted_count()), filter_.geometry().buckets());
}

template <int kBits>
bool ConcurrentCuckooFilter<kBits>::ContainsHash(uint64_t hash) const noexcept {
  return table_ != nullptr && table_->Contains(cuckoo::Locate<kBits>(hash, filter_.geometry()));
}

template <int kBits>
auto ConcurrentCuckooFilter<kBits>::Probe() const noexcept {
  return [this](const Batch& batch, uint64_t* bits) {
    if (table_ == nullptr) {
      std::fill_n(bits, BitmapWords(batch.n), 0);
      return;
    }
    detail::ForEachSlice(batch, [&](const Batch& slice, size_t begin) {
      table_->Contains(filter_.backend().kernels->template cuckoo<kBits>(), slice,
                       bits + begin / 64);
    });
  };
}

template <int kBits>
void ConcurrentCuckooFilter<kBits>::Query(const Keys& keys, uint64_t* bits) const {
  detail::QueryBits(*filter_.backend().kernels, hash(), Probe(), keys, bits);
}

template <int kBits>
bool ConcurrentCuckooFilter<kBits>::ChangeOne(Change change, KeyType type, uint64_t hash) noexcept {
  return table_ != nullptr &&
         table_->Apply(change, type, cuckoo::Locate<kBits>(hash, filter_.geometry()));
}

template <int kBits>
size_t ConcurrentCuckooFilter<kBits>::Apply(Change change, const Keys& keys,
                                            const ChangeOutputs& outputs) {
  detail::FilterAccess::RequireWritable(filter_);
  const detail::Kernels& kernels = *filter_.backend().kernels;
  return detail::ForValidKeys(
      keys, hash(), outputs, [&](uint64_t n, const detail::BatchSource& source, Outcomes of_valid) {
        uint64_t done = 0;
        source(kernels, 0, n, [&](const Batch& batch, uint64_t first) {
          alignas(64) uint64_t places[detail::kBatchKeys];
          detail::ForEachSlice(batch, [&](const Batch& slice, size_t begin) {
            kernels.cuckoo<kBits>().locate(filter_.geometry(), slice, places);
            done += table_->Apply(change, keys.key_type(), std::span(places, slice.n),
                                  first + begin, of_valid);
          });
        });
        return done;
      });
}

template <int kBits>
uint64_t ConcurrentCuckooFilter<kBits>::repeated_looks() const noexcept {
  return table_ != nullptr ? table_->repeated() : 0;
}

template <int kBits>
uint64_t ConcurrentCuckooFilter<kBits>::locked_looks() const noexcept {
  return table_ != nullptr ? table_->locked() : 0;
}

template <int kBits>
CuckooFilter<kBits> ConcurrentCuckooFilter<kBits>::Snapshot(const MemoryOptions& memory) const {
  detail::FilterAccess::RequireWritable(filter_);  // a moved-from filter would look empty
  // Locks the whole table, so that the count equals the number of fingerprints in the copy.
  const auto locks = table_->Lock();
  CuckooFilter<kBits> copy = filter_.Clone(memory);
  detail::FilterAccess::SetInserted(copy, table_->size());
  copy.set_key_types(table_->key_types());
  return copy;
}

template <int kBits>
void ConcurrentCuckooFilter<kBits>::Clear() {
  filter_.Clear();
  if (table_ == nullptr) return;
  table_->set_size(0);
  table_->set_key_types({});
}

template class ConcurrentCuckooFilter<8>;
template class ConcurrentCuckooFilter<12>;
template class ConcurrentCuckooFilter<16>;

}  // namespace tamis
