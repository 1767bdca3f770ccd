// Fuse filters on a device: emulated warps against the portable backend and the filter of the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/src/engine/calibration/calibration_device.h"
#include "core/src/engine/engine_access.h"
#include "cuda/src/accelerator.h"
#include "cuda/src/kernel_bodies.h"
#include "tamis/backends.h"
#include "tamis/cuda/device_filter.h"
#include "tamis/cuda/host_pipeline.h"
#include "tamis/error.h"
#include "tamis/filters/fuse_filter.h"
#include "tamis/hash_kinds.h"
#include "tests/core/scoped_env.h"
#include "tests/cuda/emulator.h"
#include "tests/cuda/fake_runtime.h"
#include "tests/test_util.h"

namespace tamis::cuda::fuse_test {

template <typename Filter>
class FuseOnDevice : public testing::Test {
 protected:
  ~FuseOnDevice() override { EXPECT_EQ(runtime_.num_live(), 0u) << "a leak"; }

  DeviceOptions Options() const { return {.runtime = &runtime_}; }

  FakeRuntime runtime_;
};

using Filters = testing::Types<FuseFilter<8>, FuseFilter<12>, FuseFilter<16>, FuseFilter<32>>;
TYPED_TEST_SUITE(FuseOnDevice, Filters);

// The shortest and longest segments, one shard and many, with random slots and multipliers.
constexpr fuse::Geometry kGeometries[] = {{0, 1, 2}, {0, 1, 16}, {0, 9, 5},  {1, 1, 2},
                                          {3, 5, 7}, {10, 2, 3}, {7, 30, 9}, {14, 1, 2}};

TYPED_TEST(FuseOnDevice, GivesThePortableAnswersForEveryGeometry) {
  constexpr int kBits = TypeParam::kFingerprintBits;
  const auto& portable = FindBackend("portable").kernels->fuse<kBits>();
  for (const fuse::Geometry& geometry : kGeometries) {
    std::vector<uint64_t> memory = RandomKeys(fuse::FilterBytes<kBits>(geometry) / 8, 1);
    const fuse::Table table = fuse::TableAt<kBits>(memory.data(), geometry);
    for (const HashKind kind : kHashKinds) {
      const FuseRef<kBits> ref{table, tamis::detail::KeyHasher(HashOf(kind, 7))};
      for (const size_t n : {0, 1, 31, 33, 64, 797}) {
        const std::vector<uint64_t> keys = RandomKeys(n, n);
        std::vector<uint64_t> want(BitmapWords(n));
        portable.contains(table, tamis::detail::KeyBatch(HashOf(kind, 7), keys.data(), n),
                          want.data());
        const auto bits = GuardedArray<uint64_t>::Output(BitmapWords(n), 0);
        const auto bytes = GuardedArray<uint8_t>::Output(n, 0);
        uint64_t count = 1000;
        const ContainsCall<FuseRef<kBits>> call = {ref,
                                                   {keys.data(), n, Width::kU64, ref.hasher},
                                                   reinterpret_cast<uint32_t*>(bits.data()),
                                                   bytes.data(),
                                                   &count};
        RunGrid(3, [&](const EmulatedLane& lane) { RunLane(lane, call); });
        ASSERT_EQ(bits.vector(), want) << n << " keys, " << geometry.slots() << " slots";
        ASSERT_TRUE(bits.Intact() && bytes.Intact());
        uint64_t found = 1000;
        for (size_t i = 0; i < n; ++i) {
          const bool in = Bitmap(want).Test(i);
          found += in;
          ASSERT_EQ(bytes.data()[i], in);
          ASSERT_EQ(ref.Contains(keys[i]), in);
          ASSERT_EQ(ref.ContainsHashIf(~0u, ref.hasher(keys[i])), in);
          ASSERT_FALSE(ref.ContainsHashIf(~1u, ref.hasher(keys[i])));
        }
        ASSERT_EQ(count, found);
      }
    }
  }
}

// From no key to four shards, through all kernels of lookups.
TYPED_TEST(FuseOnDevice, AnswersAsTheHost) {
  for (const size_t n : {0, 1, 2, 500, 5003, 1 << 18 | 1, 1 << 20}) {
    const std::vector<uint64_t> keys = RandomKeys(n, n);
    const TypeParam host = TypeParam::From(keys, {.hash = HashOf(kHashKinds[n % 4], 3)});
    const DeviceFilter device(host, this->Options());
    EXPECT_EQ(device.inserted_count(), n);
    std::vector<uint64_t> asked = RandomKeys(1500, 4);
    asked.insert(asked.end(), keys.end() - std::min<size_t>(n, 1501), keys.end());
    for (const Keys& forms : {Keys(asked), Keys(Hashes{asked})}) {
      std::vector<uint64_t> want(BitmapWords(asked.size())), bits(want.size());
      std::vector<uint8_t> bytes(asked.size());
      std::vector<uint64_t> want_rows(asked.size()), rows(asked.size());
      const size_t found = host.Contains(forms, Bitmap(want));
      EXPECT_EQ(device.Contains(forms, Bitmap(bits)), found);
      EXPECT_EQ(bits, want);
      EXPECT_EQ(device.Contains(forms, std::span(bytes)), found);
      for (size_t i = 0; i < asked.size(); ++i) ASSERT_EQ(bytes[i] != 0, Bitmap(want).Test(i));
      EXPECT_EQ(device.Count(forms), found);
      host.Select(forms, std::span(want_rows));
      EXPECT_EQ(device.Select(forms, std::span(rows)), found);
      EXPECT_TRUE(std::equal(rows.begin(), rows.begin() + found, want_rows.begin()));
    }
  }
}

TYPED_TEST(FuseOnDevice, HostKeysAreStreamedToIt) {
  const std::vector<std::string> strings = RandomStrings(1000, 4);
  const std::vector<std::string_view> keys(strings.begin(), strings.end());
  const TypeParam host = TypeParam::From(std::span(keys).first(500));
  DeviceFilter device(host.Header(), this->Options());
  EXPECT_EQ(device.inserted_count(), 0u) << "a header makes a filter without keys";
  HostPipeline pipeline(this->Options(), {.chunk_keys = 128, .chunks = 3, .threads = 1});
  std::vector<uint64_t> want(BitmapWords(keys.size())), bits(want.size());
  EXPECT_EQ(pipeline.Contains(device, keys, Bitmap(bits)), 0u);
  pipeline.Upload(device, host);
  const size_t found = host.Contains(keys, Bitmap(want));
  EXPECT_EQ(pipeline.Contains(device, keys, Bitmap(bits)), found);
  EXPECT_EQ(bits, want);
}

std::shared_ptr<tamis::detail::Accelerator> NotMade() { return nullptr; }

TYPED_TEST(FuseOnDevice, AnEngineQueriesItThere) {
  const ScopedEnv pin("TAMIS_BACKEND", nullptr);  // it would pin another backend
  const Backend backend{"fake GPU", "for tests", Backends().back().kernels, NotMade};
  EngineOptions options{.threads = 1, .device_filter_bytes = ~uint64_t{0}};
  options.calibration.points = {{"portable", 1024, 1e6, 1, 1, FilterKind::kCuckoo16},
                                {"fake GPU", 1024, 1, 1, 1, FilterKind::kCuckoo16}};
  const Engine engine = tamis::detail::EngineAccess::Make(
      std::move(options),
      std::make_shared<CudaAccelerator>(
          backend, this->Options(), PipelineOptions{.chunk_keys = 128, .chunks = 3, .threads = 1}));
  const std::vector<uint64_t> keys = RandomKeys(1001, 1);
  TypeParam filter = TypeParam::From(std::span(keys).first(500));
  for (uint64_t uploads = 1; uploads <= 2; ++uploads) {
    std::vector<uint64_t> want(BitmapWords(keys.size())), bits(want.size());
    const size_t found = filter.Contains(keys, Bitmap(want));
    EXPECT_EQ(engine.Contains(filter, keys, Bitmap(bits)), found);
    EXPECT_EQ(bits, want);
    EXPECT_EQ(engine.Count(filter, keys), found);
    EXPECT_EQ(engine.stats().device_calls, 2 * uploads);
    EXPECT_EQ(engine.stats().uploads, uploads) << "another set is another filter";
    filter = TypeParam::From(std::span(keys).last(500));
  }
}

TYPED_TEST(FuseOnDevice, OneThatWasMovedFromAnswersNo) {
  const std::vector<uint64_t> keys = RandomKeys(1001, 1);
  TypeParam filter = TypeParam::From(keys);
  TypeParam moved = std::move(filter);
  const auto expect_no_keys = [&](const Filter& host) {
    DeviceFilter device(host, this->Options());
    EXPECT_EQ(device.Count(keys), 0u);
    HostPipeline(this->Options(), {.chunk_keys = 128, .chunks = 3, .threads = 1})
        .Upload(device, host);
    EXPECT_EQ(device.Count(keys), 0u);
  };
  expect_no_keys(filter);
  filter = std::move(moved);
  EXPECT_EQ(DeviceFilter(filter, this->Options()).Count(keys), keys.size());
  expect_no_keys(moved);
}

TYPED_TEST(FuseOnDevice, NeverChanges) {
  const std::vector<uint64_t> keys = RandomKeys(1000, 1);
  TypeParam host = TypeParam::From(keys);
  DeviceFilter device(host, this->Options()), other(host, this->Options());
  HostPipeline pipeline(this->Options(), {.chunk_keys = 128, .chunks = 3, .threads = 1});
  const uint64_t launches = this->runtime_.launches();
  const auto code_of = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::kIo;
  };
  EXPECT_EQ(code_of([&] { device.Insert(keys); }), ErrorCode::kReadOnly);
  EXPECT_EQ(code_of([&] { device.Insert(std::span<const uint64_t>()); }), ErrorCode::kReadOnly);
  EXPECT_EQ(code_of([&] { device.Erase(keys); }), ErrorCode::kReadOnly);
  EXPECT_EQ(code_of([&] { pipeline.Insert(device, keys); }), ErrorCode::kReadOnly);
  EXPECT_EQ(code_of([&] { device.Download(host); }), ErrorCode::kReadOnly);
  EXPECT_EQ(code_of([&] { device.Merge(other); }), ErrorCode::kIncompatible);
  EXPECT_EQ(code_of([&] { device.Intersect(other); }), ErrorCode::kIncompatible);
  std::vector<uint64_t> failed(BitmapWords(keys.size()));
  uint64_t num_failed = 7;
  EXPECT_EQ(device.InsertAsync(keys, nullptr), kInvalidValue);
  EXPECT_EQ(device.InsertAsync(keys, Bitmap(failed), &num_failed, {}, nullptr), kInvalidValue);
  EXPECT_EQ(device.EraseAsync(keys, Bitmap(failed), &num_failed, nullptr), kInvalidValue);
  EXPECT_EQ(device.MergeAsync(other, nullptr), kInvalidValue);
  EXPECT_EQ(num_failed, 7u);
  EXPECT_EQ(this->runtime_.launches(), launches);
  EXPECT_EQ(this->runtime_.reserved_bytes(), 0u);
  EXPECT_TRUE(device.count_is_known());
  EXPECT_EQ(device.Count(keys), keys.size());
  EXPECT_TRUE(
      SameBytes({static_cast<const std::byte*>(device.data()), device.bytes()}, host.payload()));
  device.Clear();
  EXPECT_EQ(device.Count(keys), 0u);
  device.Upload(host);
  EXPECT_EQ(device.Count(keys), keys.size());
}

