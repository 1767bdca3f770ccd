// Boost.Bloom chooses its vector instructions at compile time. So this file is compiled with
// -march=native, unlike all others, and the peer is as fast as possible.
#include <boost/bloom.hpp>
#include <boost/version.hpp>
#include <memory_resource>
#include <optional>
#include <stdexcept>
#include <utility>

#include "bench/suite/murmur3.h"
#include "bench/suite/peers.h"
#include "bench/workload.h"

namespace tamis::bench {
namespace {

// Declared avalanching, so that the filter does not mix its result again.
struct Murmur3 {
  using is_avalanching = void;

  size_t operator()(uint64_t key) const { return Murmur3Finalizer(key); }
};

using boost::bloom::block;
using boost::bloom::fast_multiblock32;
using boost::bloom::fast_multiblock64;

template <typename Hash, size_t kRounds, typename Subfilter>
class BoostBloom final : public Subject {
 public:
  using Subject::Subject;

  std::string library() const override {
    return "Boost " + std::to_string(BOOST_VERSION / 100000) + "." +
           std::to_string(BOOST_VERSION / 100 % 1000);
  }
  bool Can(Operation operation, KeyType form) const override {
    return form == KeyType::kU64 && CanPeer(operation);
  }
  bool reinserts() const override { return true; }

  void Open(std::pmr::memory_resource& memory, uint64_t bytes) override {
    filter_.emplace(8 * bytes, std::pmr::polymorphic_allocator<unsigned char>(&memory));
    capacity_ = 8 * bytes / kBitsPerKey;
  }
  void Close() override { filter_.reset(); }
  uint64_t capacity() const override { return capacity_; }
  uint64_t bytes() const override { return filter_->capacity() / 8; }
  std::optional<double> expected_fpr() const override { return std::nullopt; }
  std::span<const std::byte> contents() const override { return {}; }

  void Clear() override { filter_->clear(); }
  void Insert(const Keys& keys, Way way) override {
    const uint64_t* const values = keys.data<uint64_t>();
    if (way.one_key) {
      for (size_t i = 0; i < keys.size(); ++i) filter_->insert(values[i]);
    } else {
      filter_->insert(values, values + keys.size());
    }
  }
  void Erase(const Keys&, Way) override { throw std::logic_error(kind() + " does not erase"); }
  void Ask(Operation operation, const Keys& keys, Way, Answers& answers) override {
    bool* const out = reinterpret_cast<bool*>(answers.bytes.data());
    const uint64_t* const values = keys.data<uint64_t>();
    if (operation == Operation::kOneKey) {
      for (size_t i = 0; i < keys.size(); ++i) out[i] = filter_->may_contain(values[i]);
    } else {
      filter_->may_contain(values, values + keys.size(),
                           [o = out](const uint64_t&, bool present) mutable { *o++ = present; });
    }
  }
  bool AnswersInBits(Operation) const override { return false; }

 private:
  using Filter = boost::bloom::filter<uint64_t, kRounds, Subfilter, 0, Hash,
                                      std::pmr::polymorphic_allocator<unsigned char>>;

  std::optional<Filter> filter_;
  uint64_t capacity_ = 0;
};

}  // namespace

void AddBoost(Subjects& peers) {
  using Default = boost::hash<uint64_t>;
  // A filter of one bit per block is the classic filter, here with as many hashes as our `bloom`.
  constexpr size_t kHashes = 8;
  using Bit = block<unsigned char, 1>;
  const auto add = [&]<typename Filter>(std::in_place_type_t<Filter>, const char* kind) {
    peers.push_back(std::make_unique<Filter>(kind));
  };
  add(std::in_place_type<BoostBloom<Default, 1, fast_multiblock32<8>>>, "boost_multiblock");
  add(std::in_place_type<BoostBloom<Murmur3, 1, fast_multiblock32<8>>>, "boost_multiblock_murmur3");
  add(std::in_place_type<BoostBloom<Murmur3, 1, fast_multiblock64<8>>>,
      "boost_multiblock64_murmur3");
  add(std::in_place_type<BoostBloom<Default, kHashes, Bit>>, "boost_classic");
  add(std::in_place_type<BoostBloom<Murmur3, kHashes, Bit>>, "boost_classic_murmur3");
}

}  // namespace tamis::bench
