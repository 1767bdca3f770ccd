// Cuckoo filters on a device: emulated warps and real threads compared with the filter on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "cuda/src/kernel_bodies.h"
#include "tamis/cuda/device_filter.h"
#include "tamis/cuda/host_pipeline.h"
#include "tamis/error.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tamis/hash_kinds.h"
#include "tests/cuda/emulator.h"
#include "tests/cuda/fake_runtime.h"
#include "tests/os/test_os.h"
#include "tests/test_util.h"

namespace tamis::cuda::cuckoo_test {

template <typename Filter>
class CuckooOnDevice : public testing::Test {
 protected:
  ~CuckooOnDevice() override { EXPECT_EQ(runtime_.num_live(), 0u) << "a leak"; }

  static bool IsEmpty(const tamis::Filter& filter) {
    return std::all_of(filter.payload().begin(), filter.payload().end(),
                       [](std::byte byte) { return byte == std::byte{0}; });
  }

  FakeRuntime runtime_;
};

using Filters = testing::Types<CuckooFilter<8>, CuckooFilter<12>, CuckooFilter<16>>;
TYPED_TEST_SUITE(CuckooOnDevice, Filters);

// Prime numbers of keys, and numbers that need one bucket pair to several chunks.
constexpr size_t kSizes[] = {1, 31, 32, 33, 397, 5003};

TYPED_TEST(CuckooOnDevice, FindsAndErasesKeysThatTheHostInserted) {
  for (const HashKind kind : kHashKinds) {
    for (const size_t n : kSizes) {
      const std::vector<uint64_t> keys = RandomKeys(2 * n, n);
      TypeParam host({.capacity = n, .fpr = 0.05, .hash = HashOf(kind, 5)});
      ASSERT_EQ(host.Insert(std::span(keys).first(n)), n);
      DeviceFilter device(host, {.runtime = &this->runtime_});
      std::vector<uint64_t> want(BitmapWords(2 * n)), bits(BitmapWords(2 * n));
      const size_t found = host.Contains(keys, Bitmap(want));
      EXPECT_EQ(device.Contains(keys, Bitmap(bits)), found);
      EXPECT_EQ(bits, want);
      EXPECT_EQ(device.Count(keys), found);

      EXPECT_EQ(device.Erase(std::span(keys).first(n)), n);
      EXPECT_EQ(device.inserted_count(), 0u);
      device.Download(host);
      EXPECT_TRUE(this->IsEmpty(host));
      EXPECT_EQ(host.inserted_count(), 0u);
    }
  }
}

// Inserts more keys than fit. Every key that is not reported as failed is found. Erasing exactly
// these keys empties the filter, so no key was lost or inserted twice.
TYPED_TEST(CuckooOnDevice, FillsUpAndLosesNothing) {
  for (const size_t capacity : {10, 1000, 70'000}) {
    TypeParam host({.capacity = capacity, .fpr = 0.05});
    const size_t n = host.num_slots() + host.num_slots() / 20;
    const std::vector<uint64_t> keys = RandomKeys(n, capacity);
    DeviceFilter device(host, {.runtime = &this->runtime_});
    std::vector<uint64_t> failed(n);
    const size_t inserted = device.Insert(keys, failed);
    EXPECT_EQ(device.inserted_count(), inserted);
    EXPECT_LE(inserted, host.num_slots());
    if (capacity >= 1000) {
      EXPECT_GT(inserted, host.num_slots() * 96 / 100);
    }

    std::vector<uint64_t> in;
    failed.resize(n - inserted);
    for (size_t i = 0, next = 0; i < n; ++i) {
      if (next < failed.size() && failed[next] == i) {
        ++next;
      } else {
        in.push_back(keys[i]);
      }
    }
    ASSERT_EQ(in.size(), inserted) << "the indices are in order, each once";
    EXPECT_EQ(device.Count(in), inserted);
    device.Download(host);
    EXPECT_EQ(host.inserted_count(), inserted);
    EXPECT_EQ(host.Count(in), inserted);
    EXPECT_EQ(device.Erase(in), inserted);
    device.Download(host);
    EXPECT_TRUE(this->IsEmpty(host));
  }
}

TYPED_TEST(CuckooOnDevice, TheCapacityOfTheHostGoesIn) {
  for (const size_t capacity : {1000, 20'000, 100'003}) {
    const TypeParam host({.capacity = capacity, .fpr = 0.05});
    const std::vector<uint64_t> keys = RandomKeys(capacity, 3);
    DeviceFilter device(host.Header(), {.runtime = &this->runtime_});
    EXPECT_EQ(device.Insert(keys), capacity) << "of " << host.num_slots() << " slots";
  }
}

// If the count of failed keys is 0, the retry does not read the bitmap, whatever it contains.
TYPED_TEST(CuckooOnDevice, RepeatsNothingIfNothingFailed) {
  constexpr int kBits = TypeParam::kFingerprintBits;
  const TypeParam host({.capacity = 1000, .fpr = 0.05});
  std::vector<cuckoo::Word<kBits>> words(host.geometry().buckets());
  const CuckooRef<kBits> ref{words.data(), host.geometry(), tamis::detail::KeyHasher(HashSpec{})};
  const std::vector<uint64_t> keys = RandomKeys(40, 1);
  std::vector<uint32_t> nodes(kWarpLanes * CuckooRef<kBits>::kManyNodes);
  std::vector<uint32_t> failed = {5, 0, 0, 0};
  uint64_t num_failed = 0;
  const RetryCall<CuckooRef<kBits>> call{ref,
                                         {keys.data(), keys.size(), Width::kU64, ref.hasher},
                                         failed.data(),
                                         &num_failed,
                                         nodes.data()};
  RunWarp(0, 1, [&](const EmulatedLane& lane) { RunLane(lane, call); });
  EXPECT_EQ(failed[0], 5u);
  EXPECT_FALSE(ref.Contains(keys[0]) || ref.Contains(keys[2]));
  num_failed = 2;
  RunWarp(0, 1, [&](const EmulatedLane& lane) { RunLane(lane, call); });
  EXPECT_EQ(failed[0], 0u);
  EXPECT_EQ(num_failed, 0u);
  EXPECT_TRUE(ref.Contains(keys[0]) && ref.Contains(keys[2]));
}

uint64_t num_accesses;

// The second bucket is not read while the first one has room.
TYPED_TEST(CuckooOnDevice, InsertsIntoTheFirstBucketWithRoom) {
  constexpr int kBits = TypeParam::kFingerprintBits;
  const TypeParam host({.capacity = 1000, .fpr = 0.05});
  std::vector<cuckoo::Word<kBits>> words(host.geometry().buckets());
  const CuckooRef<kBits> ref{words.data(), host.geometry(), tamis::detail::KeyHasher(HashSpec{})};
  const int slots = cuckoo::Bucket<kBits>::kSlots;
  const cuckoo::Place place = cuckoo::Locate<kBits>(HashU64(7), host.geometry());
  const auto& first = words[uint64_t{place.chunk} * host.geometry().chunk_buckets + place.bucket];
  detail::before_shared_access = [] { ++num_accesses; };
  for (int copy = 1; copy <= 2 * slots; ++copy) {
    num_accesses = 0;
    EXPECT_TRUE(ref.Insert(7));
    EXPECT_EQ(cuckoo::NumUsed<kBits>(first), std::min(copy, slots));
    // Reads and replaces the first bucket. If it is full, also reads the second bucket.
    EXPECT_EQ(num_accesses, copy <= slots ? 2u : 3u);
  }
  EXPECT_FALSE(ref.Insert(7));
  detail::before_shared_access = nullptr;
}

// Each copy of a key takes a slot, up to the slots of its two buckets.
TYPED_TEST(CuckooOnDevice, CopiesAreErasedOneByOne) {
  TypeParam host({.capacity = 1000, .fpr = 0.05});
  DeviceFilter device(host.Header(), {.runtime = &this->runtime_});
  const size_t most = 2 * cuckoo::Bucket<TypeParam::kFingerprintBits>::kSlots;
  const std::vector<uint64_t> keys(most + 1, 42);
  std::vector<uint64_t> failed(keys.size());
  EXPECT_EQ(device.Insert(keys, failed), most);
  for (size_t left = most; left > 0; --left) {
    EXPECT_EQ(device.Count(std::span(keys).first(1)), 1u);
    EXPECT_EQ(device.Erase(std::span(keys).first(1)), 1u);
  }
  std::vector<uint64_t> missing(1, 77);
  EXPECT_EQ(device.Erase(std::span(keys).first(1), missing), 0u);
  EXPECT_EQ(missing[0], 0u);
}

TYPED_TEST(CuckooOnDevice, AsyncChangesCanBeCaptured) {
  TypeParam host({.capacity = 1000, .fpr = 0.05});
  DeviceFilter device(host.Header(), {.runtime = &this->runtime_});
  const std::vector<uint64_t> keys = RandomKeys(397, 1);
  std::vector<uint64_t> failed(BitmapWords(keys.size()), ~uint64_t{0});
  std::vector<uint64_t> missing(BitmapWords(keys.size()), ~uint64_t{0});
  uint64_t counts[3] = {7, 7, 7};
  Stream stream = nullptr;
  ASSERT_TRUE(this->runtime_.CreateStream(&stream).ok());
  this->runtime_.SetCapturing(true);
  std::vector<uint32_t> scratch(DeviceFilter::kInsertScratchBytes / 4);
  const std::span nodes = std::as_writable_bytes(std::span(scratch));
  EXPECT_TRUE(device.InsertAsync(keys, Bitmap(failed), &counts[0], nodes, stream).ok());
  EXPECT_TRUE(device.CountAsync(keys, &counts[1], stream).ok());
  EXPECT_TRUE(device.EraseAsync(keys, Bitmap(missing), &counts[2], stream).ok());
  this->runtime_.SetCapturing(false);
  this->runtime_.Replay(stream);
  EXPECT_EQ(device.InsertAsync(keys, Bitmap(failed), &counts[0], nodes.first(8), stream),
            kInvalidValue);
  // Without an output, failed keys would go unnoticed.
  EXPECT_EQ(device.InsertAsync(keys, stream), kInvalidValue);
  EXPECT_EQ(device.MergeAsync(device, stream), kInvalidValue);
  ASSERT_TRUE(this->runtime_.Wait(stream).ok());
  EXPECT_EQ(counts[0], 0u);
  EXPECT_EQ(counts[1], keys.size());
  EXPECT_EQ(counts[2], 0u);
  for (const uint64_t word : failed) EXPECT_EQ(word, 0u);
  for (const uint64_t word : missing) EXPECT_EQ(word, 0u);
  EXPECT_TRUE(this->runtime_.DestroyStream(stream).ok());
  device.Download(host);
  EXPECT_TRUE(this->IsEmpty(host));
}

TYPED_TEST(CuckooOnDevice, HostKeysAreStreamedToIt) {
  TypeParam host({.capacity = 1000, .fpr = 0.05});
  const std::vector<uint64_t> keys = RandomKeys(2000, 1);
  host.Insert(std::span(keys).first(1000));
  DeviceFilter device(host, {.runtime = &this->runtime_});
  HostPipeline pipeline({.runtime = &this->runtime_}, {.chunk_keys = 128, .chunks = 3});
  std::vector<uint64_t> want(BitmapWords(keys.size())), bits(BitmapWords(keys.size()));
  EXPECT_EQ(pipeline.Contains(device, keys, Bitmap(bits)), host.Contains(keys, Bitmap(want)));
  EXPECT_EQ(bits, want);
  EXPECT_THROW(pipeline.Insert(device, keys), Error);
}

// Inserts more keys than fit into a small table, by four warps, and erases them. `run` runs a call.
template <typename TypeParam, typename Run>
void FillAndEmptyTogether(uint64_t seed, const Run& run) {
  constexpr int kBits = TypeParam::kFingerprintBits;
  const TypeParam host({.capacity = 900, .fpr = 0.05});
  const size_t n = host.num_slots() + 50;
  const std::vector<uint64_t> keys = RandomKeys(n, seed);
  std::vector<cuckoo::Word<kBits>> words(host.geometry().buckets());
  const CuckooRef<kBits> ref{words.data(), host.geometry(), tamis::detail::KeyHasher(HashSpec{})};
  std::vector<uint32_t> failed(2 * BitmapWords(n));
  uint64_t num_failed = 0;
  run(ChangeCall<CuckooRef<kBits>, Change::kInsert>{
      ref, {keys.data(), n, Width::kU64, ref.hasher}, failed.data(), &num_failed});
  std::vector<uint64_t> in;
  for (size_t i = 0; i < n; ++i) {
    if ((failed[i / 32] >> (i % 32) & 1) == 0) in.push_back(keys[i]);
  }
  ASSERT_EQ(in.size(), n - num_failed);
  EXPECT_GT(in.size(), host.num_slots() * 9 / 10);
  uint64_t used = 0;
  for (const auto word : words) used += cuckoo::NumUsed<kBits>(word);
  EXPECT_EQ(used, in.size());
  for (const uint64_t key : in) ASSERT_TRUE(ref.Contains(key));

  std::vector<uint32_t> missing(2 * BitmapWords(n));
  uint64_t num_missing = 0;
  run(ChangeCall<CuckooRef<kBits>, Change::kErase>{
      ref, {in.data(), in.size(), Width::kU64, ref.hasher}, missing.data(), &num_missing});
  EXPECT_EQ(num_missing, 0u);
  for (const auto word : words) ASSERT_EQ(word, 0u);
}

// Several threads insert into the same few buckets, and then erase, at the same time.
// ThreadSanitizer reports accesses that are not atomic.
TYPED_TEST(CuckooOnDevice, ThreadsLoseNothing) {
  constexpr uint64_t kThreads = 4;
  for (const uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    FillAndEmptyTogether<TypeParam>(seed, [&](const auto& call) {
      std::vector<std::thread> threads;
      for (uint64_t t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
          RunWarp(t, kThreads, [&](const EmulatedLane& lane) { RunLane(lane, call); });
        });
      }
      for (std::thread& thread : threads) thread.join();
    });
  }
}