TYPED_TEST(FuseOnDevice, IsAViewOfMemoryOfAnotherAllocator) {
  const std::vector<uint64_t> keys = RandomKeys(1000, 1);
  const TypeParam host = TypeParam::From(keys);
  void* memory = nullptr;
  ASSERT_TRUE(this->runtime_.Allocate(&memory, host.bytes(), nullptr).ok());
  std::memcpy(memory, host.payload().data(), host.bytes());
  {
    const DeviceFilter view = DeviceFilter::View(
        host.Header(), {static_cast<std::byte*>(memory), host.bytes()}, this->Options());
    EXPECT_EQ(view.Count(keys), keys.size());
    constexpr int kBits = TypeParam::kFingerprintBits;
    EXPECT_TRUE(view.template ref<FuseRef<kBits>>().Contains(keys[0]));
  }
  ASSERT_TRUE(this->runtime_.Free(memory, nullptr).ok());
}

TYPED_TEST(FuseOnDevice, HeadersAreChecked) {
  const FileHeader good = TypeParam::From(RandomKeys(1000, 1)).Header();
  const auto& [shards, segments, length] = good.geometry;
  std::vector<FileHeader> bad;
  const auto add = [&](uint64_t s, uint64_t n, uint64_t l) {
    bad.push_back(good);
    bad.back().geometry = {s, n, l};
    // The length by the formula, if it does not overflow.
    if (s < 1 << 20 && n < 1 << 20 && l < 1 << 20) {
      const uint64_t slots = s * (n + 2) * l;
      bad.back().payload_bytes = (slots * TypeParam::kFingerprintBits / 8 + 7) / 8 * 8 + 8 * s;
    }
  };
  add(0, segments, length);
  add(3, segments, length);
  add(uint64_t{1} << 31, 1, 4);
  add(shards, 0, length);
  add(shards, uint64_t{1} << 30, 4);
  add(shards, ~uint64_t{0}, 4);
  add(uint64_t{1} << 30, 1, 1 << 16);
  add(shards, segments, 0);
  add(shards, segments, 2);
  add(shards, segments, 48);
  add(shards, segments, 1 << 17);
  bad.push_back(good);
  bad.back().payload_bytes -= 8;
  for (const FileHeader& header : bad) {
    try {
      DeviceFilter(header, this->Options());
      ADD_FAILURE() << header.geometry[0] << ' ' << header.geometry[1] << ' ' << header.geometry[2];
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_NE(std::string(error.what()).find("not the geometry"), std::string::npos);
    }
  }
}

