// Checks of a device before it is used: whether the library has code for it, and the memory that
// insertions take.
#include "cuda/src/device_check.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tamis/cuda/device_filter.h"
#include "tamis/error.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/cuda/fake_runtime.h"
#include "tests/test_util.h"

namespace tamis::cuda::device_check_test {

template <typename Call>
std::string MessageOf(ErrorCode code, const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

void ExpectContains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(CudaDeviceCheck, ADeviceWithoutCodeIsNotListedAndTakesNoFilter) {
  FakeRuntime runtime(2);
  std::string why;
  EXPECT_EQ(DescribeFirstDevice(runtime, &why), "emulated GPU, 8 GiB");
  EXPECT_EQ(why, "");
  runtime.RemoveImages();
  EXPECT_EQ(DescribeFirstDevice(runtime, &why), std::nullopt);
  ExpectContains(why,
                 "device 0 (emulated GPU, compute capability 7.0) cannot run the code that this "
                 "library was built with: ");
  ExpectContains(why, "(error 209)");

  const SplitBlockBloomFilter host({.capacity = 100});
  const auto make = [&] { DeviceFilter(host, {.device = 1, .runtime = &runtime}); };
  ExpectContains(MessageOf(ErrorCode::kDevice, make),
                 "CUDA: device 1 (emulated GPU, compute capability 7.0) cannot run the code");
  void* memory = nullptr;
  ASSERT_TRUE(runtime.Allocate(&memory, host.bytes(), nullptr).ok());
  const std::span<std::byte> there(static_cast<std::byte*>(memory), host.bytes());
  ExpectContains(
      MessageOf(ErrorCode::kDevice,
                [&] { DeviceFilter::View(host.Header(), there, {.runtime = &runtime}); }),
      "CUDA: device 0 (emulated GPU, compute capability 7.0) cannot run the code");
  ASSERT_TRUE(runtime.Free(memory, nullptr).ok());
  EXPECT_EQ(runtime.launches(), 0u);
  EXPECT_EQ(runtime.num_live(), 0u);
  EXPECT_TRUE(runtime.usable());
}

TEST(CudaDeviceCheck, AMissingOrSilentDeviceIsNotListed) {
  FakeRuntime runtime;
  std::string why;
  // The first calls are CurrentDevice, Properties and LocalBytes.
  for (const int call : {0, 1, 2}) {
    runtime.FailCall(call, {46});  // cudaErrorDevicesUnavailable
    EXPECT_EQ(DescribeFirstDevice(runtime, &why), std::nullopt);
    ExpectContains(why, "device 0 does not answer: ");
  }
  runtime.FailCall(-1, kSuccess);
  EXPECT_NE(DescribeFirstDevice(runtime, &why), std::nullopt);
  runtime.RemoveDevices("no driver");
  EXPECT_EQ(DescribeFirstDevice(runtime, &why), std::nullopt);
  EXPECT_EQ(why, "no driver");
}

// The driver may report any of these errors.
TEST(CudaDeviceCheck, AllErrorsOfMissingCodeAreRecognized) {
  const SplitBlockBloomFilter host({.capacity = 100});
  for (const int code : {98, 209, 218, 222, 223}) {
    FakeRuntime runtime;
    std::string why;
    runtime.FailCall(2, {code});
    EXPECT_EQ(DescribeFirstDevice(runtime, &why), std::nullopt);
    ExpectContains(why, "cannot run the code that this library was built with: ");
    ExpectContains(why, "(error " + std::to_string(code) + ")");
    // The calls before it are CurrentDevice twice and IsCapturing; this one is LocalBytes.
    runtime.FailCall(3, {code});
    ExpectContains(
        MessageOf(ErrorCode::kDevice, [&] { DeviceFilter(host, {.runtime = &runtime}); }),
        "cannot run the code");
  }
}

template <typename Filter>
class CudaReserve : public testing::Test {};
using Filters = testing::Types<CuckooFilter<8>, CuckooFilter<12>, CuckooFilter<16>>;
TYPED_TEST_SUITE(CudaReserve, Filters);

TYPED_TEST(CudaReserve, MemoryForInsertionsIsReservedWithTheFilter) {
  FakeRuntime runtime;
  const TypeParam host({.capacity = 1000, .fpr = 0.05});
  DeviceFilter device(host, {.runtime = &runtime});
  EXPECT_EQ(runtime.reserved_bytes(), FakeRuntime::kInsertLocalBytes);
  // Exactly the memory that the insertion itself allocates.
  const std::vector<uint64_t> keys = RandomKeys(100, 1);
  const uint64_t n = keys.size();
  runtime.SetMemory(runtime.live_bytes() + runtime.reserved_bytes() + sizeof(uint64_t) +
                    DeviceFilter::SelectScratchBytes(n) + DeviceFilter::kInsertScratchBytes);
  EXPECT_EQ(device.Insert(keys), n);
  EXPECT_EQ(runtime.reserved_bytes(), FakeRuntime::kInsertLocalBytes);
}

TYPED_TEST(CudaReserve, WithoutThatMemoryTheFilterIsNotMade) {
  FakeRuntime runtime;
  const TypeParam host({.capacity = 1000, .fpr = 0.05});
  runtime.SetMemory(host.bytes() + FakeRuntime::kInsertLocalBytes - 1);
  const std::string message =
      MessageOf(ErrorCode::kOutOfMemory, [&] { DeviceFilter(host, {.runtime = &runtime}); });
  EXPECT_EQ(runtime.num_live(), 0u);
  // The message is about the filter or about the local memory, whichever does not fit.
  ExpectContains(message, "bytes");
  runtime.SetMemory(FakeRuntime::kInsertLocalBytes - 1);
  FakeRuntime fresh;
  fresh.SetMemory(FakeRuntime::kInsertLocalBytes - 1);
  ExpectContains(
      MessageOf(ErrorCode::kOutOfMemory, [&] { DeviceFilter(host, {.runtime = &fresh}); }),
      "reserving " + std::to_string(FakeRuntime::kInsertLocalBytes) + " bytes of local memory");
  // A filter that is only queried needs none.
  const DeviceFilter asked(host, {.runtime = &fresh, .insertions = false});
  EXPECT_EQ(fresh.reserved_bytes(), 0u);
  EXPECT_EQ(asked.kind(), host.kind());
}

TEST(CudaReserveNone, FiltersThatTakeEveryKeyReserveNothing) {
  FakeRuntime runtime;
  const SplitBlockBloomFilter host({.capacity = 100});
  DeviceFilter device(host, {.runtime = &runtime});
  const std::vector<uint64_t> keys = RandomKeys(100, 1);
  device.Insert(keys);
  EXPECT_EQ(runtime.reserved_bytes(), 0u);
}

}  // namespace tamis::cuda::device_check_test
