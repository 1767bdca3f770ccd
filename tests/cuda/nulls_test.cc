// Keys with a validity bitmap in device memory, and through a pipeline. Answers and changes must
// equal those of the host, whatever the size, the first bit and the share of nulls.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cuda/src/accelerator.h"
#include "tamis/backends.h"
#include "tamis/cuda/device_filter.h"
#include "tamis/cuda/host_pipeline.h"
#include "tamis/engine/build.h"
#include "tamis/error.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/fuse_filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/cuda/fake_runtime.h"
#include "tests/test_util.h"

namespace tamis::cuda::nulls_test {

constexpr size_t kSizes[] = {0, 1, 31, 32, 33, 64, 65, 130, 397};
constexpr uint64_t kFirstBits[] = {0, 1, 5, 8, 13, 31, 32, 33, 63, 64, 1003};
constexpr size_t kMaxKeys = 397;

enum class Nulls { kNone, kAll, kHalf, kRuns };
constexpr Nulls kNulls[] = {Nulls::kNone, Nulls::kAll, Nulls::kHalf, Nulls::kRuns};

// The bitmap of some keys, which ends where the memory ends. Bits that belong to no key are random.
class Validity {
 public:
  Validity(size_t n, uint64_t first_bit, Nulls nulls)
      : first_bit_(first_bit), bytes_((first_bit + n + 7) / 8) {
    Random random(n + first_bit);
    for (uint8_t& byte : bytes_.span()) byte = static_cast<uint8_t>(random.Below(256));
    for (size_t i = 0; i < n; ++i) {
      const bool valid = nulls == Nulls::kNone || (nulls == Nulls::kHalf && random.Below(2) == 0) ||
                         (nulls == Nulls::kRuns && i / 50 % 2 == 0);
      const uint64_t bit = first_bit + i;
      const auto mask = static_cast<uint8_t>(1 << (bit % 8));
      uint8_t& byte = bytes_.data()[bit / 8];
      byte = static_cast<uint8_t>(valid ? byte | mask : byte & ~mask);
    }
  }

  Keys Of(const Keys& keys) const { return keys.WithValidity(bytes_.data(), first_bit_); }

 private:
  uint64_t first_bit_;
  GuardedArray<uint8_t> bytes_;
};

// Calls check(n, validity) with all sizes and shares of nulls, each with one of the first bits.
void ForEachValidity(const std::function<void(size_t, const Validity&)>& check) {
  size_t at = 0;
  for (const size_t n : kSizes) {
    for (const Nulls nulls : kNulls) {
      const uint64_t first_bit = kFirstBits[at++ % std::size(kFirstBits)];
      SCOPED_TRACE(std::to_string(n) + " keys from bit " + std::to_string(first_bit) + ", nulls " +
                   std::to_string(static_cast<int>(nulls)));
      check(n, Validity(n, first_bit, nulls));
    }
  }
}

// The same keys in every layout that devices accept.
class AllLayouts {
 public:
  static constexpr size_t kForms = 6;

  explicit AllLayouts(uint64_t seed) : u64_(RandomKeys(kMaxKeys, seed)) {
    u32_.assign(u64_.begin(), u64_.end());
    i32_.assign(u64_.begin(), u64_.end());
    offsets_.push_back(0);
    large_offsets_.push_back(0);
    for (const std::string& s : RandomStrings(kMaxKeys, seed)) {
      text_ += s + std::to_string(offsets_.size());  // makes all strings different
      offsets_.push_back(static_cast<int32_t>(text_.size()));
      large_offsets_.push_back(static_cast<int64_t>(text_.size()));
    }
  }

  // Returns the first n keys in each layout.
  std::vector<Keys> Of(size_t n) const {
    std::vector<Keys> forms = {Keys(u64_),
                               Keys(u32_),
                               Keys(i32_),
                               Keys(Hashes{u64_}),
                               Keys(StringColumn{text_.data(), offsets_}),
                               Keys(LargeStringColumn{text_.data(), large_offsets_})};
    for (Keys& keys : forms) keys = keys.Slice(0, n);
    return forms;
  }