// Searches and moves of lanes of the same warps interleave, in an order that depends on the seed.
TYPED_TEST(CuckooOnDevice, MovesThatMeetLoseNothing) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    FillAndEmptyTogether<TypeParam>(seed, [&](const auto& call) {
      RunGridShuffled(8, seed, [&](const EmulatedLane& lane) { RunLane(lane, call); });
    });
    if (this->HasFatalFailure()) return;
  }
}

// While there is room, all keys are inserted: a search that another thread disturbed is repeated.
TYPED_TEST(CuckooOnDevice, SearchesThatMeetStillFindRoom) {
  constexpr int kBits = TypeParam::kFingerprintBits;
  const TypeParam host({.capacity = 900, .fpr = 0.05});
  const size_t n = host.num_slots() * 9 / 10;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    const std::vector<uint64_t> keys = RandomKeys(n, seed);
    std::vector<cuckoo::Word<kBits>> words(host.geometry().buckets());
    const CuckooRef<kBits> ref{words.data(), host.geometry(), tamis::detail::KeyHasher(HashSpec{})};
    std::vector<uint32_t> failed(2 * BitmapWords(n));
    uint64_t num_failed = 0;
    const ChangeCall<CuckooRef<kBits>, Change::kInsert> call = {
        ref, {keys.data(), n, Width::kU64, ref.hasher}, failed.data(), &num_failed};
    RunGridShuffled(8, seed, [&](const EmulatedLane& lane) { RunLane(lane, call); });
    EXPECT_EQ(num_failed, 0u);
  }
}

