// The Bloom filter of cuCollections for 64-bit keys with its default policy: since 2026, blocks of
// 256 bits. A key sets eight bits of a block.
#include <algorithm>
#include <cuco/bloom_filter.cuh>
#include <cuda/stream_ref>

#include "bench/suite/gpu_peer.h"

namespace tamis::bench {
namespace {

class CucoPeer final : public GpuPeer {
 public:
  explicit CucoPeer(uint64_t bytes)
      : filter_(std::max<uint64_t>(bytes / kBlockBytes, 1), {}, {}, {}, OfDefault()) {}

  uint64_t bytes() const override { return kBlockBytes * filter_.block_extent(); }
  uint64_t num_keys() const override { return bytes() / 2; }  // 16 bits per key, as for split_block
  void Clear(cudaStream_t stream) override { filter_.clear_async(::cuda::stream_ref(stream)); }
  uint64_t Insert(const uint64_t* keys, uint64_t n, cudaStream_t stream) override {
    filter_.add_async(keys, keys + n, ::cuda::stream_ref(stream));
    return n;
  }
  void Contains(const uint64_t* keys, uint64_t n, uint8_t* out,
                cudaStream_t stream) const override {
    filter_.contains_async(keys, keys + n, reinterpret_cast<bool*>(out),
                           ::cuda::stream_ref(stream));
  }
  void Erase(const uint64_t*, uint64_t, cudaStream_t) override {}

 private:
  using Bloom = cuco::bloom_filter<uint64_t>;
  static constexpr uint64_t kBlockBytes = Bloom::words_per_block * sizeof(Bloom::word_type);

  static ::cuda::stream_ref OfDefault() { return ::cuda::stream_ref(cudaStream_t{nullptr}); }

  Bloom filter_;
};

}  // namespace

extern const GpuPeerKind kCucoPeer = {
    "cuco_bloom", TAMIS_CUCO_VERSION, false, uint64_t{1} << 30,
    [](uint64_t bytes) -> std::unique_ptr<GpuPeer> { return std::make_unique<CucoPeer>(bytes); }};

}  // namespace tamis::bench