 private:
  std::vector<uint64_t> u64_;
  std::vector<uint32_t> u32_;
  std::vector<int32_t> i32_;
  std::string text_;
  std::vector<int32_t> offsets_;
  std::vector<int64_t> large_offsets_;
};

bool IsColumn(const Keys& keys) {
  return keys.layout() == KeyLayout::kColumn || keys.layout() == KeyLayout::kLargeColumn;
}

std::vector<uint64_t> NullsOf(const Keys& keys) {
  std::vector<uint64_t> nulls;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!keys.IsValid(i)) nulls.push_back(i);
  }
  return nulls;
}

class CudaNulls : public testing::Test {
 protected:
  ~CudaNulls() override { EXPECT_EQ(runtime_.num_live(), 0u) << "a leak"; }

  DeviceOptions Options() const { return {.runtime = &runtime_}; }
  // Lists of indices take the emulator a thousand times as long as bits.
  bool IsTurnOfLists() { return ++turn_ % 5 == 0; }
  void Wait() { ASSERT_TRUE(runtime_.Wait(Stream{nullptr}).ok()); }

  void CheckLookups(const Filter& host, const DeviceFilter& device, const Keys& keys);
  void CheckAsyncLookups(const DeviceFilter& device, const Keys& keys,
                         const std::vector<uint64_t>& want, uint64_t found);
  template <int kBits>
  void CheckLookupsOfCuckoo();
  template <int kBits>
  void CheckLookupsOfFuse();
  template <int kBits>
  void CheckChangesOfCuckoo();

  FakeRuntime runtime_;
  const AllLayouts known_{1};
  uint64_t turn_ = 0;
};

void CudaNulls::CheckLookups(const Filter& host, const DeviceFilter& device, const Keys& keys) {
  const size_t n = keys.size();
  std::vector<uint64_t> want(BitmapWords(n));
  const size_t found = host.Contains(keys, Bitmap(want));
  const auto bits = GuardedArray<uint64_t>::Output(BitmapWords(n), 0);
  ASSERT_EQ(device.Contains(keys, Bitmap(bits.span())), found);
  ASSERT_EQ(bits.vector(), want);
  std::vector<uint8_t> want_bytes(n);
  host.Contains(keys, std::span(want_bytes));
  const auto bytes = GuardedArray<uint8_t>::Output(n, 0);
  ASSERT_EQ(device.Contains(keys, bytes.span()), found);
  ASSERT_EQ(bytes.vector(), want_bytes);
  ASSERT_EQ(device.Count(keys), found);
  if (IsTurnOfLists()) {
    std::vector<uint64_t> want_rows(n), rows(n);
    std::vector<uint32_t> rows32(n);
    host.Select(keys, std::span(want_rows));
    ASSERT_EQ(device.Select(keys, std::span(rows)), found);
    ASSERT_EQ(device.Select(keys, std::span(rows32)), found);
    for (std::vector<uint64_t>* list : {&want_rows, &rows}) list->resize(found);
    rows32.resize(found);
    ASSERT_EQ(rows, want_rows);
    ASSERT_TRUE(std::ranges::equal(rows32, want_rows));
  }
  ASSERT_TRUE(bits.Intact() && bytes.Intact());
  CheckAsyncLookups(device, keys, want, found);
}

void CudaNulls::CheckAsyncLookups(const DeviceFilter& device, const Keys& keys,
                                  const std::vector<uint64_t>& want, uint64_t found) {
  const size_t n = keys.size();
  std::vector<uint64_t> hashes(n);
  Keys asked = keys;
  if (IsColumn(keys)) {
    ASSERT_TRUE(device.HashAsync(keys, hashes, nullptr).ok());
    asked = Keys(Hashes{hashes}).WithValidity(keys.validity(), keys.first_bit());
  }
  std::vector<uint64_t> words(BitmapWords(n)), more_words(BitmapWords(n)), rows(n);
  std::vector<uint8_t> bytes(n);
  std::vector<uint64_t> scratch(DeviceFilter::SelectScratchBytes(n) / 8);
  const std::span memory = std::as_writable_bytes(std::span(scratch));
  uint64_t counts[4] = {};
  ASSERT_TRUE(device.ContainsAsync(asked, Bitmap(words), nullptr, nullptr).ok());
  ASSERT_TRUE(device.ContainsAsync(asked, Bitmap(more_words), &counts[0], nullptr).ok());
  ASSERT_TRUE(device.ContainsAsync(asked, std::span(bytes), &counts[1], nullptr).ok());
  ASSERT_TRUE(device.CountAsync(asked, &counts[2], nullptr).ok());
  const bool lists = IsTurnOfLists();
  if (lists) {
    ASSERT_TRUE(device.SelectAsync(asked, std::span(rows), &counts[3], memory, nullptr).ok());
  }
  Wait();
  ASSERT_EQ(words, want);
  ASSERT_EQ(more_words, want);
  for (size_t i = 0; i < (lists ? 4u : 3u); ++i) ASSERT_EQ(counts[i], found);
  for (size_t i = 0; i < n; ++i) ASSERT_EQ(bytes[i] != 0, Bitmap(words).Test(i));
  for (size_t i = 0; lists && i < found; ++i) ASSERT_TRUE(Bitmap(words).Test(rows[i]));
}

