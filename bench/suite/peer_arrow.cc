// The Bloom filter of Parquet in Apache Arrow: the same blocks as ours, with XXH64. It hashes in
// batches and queries one hash at a time. Its sizes are powers of two up to 128 MiB.
#include <arrow/memory_pool.h>
#include <arrow/status.h>
#include <arrow/util/config.h>
#include <parquet/bloom_filter.h>

#include <algorithm>
#include <bit>
#include <new>
#include <optional>
#include <stdexcept>

#include "bench/suite/peers.h"
#include "bench/workload.h"

namespace tamis::bench {
namespace {

constexpr size_t kBatch = 1024;

// Allocates from `memory`, so that the peer takes turns in the same memory.
class Pool final : public arrow::MemoryPool {
 public:
  explicit Pool(std::pmr::memory_resource& memory) : memory_(memory) {}

  using arrow::MemoryPool::Allocate;
  using arrow::MemoryPool::Free;
  using arrow::MemoryPool::Reallocate;

  arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t** out) override try {
    *out = static_cast<uint8_t*>(
        memory_.allocate(static_cast<size_t>(size), static_cast<size_t>(alignment)));
    allocated_ += size;
    return arrow::Status::OK();
  } catch (const std::bad_alloc&) {
    return arrow::Status::OutOfMemory("no room for ", size, " bytes");
  }
  arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment,
                           uint8_t** ptr) override {
    uint8_t* to = nullptr;
    ARROW_RETURN_NOT_OK(Allocate(new_size, alignment, &to));
    std::copy_n(*ptr, std::min(old_size, new_size), to);
    Free(*ptr, old_size, alignment);
    *ptr = to;
    return arrow::Status::OK();
  }
  void Free(uint8_t* buffer, int64_t size, int64_t alignment) override {
    memory_.deallocate(buffer, static_cast<size_t>(size), static_cast<size_t>(alignment));
    allocated_ -= size;
  }
  int64_t bytes_allocated() const override { return allocated_; }
  int64_t total_bytes_allocated() const override { return allocated_; }
  int64_t num_allocations() const override { return 1; }
  std::string backend_name() const override { return "tamis-bench"; }

 private:
  std::pmr::memory_resource& memory_;
  int64_t allocated_ = 0;
};

class ArrowSplitBlock final : public Subject {
 public:
  ArrowSplitBlock() : Subject("arrow_split_block") {}

  std::string library() const override { return "Arrow " ARROW_VERSION_STRING; }
  bool Can(Operation operation, KeyType form) const override {
    return form == KeyType::kU64 && CanPeer(operation);
  }
  bool reinserts() const override { return true; }
  bool Fits(const SizeClass& size) const override {
    return size.bytes / 2 <= Filter::kMaximumBloomFilterBytes;
  }

  void Open(std::pmr::memory_resource& memory, uint64_t bytes) override {
    pool_.emplace(memory);
    bytes_ = std::bit_floor(std::min<uint64_t>(bytes, Filter::kMaximumBloomFilterBytes));
    Clear();
  }
  void Close() override {
    filter_.reset();
    pool_.reset();
  }
  uint64_t capacity() const override { return 8 * bytes_ / kBitsPerKey; }
  uint64_t bytes() const override { return filter_->GetBitsetSize(); }
  std::optional<double> expected_fpr() const override { return std::nullopt; }
  std::span<const std::byte> contents() const override { return {}; }

  // Arrow has no function to clear a filter. So this copies zero bits over its bits.
  void Clear() override {
    filter_.reset();
    filter_.emplace(&*pool_);
    filter_->Init(static_cast<uint32_t>(bytes_));
  }
  void Insert(const Keys& keys, Way way) override {
    if (way.one_key) {
      const auto* const values = reinterpret_cast<const int64_t*>(keys.data<uint64_t>());
      for (size_t i = 0; i < keys.size(); ++i) filter_->InsertHash(filter_->Hash(values[i]));
      return;
    }
    uint64_t hashes[kBatch];
    ForEachBatch(keys, hashes, [&](size_t, int n) { filter_->InsertHashes(hashes, n); });
  }
  void Erase(const Keys&, Way) override { throw std::logic_error(kind() + " does not erase"); }
  void Ask(Operation operation, const Keys& keys, Way, Answers& answers) override {
    uint8_t* const out = answers.bytes.data();
    if (operation == Operation::kOneKey) {
      const uint64_t* const values = keys.data<uint64_t>();
      for (size_t i = 0; i < keys.size(); ++i) {
        out[i] = filter_->FindHash(filter_->Hash(static_cast<int64_t>(values[i])));
      }
      return;
    }
    uint64_t hashes[kBatch];
    ForEachBatch(keys, hashes, [&](size_t begin, int n) {
      for (int i = 0; i < n; ++i) {
        out[begin + static_cast<size_t>(i)] = filter_->FindHash(hashes[i]);
      }
    });
  }
  bool AnswersInBits(Operation) const override { return false; }

 private:
  using Filter = parquet::BlockSplitBloomFilter;

  template <typename Visit>
  void ForEachBatch(const Keys& keys, uint64_t* hashes, const Visit& visit) const {
    const auto* const values = reinterpret_cast<const int64_t*>(keys.data<uint64_t>());
    for (size_t begin = 0; begin < keys.size(); begin += kBatch) {
      const auto n = static_cast<int>(std::min(kBatch, keys.size() - begin));
      filter_->Hashes(values + begin, n, hashes);
      visit(begin, n);
    }
  }

  std::optional<Pool> pool_;
  std::optional<Filter> filter_;
  uint64_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<Subject> ArrowSubject() { return std::make_unique<ArrowSplitBlock>(); }

}  // namespace tamis::bench
