// Files of scalable filters: options, growth after loading, and every kind of damage or bad intent.
// Tests for files of every kind are in contract_file_test.cc.
#include "core/src/filters/kinds/scalable/scalable_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory_resource>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/src/file/file_format.h"
#include "tamis/file/file_checks.h"
#include "tamis/filters/any_filter.h"
#include "tamis/filters/scalable_filter.h"
#include "tamis/filters/serialize.h"
#include "tamis/physical_memory.h"
#include "tests/core/contract.h"
#include "tests/core/file_parts.h"
#include "tests/core/file_test_util.h"
#include "tests/core/reference_filter.h"
#include "tests/test_util.h"

namespace tamis::scalable_file_test {

namespace offset = detail::offset;

const size_t kOptionsAt = OptionsAt(FileHeader::kNewestVersion);

template <typename F>
class ScalableFileTest : public testing::Test {
 protected:
  using Layered = ScalableFilter<F>;
  static constexpr ScalableOptions kOptions{.initial_capacity = 9,
                                            .fpr = 0.4,
                                            .growth = 1.7,
                                            .tightening = 0.7,
                                            .max_bytes = 100'000,
                                            .hash = {HashKind::kXxh64, 99}};

  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "f.tamis";

  Bytes Saved(const Filter& filter, uint32_t version = FileHeader::kNewestVersion) const {
    filter.Save(folder_ / "saved", {.version = version});
    return ReadBytes(folder_ / "saved");
  }

  // Returns a file of three layers with 35 keys.
  Bytes SmallFile(uint32_t version = FileHeader::kNewestVersion) const {
    Layered filter(kOptions);
    EXPECT_EQ(filter.Insert(RandomKeys(35, /*seed=*/1)), 35u);
    EXPECT_EQ(filter.layers().size(), 3u);
    return Saved(filter, version);
  }

  void ExpectRefused(const Bytes& file, const std::string& check, uint64_t at,
                     ErrorCode code = ErrorCode::kCorrupt) {
    tamis::ExpectRefused(SubjectOf<Layered>(), path_, file, check, at, true, code);
  }