// All keys are in the filter, also the values behind nulls, which must not be found even so. Each
// check uses the next layout of keys, because the emulator is slow.
TEST_F(CudaNulls, SplitBlockLookupsAnswerAsTheHost) {
  for (const HashKind kind : {HashKind::kXxh3, HashKind::kSipHash13}) {
    SplitBlockBloomFilter host({.capacity = 6 * kMaxKeys, .hash = HashOf(kind, 7)});
    for (const Keys& keys : known_.Of(kMaxKeys)) host.Insert(keys);
    const DeviceFilter device(host, Options());
    size_t form = 0;
    ForEachValidity([&](size_t n, const Validity& validity) {
      CheckLookups(host, device, validity.Of(known_.Of(n)[form++ % AllLayouts::kForms]));
    });
  }
}

template <int kBits>
void CudaNulls::CheckLookupsOfCuckoo() {
  CuckooFilter<kBits> host({.capacity = 6 * kMaxKeys});
  for (const Keys& keys : known_.Of(kMaxKeys)) host.Insert(keys);
  const DeviceFilter device(host, Options());
  size_t form = 0;
  ForEachValidity([&](size_t n, const Validity& validity) {
    CheckLookups(host, device, validity.Of(known_.Of(n)[form++ % AllLayouts::kForms]));
  });
}

TEST_F(CudaNulls, CuckooLookupsAnswerAsTheHost) {
  CheckLookupsOfCuckoo<8>();
  CheckLookupsOfCuckoo<12>();
  CheckLookupsOfCuckoo<16>();
}

template <int kBits>
void CudaNulls::CheckLookupsOfFuse() {
  const auto host = Build<FuseFilter<kBits>>(
      [&](const auto& visit) { std::ranges::for_each(known_.Of(kMaxKeys), visit); }, {});
  const DeviceFilter device(host, Options());
  size_t form = 0;
  ForEachValidity([&](size_t n, const Validity& validity) {
    CheckLookups(host, device, validity.Of(known_.Of(n)[form++ % AllLayouts::kForms]));
  });
}

TEST_F(CudaNulls, FuseLookupsAnswerAsTheHost) {
  CheckLookupsOfFuse<8>();
  CheckLookupsOfFuse<12>();
  CheckLookupsOfFuse<16>();
  CheckLookupsOfFuse<32>();
}

TEST_F(CudaNulls, SplitBlockInsertionsEqualTheHosts) {
  ForEachValidity([&](size_t n, const Validity& validity) {
    SplitBlockBloomFilter host({.capacity = 6 * kMaxKeys});
    DeviceFilter device(host, Options());
    SplitBlockBloomFilter copy = host.Clone();
    for (const Keys& all : known_.Of(n)) {
      const Keys keys = validity.Of(all);
      std::vector<uint64_t> want(n), failed(n);
      const size_t inserted = host.Insert(keys, want);
      const bool lists = IsTurnOfLists();
      ASSERT_EQ(lists ? device.Insert(keys, failed) : device.Insert(keys), inserted);
      if (lists) {
        want.resize(n - inserted);
        failed.resize(n - inserted);
        ASSERT_EQ(failed, want);
      }
      ASSERT_TRUE(device.count_is_known());
      ASSERT_EQ(device.inserted_count(), host.inserted_count());
      ASSERT_EQ(device.Header().key_types, host.key_types());
    }
    device.Download(copy);
    ASSERT_TRUE(SameBytes(copy.payload(), host.payload()));
  });
}

