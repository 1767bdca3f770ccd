// Boost.Bloom, which chooses its vector instructions when it is compiled: this file alone is
// compiled with -march=native, so that the peer is at its best, and the program runs on the machine
// that built it. Boost is no part of this repository; without its headers the comparison has no
// peer.
#include <boost/bloom.hpp>
#include <memory_resource>
#include <optional>

#include "bench/contender.h"

namespace tamis::bench {
namespace {

// The 64-bit finalizer of MurmurHash3 (Appleby). Declared avalanching, so that the filter does not
// mix its result once more.
struct Murmur3Finalizer {
  using is_avalanching = void;

  size_t operator()(uint64_t key) const {
    key = (key ^ (key >> 33)) * 0xFF51AFD7ED558CCD;
    key = (key ^ (key >> 33)) * 0xC4CEB9FE1A85EC53;
    return key ^ (key >> 33);
  }
};

template <typename Hash>
class BoostContender : public Contender {
 public:
  BoostContender(const char* name, bool bulk) : Contender(name, 1, false), bulk_(bulk) {}

  void Open(Arena& arena, uint64_t bytes, uint64_t) override {
    filter_.emplace(8 * bytes, std::pmr::polymorphic_allocator<unsigned char>(&arena));
  }
  void Close() override { filter_.reset(); }
  uint64_t bytes() const override { return filter_->capacity() / 8; }

  void Build(std::span<const uint64_t> keys) override {
    filter_->clear();
    if (bulk_) {
      filter_->insert(keys.begin(), keys.end());
    } else {
      for (const uint64_t key : keys) filter_->insert(key);
    }
  }
  void Lookup(std::span<const uint64_t> queries, Answers& answers) override {
    bool* const out = reinterpret_cast<bool*>(answers.bytes.data());
    if (bulk_) {
      filter_->may_contain(queries.begin(), queries.end(),
                           [o = out](const uint64_t&, bool present) mutable { *o++ = present; });
    } else {
      for (size_t i = 0; i < queries.size(); ++i) out[i] = filter_->may_contain(queries[i]);
    }
  }

 private:
  using BoostFilter = boost::bloom::filter<uint64_t, 1, boost::bloom::fast_multiblock32<8>, 0, Hash,
                                           std::pmr::polymorphic_allocator<unsigned char>>;

  bool bulk_;
  std::optional<BoostFilter> filter_;
};

}  // namespace

Contenders PeerContenders() {
  using Default = BoostContender<boost::hash<uint64_t>>;
  using Murmur = BoostContender<Murmur3Finalizer>;
  Contenders contenders;
  contenders.push_back(std::make_unique<Default>(kBoostBulk, true));
  contenders.push_back(std::make_unique<Default>(kBoostOneKey, false));
  contenders.push_back(std::make_unique<Murmur>(kBoostMurmurBulk, true));
  contenders.push_back(std::make_unique<Murmur>(kBoostMurmurOneKey, false));
  return contenders;
}

}  // namespace tamis::bench
