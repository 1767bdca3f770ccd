#include "tamis/filter.h"

#include <atomic>
#include <cassert>
#include <cstring>
#include <exception>
#include <limits>

#include "core/src/bulk/bulk.h"
#include "core/src/bulk/partitioned_insert.h"
#include "core/src/file/file_format.h"
#include "tamis/detail/kernels.h"
#include "tamis/error.h"

namespace tamis {
namespace {

constexpr size_t kUnlimited = std::numeric_limits<size_t>::max() / 64 * 64;

}  // namespace

Filter::Filter(uint64_t capacity, HashSpec hash, detail::Storage storage, const Backend* backend)
    : capacity_(capacity),
      hash_(hash),
      hasher_(hash),
      backend_(backend != nullptr ? backend : &DefaultBackend()),
      storage_(std::move(storage)) {}

uint64_t Filter::NewIdentity() noexcept {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

void Filter::RequireWritable() const {
  if (read_only()) {
    throw Error(ErrorCode::kReadOnly, "the filter is mapped from a file and cannot be changed");
  }
}

void Filter::Clear() {
  RequireWritable();
  std::memset(storage_.data(), 0, storage_.size());
  inserted_ = 0;
  Changed();
}

void Filter::Save(const std::filesystem::path& path) const {
  detail::SaveFile(path, Header(), payload());
}

size_t Filter::Contains(Keys keys, Bitmap out) const noexcept {
  assert(out.words().size() >= BitmapWords(keys.size()));
  return ContainsWith(*backend_->kernels, keys, out.words().data());
}

size_t Filter::Contains(Keys keys, std::span<uint8_t> out) const noexcept {
  assert(out.size() >= keys.size());
  return ContainsWith(*backend_->kernels, keys, out.data());
}

size_t Filter::Select(Keys keys, std::span<uint32_t> out) const noexcept {
  assert(out.size() >= keys.size());
  return SelectWith(*backend_->kernels, keys, 0, out.data());
}

size_t Filter::Select(Keys keys, std::span<uint64_t> out) const noexcept {
  assert(out.size() >= keys.size());
  return SelectWith(*backend_->kernels, keys, 0, out.data());
}

size_t Filter::Count(Keys keys) const noexcept { return CountWith(*backend_->kernels, keys); }

size_t Filter::Insert(Keys keys) noexcept { return ChangeAll(Change::kInsert, keys, Rejects()); }

size_t Filter::Insert(Keys keys, std::span<uint64_t> rejected) noexcept {
  assert(rejected.size() >= keys.size());
  return ChangeAll(Change::kInsert, keys, Rejects(rejected));
}

std::unique_ptr<BulkWriter> Filter::MakeWriter(Change, const Kernels& kernels, uint64_t n,
                                               unsigned lanes) {
  return std::make_unique<PartitionedInserter>(*this, kernels, n, lanes);
}

bool Filter::WriterPays(uint64_t n) const noexcept { return PartitionedInserter::Pays(*this, n); }

size_t Filter::ContainsWith(const Kernels& kernels, const Keys& keys,
                            uint64_t* bits) const noexcept {
  ForEachBatch(keys, hash_, kUnlimited,
               [&](const Batch& batch, size_t begin) { Probe(kernels, batch, bits + begin / 64); });
  return kernels.popcount(bits, BitmapWords(keys.size()));
}

template <typename Visit>
void Filter::ForEachBits(const Kernels& kernels, const Keys& keys,
                         const Visit& visit) const noexcept {
  uint64_t bits[kBatchKeys / 64];
  ForEachBatch(keys, hash_, kBatchKeys, [&](const Batch& batch, size_t begin) {
    Probe(kernels, batch, bits);
    visit(bits, batch.n, begin);
  });
}

size_t Filter::ContainsWith(const Kernels& kernels, const Keys& keys,
                            uint8_t* bytes) const noexcept {
  size_t found = 0;
  ForEachBits(kernels, keys, [&](const uint64_t* bits, size_t n, size_t begin) {
    kernels.bits_to_bytes(bits, n, bytes + begin);
    found += kernels.popcount(bits, BitmapWords(n));
  });
  return found;
}

size_t Filter::SelectWith(const Kernels& kernels, const Keys& keys, uint64_t first,
                          uint32_t* out) const noexcept {
  size_t found = 0;
  ForEachBits(kernels, keys, [&](const uint64_t* bits, size_t n, size_t begin) {
    found += kernels.bits_to_indices32(bits, n, first + begin, out + found);
  });
  return found;
}

size_t Filter::SelectWith(const Kernels& kernels, const Keys& keys, uint64_t first,
                          uint64_t* out) const noexcept {
  size_t found = 0;
  ForEachBits(kernels, keys, [&](const uint64_t* bits, size_t n, size_t begin) {
    found += kernels.bits_to_indices64(bits, n, first + begin, out + found);
  });
  return found;
}

size_t Filter::CountWith(const Kernels& kernels, const Keys& keys) const noexcept {
  size_t found = 0;
  ForEachBits(kernels, keys, [&](const uint64_t* bits, size_t n, size_t) {
    found += kernels.popcount(bits, BitmapWords(n));
  });
  return found;
}

size_t Filter::ChangeAll(Change change, const Keys& keys, Rejects rejects) noexcept {
  return ChangeWith(change, *backend_->kernels, keys, WriterPays(keys.size()), rejects);
}

size_t Filter::ChangeWith(Change change, const Kernels& kernels, const Keys& keys, bool partitioned,
                          Rejects rejects) noexcept {
  if (read_only()) {
    for (size_t i = 0; i < keys.size(); ++i) rejects.Add(i);
    return 0;
  }
  std::unique_ptr<BulkWriter> writer;
  if (partitioned) {
    try {
      writer = MakeWriter(change, kernels, keys.size(), 1);
    } catch (const std::exception&) {
      // No memory for the buffers, and nothing changed yet: the direct way needs none.
    }
  }
  size_t done = 0;
  if (writer) {
    done = keys.size();
    for (uint64_t begin = 0, n = 0; begin < keys.size(); begin += n) {
      n = std::min<uint64_t>(writer->round_keys(), keys.size() - begin);
      ForEachBatch(keys.Slice(begin, n), hash_, kBatchKeys, [&](const Batch& batch, size_t offset) {
        writer->Add(0, batch, begin + offset);
      });
      for (size_t task = 0; task < writer->num_tasks(); ++task) writer->Run(task);
      done -= writer->EndRound(rejects);
    }
  } else {
    ForEachBatch(keys, hash_, kUnlimited, [&](const Batch& batch, size_t begin) {
      done += ChangeBatch(change, kernels, batch, begin, rejects);
    });
  }
  CountChange(change, done);
  return done;
}

void Filter::CountChange(Change change, uint64_t keys) noexcept {
  inserted_ += change == Change::kInsert ? keys : 0 - keys;
  Changed();
}

}  // namespace tamis