TEST_F(CudaNulls, AsyncInsertionsEqualTheHostsButAreNotCounted) {
  ForEachValidity([&](size_t n, const Validity& validity) {
    SplitBlockBloomFilter host({.capacity = 6 * kMaxKeys});
    DeviceFilter device(host, Options());
    for (const Keys& all : known_.Of(n)) {
      if (IsColumn(all)) continue;
      host.Insert(validity.Of(all));
      ASSERT_TRUE(device.InsertAsync(validity.Of(all), nullptr).ok());
    }
    Wait();
    ASSERT_EQ(device.count_is_known(), n == 0);
    ASSERT_EQ(device.inserted_count(), 0u) << "without what is not counted";
    SplitBlockBloomFilter copy = host.Clone();
    device.Download(copy);
    ASSERT_TRUE(SameBytes(copy.payload(), host.payload()));
    ASSERT_NEAR(static_cast<double>(copy.inserted_count()), copy.estimated_count(), 0.5);
  });
}

// The GPU and the host put keys into different slots, so the test compares only which keys are
// found.
template <int kBits>
void CudaNulls::CheckChangesOfCuckoo() {
  size_t form = kBits;
  const CuckooFilter<kBits> empty({.capacity = 2 * kMaxKeys});
  ForEachValidity([&](size_t n, const Validity& validity) {
    const Keys keys = validity.Of(known_.Of(n)[form++ % AllLayouts::kForms]);
    const std::vector<uint64_t> nulls = NullsOf(keys);
    CuckooFilter<kBits> host = empty.Clone();
    DeviceFilter device(host, Options());
    host.Insert(keys);
    std::vector<uint64_t> failed(n), missing(n);
    const bool lists = IsTurnOfLists();
    ASSERT_EQ(lists ? device.Insert(keys, failed) : device.Insert(keys), n - nulls.size());
    failed.resize(nulls.size());
    ASSERT_TRUE(!lists || failed == nulls);
    ASSERT_EQ(device.inserted_count(), host.inserted_count());
    ASSERT_EQ(device.Header().key_types, host.key_types());
    ASSERT_EQ(device.Count(keys), n - nulls.size());
    CuckooFilter<kBits> copy = host.Clone();
    device.Download(copy);  // also counts the keys
    ASSERT_EQ(copy.inserted_count(), host.inserted_count());
    ASSERT_EQ(lists ? device.Erase(keys, missing) : device.Erase(keys), n - nulls.size());
    missing.resize(nulls.size());
    ASSERT_TRUE(!lists || missing == nulls);
    device.Download(copy);
    ASSERT_EQ(copy.inserted_count(), 0u);
    ASSERT_TRUE(device.count_is_known());
    ASSERT_EQ(device.inserted_count(), 0u);
  });
}

TEST_F(CudaNulls, CuckooChangesEqualTheHosts) {
  CheckChangesOfCuckoo<8>();
  CheckChangesOfCuckoo<12>();
  CheckChangesOfCuckoo<16>();
}

TEST_F(CudaNulls, AsyncChangesOfCuckooFiltersFailForNulls) {
  const CuckooFilter<16> host({.capacity = 2 * kMaxKeys});
  std::vector<uint32_t> searches(DeviceFilter::kInsertScratchBytes / sizeof(uint32_t));
  const std::span scratch = std::as_writable_bytes(std::span(searches));
  bool searches_long = false;
  ForEachValidity([&](size_t n, const Validity& validity) {
    const Keys keys = validity.Of(known_.Of(n)[0]);
    std::vector<uint64_t> nulls(BitmapWords(n));
    for (const uint64_t i : NullsOf(keys)) nulls[i / 64] |= uint64_t{1} << (i % 64);
    searches_long = !searches_long;
    {
      DeviceFilter device(host, Options());
      uint64_t num_failed = 7, num_missing = 7;
      const auto failed = GuardedArray<uint64_t>::Output(BitmapWords(n), 0);
      const auto missing = GuardedArray<uint64_t>::Output(BitmapWords(n), 0);
      ASSERT_TRUE(device
                      .InsertAsync(keys, Bitmap(failed.span()), &num_failed,
                                   searches_long ? scratch : std::span<std::byte>(), nullptr)
                      .ok());
      Wait();
      ASSERT_EQ(num_failed, n - keys.CountValid());
      ASSERT_EQ(failed.vector(), nulls);
      ASSERT_TRUE(device.EraseAsync(keys, Bitmap(missing.span()), &num_missing, nullptr).ok());
      Wait();
      ASSERT_EQ(num_missing, n - keys.CountValid());
      ASSERT_EQ(missing.vector(), nulls);
      ASSERT_TRUE(failed.Intact() && missing.Intact());
    }
  });
}

