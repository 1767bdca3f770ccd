// The binary fuse filter of xor_singleheader with 8-bit fingerprints. It is smaller than a Bloom
// filter of the same rate. It is built once from all keys and cannot change after that. It has no
// bulk query.
#include <binaryfusefilter.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <stdexcept>

#include "bench/suite/peers.h"

namespace tamis::bench {
namespace {

constexpr uint64_t kMostKeys = uint64_t{1} << 24;  // all keys must be in memory at once

class BinaryFuse8 final : public Subject {
 public:
  BinaryFuse8() : Subject("binary_fuse8") {}
  ~BinaryFuse8() override { Close(); }

  std::string library() const override { return "xor_singleheader"; }
  bool Can(Operation operation, KeyType form) const override {
    return form == KeyType::kU64 && CanPeer(operation) && operation != Operation::kInsert &&
           operation != Operation::kBuildOneKey;
  }
  bool reinserts() const override { return false; }
  bool is_static() const override { return true; }
  bool Fits(const SizeClass& size) const override {
    return (size.num_keys != 0 ? size.num_keys : size.bytes / 2) <= kMostKeys;
  }

  void Open(std::pmr::memory_resource& memory, uint64_t bytes) override {
    memory_ = &memory;
    // The library computes the size from the number of keys, so this searches the number for the
    // size.
    for (uint64_t keys = std::min(bytes, kMostKeys); keys > 1; keys -= keys / 100 + 1) {
      if (!binary_fuse8_allocate(static_cast<uint32_t>(keys), &filter_)) throw std::bad_alloc();
      std::free(filter_.Fingerprints);
      filter_.Fingerprints = nullptr;
      if (filter_.ArrayLength <= bytes) break;
    }
    // Uses the memory that all contenders share, instead of memory of the library.
    filter_.Fingerprints = static_cast<uint8_t*>(memory.allocate(filter_.ArrayLength));
    Clear();
  }
  void Close() override {
    if (filter_.Fingerprints == nullptr) return;
    memory_->deallocate(filter_.Fingerprints, filter_.ArrayLength);
    filter_.Fingerprints = nullptr;
  }
  uint64_t capacity() const override { return filter_.Size; }
  uint64_t bytes() const override { return filter_.ArrayLength; }
  std::optional<double> expected_fpr() const override { return 1.0 / 256; }
  std::span<const std::byte> contents() const override { return {}; }

  void Clear() override { std::fill_n(filter_.Fingerprints, filter_.ArrayLength, uint8_t{0}); }
  void Build(const RepeatableSource& source, Way) override {
    Clear();
    source([this](const Keys& keys) {  // one call: kMostKeys is a slice of SuiteKeys
      // The library sorts the keys if it finds a duplicate. These keys are distinct.
      auto* const values = const_cast<uint64_t*>(keys.data<uint64_t>());
      if (!binary_fuse8_populate(values, static_cast<uint32_t>(keys.size()), &filter_)) {
        throw std::runtime_error("binary_fuse8_populate failed");
      }
    });
  }
  void Insert(const Keys&, Way) override { throw std::logic_error(kind() + " does not change"); }
  void Erase(const Keys&, Way) override { throw std::logic_error(kind() + " does not change"); }
  void Ask(Operation, const Keys& keys, Way, Answers& answers) override {
    const uint64_t* const values = keys.data<uint64_t>();
    for (size_t i = 0; i < keys.size(); ++i) {
      answers.bytes[i] = binary_fuse8_contain(values[i], &filter_);
    }
  }
  bool AnswersInBits(Operation) const override { return false; }

 private:
  std::pmr::memory_resource* memory_ = nullptr;
  binary_fuse8_t filter_ = {};
};

}  // namespace

std::unique_ptr<Subject> BinaryFuseSubject() { return std::make_unique<BinaryFuse8>(); }

}  // namespace tamis::bench
