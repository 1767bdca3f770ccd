#include "core/src/filters/base/filter_access.h"

#include <algorithm>

#include "core/src/bulk/query.h"
#include "core/src/bulk/valid_keys.h"
#include "core/src/filters/base/kind.h"

namespace tamis::detail {

std::span<std::byte> FilterAccess::WritablePayload(Filter& filter) {
  FilterBase& base = Base(filter);
  base.RequireWritable();
  base.Changed();
  return {base.storage_.data(), base.storage_.size()};
}

void FilterAccess::Query(const Filter& filter, const Kernels& kernels, const Keys& keys,
                         uint64_t* bits) noexcept {
  if (keys.size() == 1) {  // starting a pipelined kernel takes longer than one key
    bits[0] = 0;
    if (!keys.IsValid(0)) return;
    uint64_t value;
    const Batch batch = MakeBatch(kernels, keys, filter.hash(), 0, 1, &value);
    bits[0] = Base(filter).ProbeOne(batch.hasher(batch.values[0]));
    return;
  }
  const auto probe = [&](const Batch& batch, uint64_t* out) {
    Base(filter).Probe(kernels, batch, out);
  };
  QueryBits(kernels, filter.hash(), probe, keys, bits);
}

void FilterAccess::CountChange(FilterBase& filter, Change change, uint64_t keys) noexcept {
  if (change == Change::kErase) {
    filter.inserted_ -= std::min(filter.inserted_, keys);
  } else {
    filter.inserted_ += keys;
  }
  filter.Changed();
}

size_t FilterAccess::ChangeBatch(ChangeableFilter& filter, Change change, const Kernels& kernels,
                                 const Batch& batch, uint64_t first, Outcomes& outcomes) noexcept {
  const size_t done = filter.ChangeBatch(change, kernels, batch, first, outcomes);
  CountChange(filter, change, done);
  return done;
}

uint64_t FilterAccess::ChangeFrom(ChangeableFilter& filter, Change change, const Kernels& kernels,
                                  uint64_t n, const BatchSource& source, bool partitioned,
                                  Workers& workers, uint64_t slice_keys, Outcomes outcomes) {
  filter.RequireWritable();
  const auto change_batch = [&](const Batch& batch, uint64_t index, Outcomes& refused) {
    return filter.ChangeBatch(change, kernels, batch, index, refused);
  };
  const auto make_writer = [&](uint64_t keys, unsigned threads) {
    return partitioned ? filter.MakeWriter(change, kernels, keys, threads)
                       : filter.MakeUnionWriter(kernels, threads);
  };
  const bool unites = !partitioned && workers.threads() > 1 && change == Change::kInsert;
  const uint64_t done = ChangeByAll({kernels, change_batch, make_writer}, n, source,
                                    partitioned || unites, workers, slice_keys, outcomes);
  CountChange(filter, change, done);
  return done;
}

size_t FilterAccess::ChangeKeys(ChangeableFilter& filter, Change change, const Keys& keys,
                                const ChangeOutputs& outputs) {
  filter.RequireWritable();
  const Backend& backend = filter.backend();
  CallingThread alone;
  const uint64_t done = ForValidKeys(
      keys, filter.hash(), outputs, [&](uint64_t n, const BatchSource& source, Outcomes refused) {
        const bool partitioned = PartitioningPays(filter.kind(), backend.name, filter.bytes(), n);
        return ChangeFrom(filter, change, *backend.kernels, n, source, partitioned, alone, n,
                          refused);
      });
  if (change != Change::kErase && done > 0) AddKeyTypes(filter, keys.key_type());
  return done;
}

}  // namespace tamis::detail