// The longer searches are only for keys that failed, not for nulls.
TEST_F(CudaNulls, AFullCuckooFilterTakesNoNullAndListsFailedKeys) {
  const CuckooFilter<16> host({.capacity = 1000});
  const std::vector<uint64_t> values = RandomKeys(3000, 5);
  const Validity validity(values.size(), 13, Nulls::kHalf);
  const Keys keys = validity.Of(values);
  DeviceFilter device(host, Options());
  std::vector<uint64_t> failed(values.size());
  const size_t inserted = device.Insert(keys, failed);
  failed.resize(values.size() - inserted);
  const std::vector<uint64_t> nulls = NullsOf(keys);
  EXPECT_GT(failed.size(), nulls.size()) << "it was to be full";
  EXPECT_TRUE(std::ranges::includes(failed, nulls));
  CuckooFilter<16> copy = host.Clone();
  device.Download(copy);
  EXPECT_EQ(copy.inserted_count(), inserted);
  EXPECT_GE(inserted, 1000u);
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_TRUE(copy.Contains(values[i]) || std::ranges::binary_search(failed, i));
  }
}

TEST_F(CudaNulls, AGraphReadsTheBitmapEachTimeThatItRuns) {
  SplitBlockBloomFilter host({.capacity = kMaxKeys});
  const std::vector<uint64_t> values = RandomKeys(397, 5);
  std::vector<uint8_t> bytes(51, 0);
  const Keys keys = Keys(values).WithValidity(bytes.data(), 3);
  DeviceFilter device(host, Options());
  uint64_t count = 7;
  runtime_.SetCapturing(true);
  EXPECT_TRUE(device.InsertAsync(keys, nullptr).ok());
  EXPECT_TRUE(device.CountAsync(keys, &count, nullptr).ok());
  runtime_.SetCapturing(false);
  EXPECT_FALSE(device.count_is_known());
  for (const int pattern : {0, 0b0100'1101, 0b1111'1111}) {
    std::fill(bytes.begin(), bytes.end(), static_cast<uint8_t>(pattern));
    runtime_.Replay(nullptr);
    Wait();
    host.Insert(keys);
    EXPECT_EQ(count, keys.CountValid());
    EXPECT_EQ(std::memcmp(device.data(), host.payload().data(), host.bytes()), 0);
  }
}

// For nulls, string views have invalid pointers, as on the host.
TEST(PipelineNulls, InsertsTheSameAsTheHost) {
  const AllLayouts known(1);
  const std::vector<std::string> strings = RandomStrings(kMaxKeys, 6);
  uint64_t seed = 0;
  ForEachValidity([&](size_t n, const Validity& validity) {
    FakeRuntime runtime(1, ++seed);
    {
      std::vector<std::string_view> views(strings.begin(),
                                          strings.begin() + static_cast<int64_t>(n));
      for (const uint64_t i : NullsOf(validity.Of(views))) {
        views[i] = {reinterpret_cast<const char*>(16), size_t{1} << 40};
      }
      SplitBlockBloomFilter host({.capacity = 6 * kMaxKeys});
      DeviceFilter device(host, {.runtime = &runtime});
      HostPipeline pipeline({.runtime = &runtime}, {.chunk_keys = 64, .chunks = 3, .threads = 2});
      for (const Keys& all : {Keys(views), known.Of(n)[seed % AllLayouts::kForms]}) {
        const Keys keys = validity.Of(all);
        uint64_t done = 0;
        ASSERT_EQ(pipeline.Insert(device, keys, [&](uint64_t keys_done) { done = keys_done; }),
                  host.Insert(keys));
        ASSERT_EQ(done, n);
        ASSERT_EQ(device.inserted_count(), host.inserted_count());
        ASSERT_EQ(device.Header().key_types, host.key_types());
        ASSERT_TRUE(device.count_is_known());
        std::vector<uint64_t> want(BitmapWords(n)), bits(BitmapWords(n));
        ASSERT_EQ(pipeline.Contains(device, keys, Bitmap(bits)), host.Contains(keys, Bitmap(want)));
        ASSERT_EQ(bits, want);
      }
      ASSERT_EQ(std::memcmp(device.data(), host.payload().data(), host.bytes()), 0);
    }
    ASSERT_EQ(runtime.num_live(), 0u);
  });
}