// Engine would refuse sizes that do not ascend. No fuse filter of 2^53 bytes can be built.
TEST(FuseCalibrationTest, OfAnySizesIsValidAfterwards) {
  const ScopedEnv pin("TAMIS_BACKEND", nullptr);  // it would pin another backend
  const FakeRuntime runtime;
  const Backend backend{"fake GPU", "for tests", Backends().back().kernels, NotMade};
  const std::string host(Backends().front().name);
  Calibration calibration;
  calibration.points.clear();
  for (const FilterKind kind : {FilterKind::kSplitBlock, FilterKind::kFuse8}) {
    for (const uint64_t bytes : {20'000, 20'001}) {
      calibration.points.push_back({host, bytes, 10, 20, 30, kind});
    }
  }
  calibration.points.push_back({host, uint64_t{1} << 53, 10, 20, 30, FilterKind::kFuse8});
  tamis::detail::MeasureDevice(backend,
                               std::make_shared<CudaAccelerator>(
                                   backend, DeviceOptions{.runtime = &runtime},
                                   PipelineOptions{.chunk_keys = 128, .chunks = 3, .threads = 1}),
                               1000, calibration);
  EXPECT_NO_THROW(calibration.Validate());
  EXPECT_EQ(calibration.points.size(), 5u + 2);  // one of each kind
}

}  // namespace tamis::cuda::fuse_test