// Inserts more copies of the same keys than fit into a table of a few buckets, and retries failed
// keys, in random order.
TYPED_TEST(CuckooOnDevice, CopiesAndRepetitionsThatMeetLoseNothing) {
  constexpr int kBits = TypeParam::kFingerprintBits;
  using Ref = CuckooRef<kBits>;
  constexpr uint64_t kWarps = 2;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    for (const uint32_t buckets : {2, 6, 16}) {
      SCOPED_TRACE(testing::Message() << buckets << " buckets, order " << seed);
      const cuckoo::Geometry geometry = {1, buckets};
      std::vector<cuckoo::Word<kBits>> words(buckets);
      const Ref ref{words.data(), geometry, tamis::detail::KeyHasher(HashSpec{})};
      const size_t n = cuckoo::Bucket<kBits>::kSlots * buckets + 9;
      std::vector<uint64_t> keys = RandomKeys(n, seed);
      for (size_t i = 0; i < n; ++i) keys[i] = keys[i % (n / 3 + 1)];
      std::vector<uint32_t> failed(2 * BitmapWords(n)), nodes(kWarps * 32 * Ref::kManyNodes);
      uint64_t num_failed = 0;
      const auto run = [&](const auto& call) {
        RunGridShuffled(kWarps, seed, [&](const EmulatedLane& lane) { RunLane(lane, call); });
      };
      const KeyColumn column{keys.data(), n, Width::kU64, ref.hasher};
      run(ChangeCall<Ref, Change::kInsert>{ref, column, failed.data(), &num_failed});
      run(RetryCall<Ref>{ref, column, failed.data(), &num_failed, nodes.data()});
      std::vector<uint64_t> in;
      for (size_t i = 0; i < n; ++i) {
        if ((failed[i / 32] >> (i % 32) & 1) == 0) in.push_back(keys[i]);
      }
      ASSERT_EQ(in.size(), n - num_failed);
      uint64_t used = 0;
      for (const auto word : words) used += cuckoo::NumUsed<kBits>(word);
      ASSERT_EQ(used, in.size());
      std::vector<uint32_t> missing(2 * BitmapWords(n));
      uint64_t num_missing = 0;
      run(ChangeCall<Ref, Change::kErase>{
          ref, {in.data(), in.size(), Width::kU64, ref.hasher}, missing.data(), &num_missing});
      ASSERT_EQ(num_missing, 0u);
      for (const auto word : words) ASSERT_EQ(word, 0u);
    }
  }
}