// Keys and nulls in device memory, and keys in pinned memory, are not copied.
TEST(PipelineNulls, TakesKeysAndNullsFromTheDevice) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    FakeRuntime runtime(1, seed);
    runtime.RefusePageable();
    const std::vector<uint64_t> values = RandomKeys(700, 2);
    const std::vector<uint8_t> valid(90, 0b0110'1101);
    const Keys here = Keys(values).WithValidity(valid.data(), 5);
    void *keys_there = nullptr, *valid_there = nullptr, *pinned = nullptr;
    ASSERT_TRUE(runtime.Allocate(&keys_there, 8 * values.size(), nullptr).ok());
    ASSERT_TRUE(runtime.Allocate(&valid_there, valid.size(), nullptr).ok());
    ASSERT_TRUE(runtime.AllocatePinned(&pinned, 8 * values.size()).ok());
    std::memcpy(keys_there, values.data(), 8 * values.size());
    std::memcpy(pinned, values.data(), 8 * values.size());
    std::memcpy(valid_there, valid.data(), valid.size());
    const Keys there = Keys(std::span(static_cast<const uint64_t*>(keys_there), values.size()))
                           .WithValidity(static_cast<const uint8_t*>(valid_there), 5);
    const Keys in_pinned = Keys(std::span(static_cast<const uint64_t*>(pinned), values.size()))
                               .WithValidity(valid.data(), 5);
    {
      SplitBlockBloomFilter host({.capacity = 2000});
      DeviceFilter device(host, {.runtime = &runtime});
      HostPipeline pipeline({.runtime = &runtime}, {.chunk_keys = 64, .chunks = 3});
      uint64_t done = 0;
      const auto progress = [&](uint64_t keys_done) { done = keys_done; };
      const size_t inserted = host.Insert(here);
      ASSERT_EQ(pipeline.Insert(device, seed % 2 == 0 ? there : in_pinned, progress), inserted);
      ASSERT_EQ(done, values.size());
      ASSERT_EQ(device.inserted_count(), inserted);
      ASSERT_EQ(std::memcmp(device.data(), host.payload().data(), host.bytes()), 0);
      for (const Keys& keys : {there, in_pinned}) {
        std::vector<uint64_t> bits(BitmapWords(keys.size()));
        ASSERT_EQ(pipeline.Contains(device, keys, Bitmap(bits)), inserted);
        for (size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(Bitmap(bits).Test(i), here.IsValid(i));
      }
    }
    ASSERT_TRUE(runtime.Free(keys_there, nullptr).ok());
    ASSERT_TRUE(runtime.Free(valid_there, nullptr).ok());
    ASSERT_TRUE(runtime.FreePinned(pinned).ok());
    ASSERT_EQ(runtime.num_live(), 0u);
  }
}

