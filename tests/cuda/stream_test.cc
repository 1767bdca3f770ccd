// Streams in the types of other libraries: by conversion, and by get().
#include "tamis/cuda/stream.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

#include "tamis/cuda/device_filter.h"
#include "tamis/cuda/host_pipeline.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/cuda/fake_runtime.h"
#include "tests/test_util.h"

namespace tamis::cuda::stream_test {

struct ConvertedStream {
  operator cudaStream_t() const { return stream; }
  cudaStream_t stream;
};
struct NamedStream {
  cudaStream_t get() const { return stream; }
  cudaStream_t stream;
};
// Like the owners of streams in other libraries.
struct OwnedStream {
  const cudaStream_t& get() const { return stream; }
  cudaStream_t stream;
};

TEST(CudaStreams, MayBeOfOtherTypes) {
  static_assert(!std::is_convertible_v<int, StreamRef>);
  static_assert(!std::is_convertible_v<std::string, StreamRef>);
  const auto stream = reinterpret_cast<cudaStream_t>(uintptr_t{64});
  EXPECT_EQ(StreamRef(ConvertedStream{stream}), stream);
  EXPECT_EQ(StreamRef(NamedStream{stream}), stream);
  EXPECT_EQ(StreamRef(OwnedStream{stream}), stream);
  EXPECT_EQ(StreamRef(stream), stream);
  EXPECT_EQ(StreamRef(), nullptr);

  const FakeRuntime runtime;
  Stream made = nullptr;
  ASSERT_TRUE(runtime.CreateStream(&made).ok());
  const std::vector<uint64_t> keys = RandomKeys(100, 1);
  const SplitBlockBloomFilter host({.capacity = 1000});
  const DeviceOptions options = {.runtime = &runtime};
  DeviceFilter device(host, options, NamedStream{made});
  EXPECT_EQ(device.Insert(keys, ConvertedStream{made}), keys.size());
  EXPECT_EQ(device.Count(keys, NamedStream{made}), keys.size());
  EXPECT_EQ(device.Count(keys, nullptr), keys.size());
  HostPipeline pipeline(options, {.chunk_keys = 64});
  EXPECT_EQ(pipeline.Insert(device, keys, {}, NamedStream{made}), keys.size());
  EXPECT_EQ(pipeline.Insert(device, keys, {}, made), keys.size());
  EXPECT_TRUE(runtime.DestroyStream(made).ok());
}

}  // namespace tamis::cuda::stream_test