// A filter of more than 2^32 buckets. Only the touched pages take memory.
TYPED_TEST(CuckooOnDevice, ReachesBucketsPast32Bits) {
  constexpr int kBits = TypeParam::kFingerprintBits;
  using Word = cuckoo::Word<kBits>;
  constexpr uint32_t kBuckets = cuckoo::kMaxChunkBuckets<kBits>;
  constexpr cuckoo::Geometry kGeometry = {(uint64_t{1} << 32) / kBuckets + 12'345, kBuckets};
  constexpr uint64_t kBytes = kGeometry.buckets() * sizeof(Word);
  const test_os::SparseMemory memory(kBytes);
  if (memory.empty()) GTEST_SKIP() << "no address space for it";
  void* const map = memory.begin();
  auto* const words = static_cast<Word*>(map);
  const CuckooRef<kBits> ref = {words, kGeometry, tamis::detail::KeyHasher(HashSpec{})};
  // The very last chunk, and others.
  std::vector<uint64_t> hashes = RandomKeys(50, 7);
  hashes.push_back(~uint64_t{0});
  for (const uint64_t hash : hashes) {
    ASSERT_TRUE(ref.InsertHash(hash));
    const cuckoo::Place place = cuckoo::Locate<kBits>(hash, kGeometry);
    const Word* const chunk = words + uint64_t{place.chunk} * kBuckets;
    ASSERT_TRUE(cuckoo::PairContains<kBits>(
        chunk[place.bucket],
        chunk[cuckoo::AlternateBucket(place.bucket, place.fingerprint, kBuckets)],
        place.fingerprint));
  }
  for (const uint64_t hash : hashes) ASSERT_TRUE(ref.ContainsHash(hash));
  for (const uint64_t hash : hashes) ASSERT_TRUE(ref.EraseHash(hash));
  for (const uint64_t hash : hashes) ASSERT_FALSE(ref.ContainsHash(hash));
}

TYPED_TEST(CuckooOnDevice, HeadersAreChecked) {
  const TypeParam host({.capacity = 1000, .fpr = 0.05});
  const uint64_t most = cuckoo::kMaxChunkBuckets<TypeParam::kFingerprintBits>;
  this->runtime_.SetMemory(1 << 20);
  for (const auto& [chunks, buckets] : {std::pair<uint64_t, uint64_t>{0, 2},
                                        {1, 3},
                                        {1, 0},
                                        {1, most + 2},
                                        {uint64_t{cuckoo::kMaxChunks} + 1, 2}}) {
    FileHeader header = host.Header();
    header.geometry = {chunks, buckets, 0};
    header.payload_bytes = chunks * buckets * sizeof(cuckoo::Word<TypeParam::kFingerprintBits>);
    try {
      DeviceFilter(header, {.runtime = &this->runtime_});
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    }
  }
}

}  // namespace tamis::cuda::cuckoo_test