// The kernel or the host that reads the keys must also be able to read the bitmap.
TEST(PlacesOfNulls, ABitmapThatCannotBeReadIsRefusedBeforeALaunch) {
  FakeRuntime runtime(2);
  runtime.RefusePageable();
  const std::vector<uint64_t> values = RandomKeys(300, 1);
  const std::vector<uint8_t> valid(40, 0b0110'1101);
  const auto allocate = [&](int device, const void* from, size_t bytes) {
    void* memory = nullptr;
    EXPECT_TRUE(runtime.SetDevice(device).ok());
    EXPECT_TRUE(runtime.Allocate(&memory, bytes, nullptr).ok());
    EXPECT_TRUE(runtime.SetDevice(0).ok());
    std::memcpy(memory, from, bytes);
    return memory;
  };
  void* const keys_there = allocate(0, values.data(), 8 * values.size());
  void* const valid_there = allocate(0, valid.data(), valid.size());
  void* const valid_elsewhere = allocate(1, valid.data(), valid.size());
  const Keys there = std::span(static_cast<const uint64_t*>(keys_there), values.size());
  const auto bitmap = [](const void* memory) { return static_cast<const uint8_t*>(memory); };
  {
    DeviceFilter device(SplitBlockBloomFilter({.capacity = 300}), {.runtime = &runtime});
    DeviceFilter cuckoo(CuckooFilter<16>({.capacity = 600}), {.runtime = &runtime});
    HostPipeline pipeline({.runtime = &runtime}, {.chunk_keys = 64, .chunks = 3});
    std::vector<uint64_t> bits(BitmapWords(values.size()));
    const auto refuses = [&](const std::string& says, const std::function<void()>& call) {
      const uint64_t launches = runtime.launches();
      try {
        call();
        ADD_FAILURE() << "no error: " << says;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
        EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
      }
      EXPECT_EQ(runtime.launches(), launches);
    };
    const auto all_refuse = [&](const std::string& says, const Keys& keys) {
      refuses(says, [&] { device.Insert(keys); });
      refuses(says, [&] { device.Count(keys); });
      refuses(says, [&] { cuckoo.Insert(keys); });
      refuses(says, [&] { cuckoo.Erase(keys); });
      refuses(says, [&] { cuckoo.Count(keys); });
      refuses(says, [&] { pipeline.Insert(device, keys); });
      refuses(says, [&] { pipeline.Contains(device, keys, Bitmap(bits)); });
    };
    all_refuse("the validity bitmap of keys in memory that device 0 cannot use",
               there.WithValidity(valid.data()));
    all_refuse("the validity bitmap of keys on device 1 for a filter on device 0",
               there.WithValidity(bitmap(valid_elsewhere)));
    const std::vector<std::string> strings = RandomStrings(values.size(), 1);
    for (const Keys& here : {Keys(values), Keys(strings)}) {
      const Keys mixed = here.WithValidity(bitmap(valid_there), 9);
      refuses("a validity bitmap in device memory", [&] { pipeline.Insert(device, mixed); });
      refuses("a validity bitmap in device memory",
              [&] { pipeline.Contains(device, mixed, Bitmap(bits)); });
    }
    EXPECT_TRUE(cuckoo.count_is_known());
    const Keys good = there.WithValidity(bitmap(valid_there), 9);
    const size_t num_valid = Keys(values).WithValidity(valid.data(), 9).CountValid();
    EXPECT_EQ(device.Insert(good), num_valid);
    EXPECT_EQ(cuckoo.Insert(good), num_valid);
    EXPECT_EQ(pipeline.Contains(device, good, Bitmap(bits)), num_valid);
  }
  EXPECT_TRUE(runtime.Free(keys_there, nullptr).ok());
  EXPECT_TRUE(runtime.Free(valid_there, nullptr).ok());
  EXPECT_TRUE(runtime.SetDevice(1).ok());
  EXPECT_TRUE(runtime.Free(valid_elsewhere, nullptr).ok());
}

// Called as by an Engine: the host can read neither the keys nor the bitmap.
TEST(PlacesOfNulls, AnAcceleratorHoldsKeysWhoseNullsAreOnItsDevice) {
  FakeRuntime runtime;
  const std::vector<uint64_t> values = RandomKeys(300, 1);
  SplitBlockBloomFilter host({.capacity = 300});
  host.Insert(values);
  void* memory = nullptr;
  ASSERT_TRUE(runtime.Allocate(&memory, 9 * values.size(), nullptr).ok());
  std::memcpy(memory, values.data(), 8 * values.size());
  const std::span there(static_cast<const uint64_t*>(memory), values.size());
  auto* const valid = static_cast<uint8_t*>(memory) + 8 * values.size();
  std::memset(valid, 0b0110'1101, values.size());
  {
    CudaAccelerator accelerator(FindBackend("portable"), {.runtime = &runtime});
    EXPECT_FALSE(accelerator.Holds(values));
    EXPECT_TRUE(accelerator.Holds(Keys(values).WithValidity(valid, 3)));
    const Keys keys = Keys(there).WithValidity(valid, 3);
    EXPECT_TRUE(accelerator.Holds(keys));
    size_t delivered = 0;
    accelerator.ForEachBits(host, keys, [&](const uint64_t* bits, size_t n, uint64_t begin) {
      for (size_t i = 0; i < n; ++i) {
        ASSERT_EQ((bits[i / 64] >> (i % 64) & 1) != 0, keys.IsValid(begin + i));
      }
      delivered += n;
    });
    EXPECT_EQ(delivered, values.size());
    EXPECT_THROW(accelerator.ForEachBits(host, Keys(values).WithValidity(valid, 3),
                                         [](const uint64_t*, size_t, uint64_t) {}),
                 Error);
  }
  ASSERT_TRUE(runtime.Free(memory, nullptr).ok());
}

}  // namespace tamis::cuda::nulls_test
