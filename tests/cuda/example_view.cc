// A filter in GPU memory of another allocator: cudaMalloc here, but rmm or torch work the same way.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include "tamis/cuda/device_filter.h"
#include "tamis/tamis.h"

namespace {

constexpr int kSkipped = 69;  // the machine has no GPU

// Memory that the filter does not own. rmm::device_buffer(bytes, stream) and torch.empty(bytes,
// dtype=torch.uint8, device="cuda") also give such memory, by data() and data_ptr().
class Buffer {
 public:
  explicit Buffer(size_t bytes) : bytes_(bytes) {
    if (cudaMalloc(&data_, bytes) != cudaSuccess) data_ = nullptr;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { cudaFree(data_); }

  std::span<std::byte> bytes() const {
    return {static_cast<std::byte*>(data_), data_ == nullptr ? 0 : bytes_};
  }

 private:
  size_t bytes_;
  void* data_ = nullptr;
};

}  // namespace

int main() {
  try {
    tamis::SplitBlockBloomFilter host({.capacity = 1'000'000, .fpr = 0.001});
    const Buffer contents(host.bytes());
    tamis::cuda::DeviceFilter filter =
        tamis::cuda::DeviceFilter::View(host.Header(), contents.bytes());
    filter.Clear();  // the memory may have held anything

    // Keys in device memory are inserted and queried without a copy to the host.
    std::vector<uint64_t> values;
    for (uint64_t i = 0; i < 100'000; ++i) values.push_back(i * i);
    const Buffer memory(sizeof(uint64_t) * values.size());
    if (cudaMemcpy(memory.bytes().data(), values.data(), memory.bytes().size(),
                   cudaMemcpyHostToDevice) != cudaSuccess) {
      return 1;
    }
    const std::span keys(reinterpret_cast<const uint64_t*>(memory.bytes().data()), values.size());
    filter.Insert(keys);
    const size_t found = filter.Count(keys);

    filter.Download(host);
    std::printf("%zu of %zu found on the GPU, %zu by the host\n", found, values.size(),
                host.Count(values));
    return found == values.size() && host.Count(values) == found ? 0 : 1;
  } catch (const tamis::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.code() == tamis::ErrorCode::kDevice ? kSkipped : 1;
  }
}
