// The block filter of libfilter. Its blocks are ours, and its caller hashes the keys. It inserts
// and queries one key at a time, by inline functions that choose their vector instructions at
// compile time. So this file is compiled with -march=native.
extern "C" {
#include <filter/block.h>
}

#include <algorithm>
#include <stdexcept>

#include "bench/suite/murmur3.h"
#include "bench/suite/peers.h"
#include "bench/workload.h"

namespace tamis::bench {
namespace {

class LibfilterBlock final : public Subject {
 public:
  LibfilterBlock() : Subject("libfilter_block_murmur3") {}
  ~LibfilterBlock() override { Close(); }

  std::string library() const override { return "libfilter"; }
  bool Can(Operation operation, KeyType form) const override {
    return form == KeyType::kU64 && CanPeer(operation);
  }
  bool reinserts() const override { return true; }

  // The blocks are in the memory that all contenders share, instead of memory of the library.
  void Open(std::pmr::memory_resource& memory, uint64_t bytes) override {
    memory_ = &memory;
    filter_.num_buckets_ = bytes / kBlockBytes;
    filter_.block_.block = static_cast<uint32_t*>(memory.allocate(this->bytes(), kBlockBytes));
    Clear();
  }
  void Close() override {
    if (filter_.block_.block == nullptr) return;
    memory_->deallocate(filter_.block_.block, bytes(), kBlockBytes);
    filter_.block_.block = nullptr;
  }
  uint64_t capacity() const override { return 8 * bytes() / kBitsPerKey; }
  uint64_t bytes() const override { return filter_.num_buckets_ * kBlockBytes; }
  std::optional<double> expected_fpr() const override { return std::nullopt; }
  std::span<const std::byte> contents() const override { return {}; }

  void Clear() override { std::fill_n(filter_.block_.block, bytes() / sizeof(uint32_t), 0u); }
  void Insert(const Keys& keys, Way) override {
    const uint64_t* const values = keys.data<uint64_t>();
    for (size_t i = 0; i < keys.size(); ++i) {
      libfilter_block_add_hash(Murmur3Finalizer(values[i]), &filter_);
    }
  }
  void Erase(const Keys&, Way) override { throw std::logic_error(kind() + " does not erase"); }
  void Ask(Operation, const Keys& keys, Way, Answers& answers) override {
    const uint64_t* const values = keys.data<uint64_t>();
    for (size_t i = 0; i < keys.size(); ++i) {
      answers.bytes[i] = libfilter_block_find_hash(Murmur3Finalizer(values[i]), &filter_);
    }
  }
  bool AnswersInBits(Operation) const override { return false; }

 private:
  static constexpr uint64_t kBlockBytes = 32;

  std::pmr::memory_resource* memory_ = nullptr;
  libfilter_block filter_{};
};

}  // namespace

std::unique_ptr<Subject> LibfilterSubject() { return std::make_unique<LibfilterBlock>(); }

}  // namespace tamis::bench