  // Expects an error from every function that reads the payloads.
  void ExpectPayloadRefused(const Bytes& file, const std::string& check, uint64_t at) {
    tamis::ExpectRefused(SubjectOf<Layered>(), path_, file, check, at, false);
  }
};
using LayerKinds = testing::Types<SplitBlockBloomFilter, BloomFilter, CuckooFilter<8>,
                                  CuckooFilter<12>, CuckooFilter<16>>;
TYPED_TEST_SUITE(ScalableFileTest, LayerKinds);

TYPED_TEST(ScalableFileTest, GivesBackTheOptions) {
  using Scalable = ScalableFilter<TypeParam>;
  const Scalable filter(this->kOptions);
  filter.Save(this->path_);
  const auto expect = [&](const Scalable& other) {
    EXPECT_EQ(other.options().initial_capacity, this->kOptions.initial_capacity);
    EXPECT_EQ(other.options().fpr, this->kOptions.fpr);
    EXPECT_EQ(other.options().growth, this->kOptions.growth);
    EXPECT_EQ(other.options().tightening, this->kOptions.tightening);
    EXPECT_EQ(other.options().max_bytes, this->kOptions.max_bytes);
  };
  expect(Scalable::Load(this->path_));
  expect(Scalable::Map(this->path_));
}

// The bytes are the same if keys come one by one, in batches or all at once, and if the filter was
// in a file in between. There are more copies than cuckoo layers take.
TYPED_TEST(ScalableFileTest, SameKeysInTheSameOrderGiveTheSameBytes) {
  using Scalable = ScalableFilter<TypeParam>;
  ScalableOptions options = this->kOptions;
  options.max_bytes = 0;
  std::vector<uint64_t> keys = RandomKeys(4000, /*seed=*/1);
  for (size_t i = 0; i < keys.size(); i += 50) keys[i] = 42;
  Scalable one(options), all(options), batches(options);
  size_t inserted = 0, in_batches = 0;
  for (const uint64_t key : keys) inserted += one.Insert(key);
  ASSERT_EQ(all.Insert(keys), inserted);
  Random random(/*seed=*/3);
  for (size_t begin = 0, n = 0; begin < keys.size(); begin += n) {
    n = std::min<size_t>(1 + random.Below(700), keys.size() - begin);
    in_batches += batches.Insert(std::span(keys).subspan(begin, n));
    batches.Save(this->path_);
    batches = Scalable::Load(this->path_);
  }
  ASSERT_EQ(in_batches, inserted);
  const Bytes want = this->Saved(all);
  EXPECT_EQ(this->Saved(one), want);
  EXPECT_EQ(this->Saved(batches), want);
  for (const auto& layer : all.layers()) EXPECT_LE(layer.inserted_count(), layer.capacity());
}

// For any options, and any insertions and erasures, a saved filter can be read again.
TYPED_TEST(ScalableFileTest, EveryFilterThatCanBeMadeIsReadAgain) {
  using Scalable = ScalableFilter<TypeParam>;
  Random random(/*seed=*/8);
  const auto uniform = [&](double min, double max) {
    return min + (max - min) * static_cast<double>(random.Below(1'000'001)) / 1e6;
  };
  for (int round = 0; round < 30; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    ScalableOptions options;
    do {  // cuckoo layers of low rates are large
      options = {.initial_capacity = 1 + random.Below(round % 3 == 0 ? 5 : 500),
                 .fpr = std::pow(10, uniform(-4, -0.31)),
                 .growth = round % 4 == 0 ? 1 : std::pow(10, uniform(0, 2)),
                 .tightening = uniform(0.01, 0.99),
                 .hash = {HashKind::kXxh3, random()}};
      options.max_bytes = Scalable(options).bytes() + random.Below(200'000);
    } while (options.max_bytes > 1'000'000);
    Scalable filter(options);
    const std::vector<uint64_t> keys = RandomKeys(random.Below(3000), random());
    std::vector<uint64_t> rejected(keys.size());
    const size_t inserted = filter.Insert(keys, rejected);
    if constexpr (Scalable::kErases) filter.Erase(std::span(keys).first(keys.size() / 3));
    const Bytes saved = this->Saved(filter);
    WriteBytes(this->path_, saved);
    const Scalable loaded = Scalable::Load(this->path_);
    EXPECT_EQ(loaded.inserted_count(), filter.inserted_count());
    EXPECT_EQ(loaded.capacity(), filter.capacity());
    EXPECT_EQ(this->Saved(loaded), saved);
    if constexpr (!Scalable::kErases) {
      EXPECT_GE(loaded.Count(keys), inserted);
    }
  }
}

// Small tables have few sizes, so a limit can reduce several layers one after the other.
TYPED_TEST(ScalableFileTest, SmallLimitsAreReadAgain) {
  using Scalable = ScalableFilter<TypeParam>;
  const std::vector<uint64_t> keys = RandomKeys(200, /*seed=*/1);
  for (const double fpr : {0.5, 0.123, 0.05, 0.0013}) {
    for (const uint64_t initial : {1, 10, 13, 20}) {
      ScalableOptions options{.initial_capacity = initial, .fpr = fpr};
      const uint64_t first = Scalable(options).bytes();
      for (uint64_t more = 0; more < 300; more += 7) {
        options.max_bytes = first + more;
        Scalable filter(options);
        const size_t inserted = filter.Insert(keys);
        // Uses memory, because each of the hundreds of files would be synchronized.
        const AnyFilter loaded = tamis::Load(Serialize(filter));
        ASSERT_GE(loaded->Count(keys), inserted) << fpr << ", " << initial << ", " << more;
      }
    }
  }
}

TYPED_TEST(ScalableFileTest, ALayerCutOutIsAFile) {
  for (const uint32_t version : kVersions) {
    const Bytes file = this->SmallFile(version);
    for (const FilterInFile& layer : FiltersIn(file)) {
      const auto begin = file.begin() + static_cast<std::ptrdiff_t>(layer.at);
      const auto bytes = static_cast<std::ptrdiff_t>(layer.end() - layer.at);
      WriteBytes(this->path_, Bytes(begin, begin + bytes));
      EXPECT_NE(Load(this->path_).template As<TypeParam>(), nullptr);
      VerifyFile(this->path_);
    }
  }
}

// The header matches the length.
TYPED_TEST(ScalableFileTest, EveryLengthThatATruncatedFileCanHave) {
  for (const uint32_t version : kVersions) {
    const Bytes good = this->SmallFile(version);
    for (size_t length = LayersAt(version) + 1; length < good.size(); ++length) {
      SCOPED_TRACE("length " + std::to_string(length));
      Bytes file(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length));
      SetField(file, offset::kPayloadLength, uint64_t{length - HeaderBytesOf(version)});
      SealHeader(file);
      WriteBytes(this->path_, file);
      EXPECT_THROW(ReadHeader(this->path_), FormatError);
      EXPECT_THROW(Load(this->path_), FormatError);
    }
  }
}

// All checksums are right, but a field is impossible, or does not match another one.
TYPED_TEST(ScalableFileTest, InvalidFields) {
  for (const uint32_t version : kVersions) {
    const Bytes good = this->SmallFile(version);
    const size_t options = OptionsAt(version);
    const auto expect = [&](size_t at, auto value, const std::string& check, uint64_t error_at,
                            ErrorCode code = ErrorCode::kCorrupt) {
      SCOPED_TRACE(std::to_string(at) + ": " + std::to_string(value));
      Bytes file = good;
      SetField(file, at, value);
      SealAll(file, FiltersIn(good));
      this->ExpectRefused(file, check, error_at, code);
    };
    using U = uint64_t;
    for (const U layers : {U{0}, U{4097}, ~U{0}}) {
      expect(offset::kGeometry, layers, "layers", offset::kGeometry);
    }
    expect(offset::kGeometry, U{2}, "capacity", offset::kCapacity);
    expect(offset::kGeometry, U{4096}, "payload length", offset::kPayloadLength);
    for (const U kind : {U{0}, U{5}, U{7}, U{8}, ~U{0}}) {
      expect(offset::kGeometry + 8, kind, "layer kind", offset::kGeometry + 8,
             ErrorCode::kUnsupported);
    }
    const U other_kind = std::is_same_v<TypeParam, BloomFilter> ? 1 : 6;
    const size_t first = LayersAt(version), second = FiltersIn(good)[1].at;
    expect(offset::kGeometry + 8, other_kind, "filter kind", first + offset::kFilterKind);
    expect(offset::kGeometry + 16, U{1}, "geometry[2]", offset::kGeometry + 16);
    for (const U length : {U{0}, U{64}, U{639}, (U{1} << 62) + 1, ~U{0}}) {
      expect(offset::kPayloadLength, length, "payload length", offset::kPayloadLength);
    }
    expect(offset::kPayloadLength, U{1} << 62, "file length", good.size());
    expect(offset::kHashKind, uint32_t{1}, "hash kind", first + offset::kHashKind);
    expect(offset::kSeed, U{98}, "seed", first + offset::kSeed);
    for (const U value : {U{0}, U{51}, U{53}, ~U{0}}) {
      expect(offset::kCapacity, value, "capacity", offset::kCapacity);
      if (value != 0) expect(offset::kInserted, value, "inserted", offset::kInserted);
    }

    expect(options + offset::kInitialCapacity, U{0}, "initial capacity",
           options + offset::kInitialCapacity);
    for (const double bad : {0.0, -1.0, 0.6, std::nan(""), HUGE_VAL}) {
      expect(options + offset::kFpr, bad, "fpr", options + offset::kFpr);
      expect(options + offset::kGrowth, bad == HUGE_VAL ? 1025 : bad, "growth",
             options + offset::kGrowth);
      expect(options + offset::kTightening, bad == 0.6 ? 0.995 : bad, "tightening",
             options + offset::kTightening);
    }
    expect(options + offset::kInitialCapacity, U{1000}, "capacity", first + offset::kCapacity);
    expect(options + offset::kGrowth, 100.0, "capacity", second + offset::kCapacity);
    expect(options + offset::kGrowth, 1.0, "capacity", second + offset::kCapacity);
    expect(options + offset::kFpr, 1e-5, "fpr", options + offset::kFpr);
    U payloads = 0;
    for (const FilterInFile& layer : FiltersIn(good)) payloads += layer.payload_bytes;
    expect(options + offset::kMaxBytes, payloads - 1, "max bytes", options + offset::kMaxBytes);
    for (size_t at = offset::OptionsReserved(version); at < offset::OptionsChecksum(version);
         at += 8) {
      expect(options + at, U{1} << 63, "reserved bytes", options + at);
    }

    expect(second + offset::kFilterKind, uint32_t{77}, "filter kind", second + offset::kFilterKind,
           ErrorCode::kUnsupported);
    expect(second + offset::kHashKind, uint32_t{1}, "hash kind", second + offset::kHashKind);
    expect(second + offset::kSeed, U{100}, "seed", second + offset::kSeed);
    expect(second + offset::kCapacity, U{0}, "capacity", second + offset::kCapacity);
    expect(second + offset::kCapacity, ~U{0}, "capacity", second + offset::kCapacity);
    expect(second + offset::kCapacity, U{17}, "capacity", offset::kCapacity);
    expect(second + offset::kCapacity, U{15}, "inserted", second + offset::kInserted);
    expect(second + offset::kInserted, U{15}, "inserted", offset::kInserted);
    expect(second + offset::kPayloadOffset, U{64}, "payload offset",
           second + offset::kPayloadOffset);
    expect(second + offset::kPayloadLength, U{1} << 40, "payload length",
           second + offset::kPayloadLength);
    for (size_t at = offset::Reserved(version); at < offset::HeaderChecksum(version); at += 4) {
      expect(second + at, uint32_t{1}, "reserved bytes", second + at);
    }
    const uint32_t other = version == 1 ? 2 : 1;
    expect(second + offset::kVersion, other, "header length", second + offset::kHeaderLength);
    if (version == 1) continue;
    expect(options + offset::kCopiesSeen, U{1} << 40, "copies seen", options + offset::kCopiesSeen);
    expect(options + offset::kCopiesHeld, U{1} << 40, "copies held", options + offset::kCopiesHeld);
    expect(options + offset::kManyCopies, U{2}, "many copies", options + offset::kManyCopies);
    expect(second + offset::kKeyTypes, uint32_t{2}, "key types", second + offset::kKeyTypes);
  }
}

// A layer of another kind, including scalable, is refused by one check or another.
TYPED_TEST(ScalableFileTest, LayersOfOtherKinds) {
  const Bytes good = this->SmallFile();
  const size_t second = FiltersIn(good)[1].at;
  for (uint32_t kind = 0; kind <= 10; ++kind) {
    Bytes file = good;
    if (kind == GetField<uint32_t>(good, second + offset::kFilterKind)) continue;
    SetField(file, second + offset::kFilterKind, kind);
    SealAll(file, FiltersIn(good));
    WriteBytes(this->path_, file);
    EXPECT_THROW(ReadHeader(this->path_), FormatError) << kind;
    EXPECT_THROW(Map(this->path_), FormatError) << kind;
  }
}

// Layers that claim more bytes than the file has are refused before anything is allocated.
TYPED_TEST(ScalableFileTest, ClaimsOfAHugeLayer) {
  const Bytes good = this->SmallFile();
  const size_t second = FiltersIn(good)[1].at;
  Bytes file = good;
  const bool cuckoo = ScalableFilter<TypeParam>::kErases;
  const uint64_t units = uint64_t{1} << 20;  // blocks, words or chunks
  const uint64_t unit_bytes = std::is_same_v<TypeParam, BloomFilter>       ? 8
                              : !cuckoo                                    ? 32
                              : std::is_same_v<TypeParam, CuckooFilter<8>> ? 4 * 128
                                                                           : 8 * 128;
  SetField(file, second + offset::kGeometry,
           std::is_same_v<TypeParam, BloomFilter> ? 64 * units : units);
  if (cuckoo) SetField(file, second + offset::kGeometry + 8, uint64_t{128});
  SetField(file, second + offset::kPayloadLength, units * unit_bytes);
  SealAll(file, FiltersIn(good));
  this->ExpectRefused(file, "payload length", second + offset::kPayloadLength);
}

TEST(ScalableFileLayersTest, OneLayerMoreThanThereAre) {
  const TemporaryFolder folder;
  const ScalableFilter<BloomFilter> filter({.initial_capacity = 1000});
  filter.Save(folder / "f");
  Bytes file = ReadBytes(folder / "f");
  SetField(file, offset::kGeometry, uint64_t{2});
  SealHeader(file);
  WriteBytes(folder / "f", file);
  ExpectFormatError([&] { ReadHeader(folder / "f"); }, "layers", offset::kGeometry);
  ExpectFormatError([&] { Load(folder / "f"); }, "layers", offset::kGeometry);
}

// Two layers of the same size are exchanged: only the checksum of the whole detects this. In
// version 2, that checksum covers the headers, and is checked when they are read.
TEST(ScalableFileLayersTest, ExchangedLayers) {
  const TemporaryFolder folder;
  const std::vector<uint64_t> keys = RandomKeys(128, /*seed=*/1);
  ScalableFilter<BloomFilter> filter({.initial_capacity = 64, .fpr = 0.2, .growth = 1});
  filter.Insert(keys);
  const auto exchanged = [&](uint32_t version) {
    filter.Save(folder / "f", {.version = version});
    Bytes file = ReadBytes(folder / "f");
    const std::vector<FilterInFile> layers = FiltersIn(file);
    EXPECT_EQ(layers.size(), 2u);
    const auto at = [&](size_t byte) { return file.begin() + static_cast<std::ptrdiff_t>(byte); };
    std::rotate(at(layers[0].at), at(layers[1].at), file.end());
    return file;
  };
  const auto expect_refused = [](const auto& act) {
    ExpectFormatError(act, "payload checksum", offset::kPayloadChecksum);
  };
  WriteBytes(folder / "f", exchanged(1));
  expect_refused([&] { Load(folder / "f"); });
  EXPECT_EQ(Map(folder / "f")->Count(keys), keys.size());
  for (const uint32_t version : kVersions) {
    expect_refused([&] { Map(folder / "f")->Save(folder / "g", {.version = version}); });
  }
  ExpectRefused(SubjectOf<ScalableFilter<BloomFilter>>(), folder / "f", exchanged(2),
                "payload checksum", offset::kPayloadChecksum);
}

TEST(ScalableFileLayersTest, AllLayersAreInOneMapping) {
  const TemporaryFolder folder;
  if (!test_os::MappingsOf(folder.path())) GTEST_SKIP() << "the system does not list mappings";
  const std::vector<uint64_t> keys = RandomKeys(1000, /*seed=*/1);
  ScalableFilter<SplitBlockBloomFilter> filter(
      {.initial_capacity = 1, .fpr = 0.5, .growth = 1, .tightening = 0.99});
  ASSERT_EQ(filter.Insert(keys), keys.size());
  ASSERT_EQ(filter.layers().size(), 1000u);
  filter.Save(folder / "f");
  {
    AnyFilter mapped = Map(folder / "f");
    EXPECT_EQ(test_os::MappingsOf(folder / "f"), 1u);
    EXPECT_EQ(mapped->Count(keys), keys.size());
    const auto moved = std::move(*mapped.As<ScalableFilter<SplitBlockBloomFilter>>());
    EXPECT_EQ(test_os::MappingsOf(folder / "f"), 1u);
    EXPECT_EQ(moved.Count(keys), keys.size());
    EXPECT_TRUE(moved.payload().empty());
  }
  EXPECT_EQ(test_os::MappingsOf(folder / "f"), 0u);
}

// More layers than the filter could make with these options. The sum of the rates is right.
TEST(ScalableFileLayersTest, ALayerThatNoBoundIsLeftFor) {
  const TemporaryFolder folder;
  const ScalableFilter<BloomFilter> filter(
      {.initial_capacity = 10, .fpr = 1e-11, .tightening = 0.85});
  filter.Save(folder / "f");
  Bytes file = ReadBytes(folder / "f");
  SetField(file, kOptionsAt + offset::kFpr, 1.51e-12);
  SealAll(file);
  ExpectRefused(SubjectOf<ScalableFilter<BloomFilter>>(), folder / "g", file, "fpr",
                kOptionsAt + offset::kFpr);
}

class UnusedResource : public std::pmr::memory_resource {
  void* do_allocate(size_t, size_t) override {
    ADD_FAILURE() << "was asked for memory";
    throw std::bad_alloc();
  }
  void do_deallocate(void*, size_t, size_t) override {}
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

// The layers leave too little of the bound for another layer, as in the saved filter.
template <typename F>
void AFilterThatTheBoundLeavesNoLayerTakesNoKeyAfterLoading() {
  const TemporaryFolder folder;
  ScalableFilter<F> filter({.initial_capacity = 1, .fpr = 1e-11});
  const uint64_t inserted = filter.Insert(RandomKeys(97, /*seed=*/1));
  EXPECT_LT(inserted, 97u);
  filter.Save(folder / "f");
  ScalableFilter<F> loaded = ScalableFilter<F>::Load(folder / "f");
  EXPECT_EQ(loaded.Insert(RandomKeys(97, /*seed=*/2)), 0u);
  EXPECT_EQ(loaded.layers().size(), filter.layers().size());
}

TEST(ScalableFileLayersTest, AFilterThatTheBoundLeavesNoLayerTakesNoKeyAfterLoading) {
  AFilterThatTheBoundLeavesNoLayerTakesNoKeyAfterLoading<SplitBlockBloomFilter>();
  AFilterThatTheBoundLeavesNoLayerTakesNoKeyAfterLoading<BloomFilter>();
}

// A sparse file of three layers, two of which would fit into memory.
TEST(ScalableFileLayersTest, MoreThanFitsIntoMemoryInAll) {
  const TemporaryFolder folder;
  ScalableFilter<BloomFilter> filter({.initial_capacity = 64, .growth = 1});
  ASSERT_EQ(filter.Insert(RandomKeys(150, /*seed=*/1)), 150u);
  filter.Save(folder / "f", {.version = 1});  // whose headers do not depend on the payloads
  const Bytes small = ReadBytes(folder / "f");
  const std::vector<FilterInFile> layers = FiltersIn(small);
  ASSERT_EQ(layers.size(), 3u);
  const uint64_t bytes = PhysicalMemory() / 5 * 2 / 64 * 64;
  const auto part = [&](size_t at, size_t n) {
    const auto begin = small.begin() + static_cast<std::ptrdiff_t>(at);
    return Bytes(begin, begin + static_cast<std::ptrdiff_t>(n));
  };
  Bytes start = part(0, LayersAt(1));
  const uint64_t layer_bytes = HeaderBytesOf(1) + bytes;
  SetField(start, offset::kPayloadLength, 64 + 3 * layer_bytes);
  SealHeader(start);
  std::ofstream out(folder / "f", std::ios::binary | std::ios::trunc);
  out.write(start.data(), static_cast<std::streamsize>(start.size()));
  for (size_t i = 0; i < 3; ++i) {
    Bytes header = part(layers[i].at, HeaderBytesOf(1));
    SetField(header, offset::kGeometry, 8 * bytes);
    SetField(header, offset::kPayloadLength, bytes);
    SealHeader(header);
    out.seekp(static_cast<std::streamoff>(LayersAt(1) + i * layer_bytes));
    out.write(header.data(), static_cast<std::streamsize>(header.size()));
  }
  out.close();
  ASSERT_TRUE(out);
  if (!test_os::Resize(folder / "f", LayersAt(1) + 3 * layer_bytes)) {
    GTEST_SKIP() << "no file can be so long here";
  }
  ASSERT_EQ(ReadHeader(folder / "f").geometry[0], 3u);
  UnusedResource none;
  ExpectError([&] { Load(folder / "f", {.memory = {.resource = &none}}); }, ErrorCode::kOutOfMemory,
              "cannot allocate " + std::to_string(3 * bytes) + " bytes for a filter: this process");
}

// A table that does not have the number of keys in the header of its layer.
TEST(ScalableFileCuckooTest, CountsThatDisagree) {
  const TemporaryFolder folder;
  ScalableFilter<CuckooFilter<16>> filter({.initial_capacity = 20});
  filter.Insert(RandomKeys(50, /*seed=*/1));
  filter.Save(folder / "f");
  Bytes file = ReadBytes(folder / "f");
  const size_t second = FiltersIn(file)[1].at;
  SetField(file, second + offset::kInserted, uint64_t{29});
  SetField(file, offset::kInserted, uint64_t{49});
  SealAll(file);
  WriteBytes(folder / "f", file);
  ExpectFormatError([&] { Load(folder / "f"); }, "inserted", second + offset::kInserted);
  ExpectFormatError([&] { VerifyFile(folder / "f"); }, "inserted", second + offset::kInserted);
}

}  // namespace tamis::scalable_file_test
