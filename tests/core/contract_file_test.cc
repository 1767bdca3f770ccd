// Files of every kind. A saved filter is read back the same in every way. A mapped filter answers
// queries and refuses all changes. Every function that reads the damaged part of a file refuses it.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "tamis/backends.h"
#include "tamis/file/file_checks.h"
#include "tamis/filters/any_scalable_filter.h"
#include "tamis/filters/set_operations.h"
#include "tests/core/contract.h"
#include "tests/core/file_parts.h"
#include "tests/test_util.h"

namespace tamis::contract_file_test {

namespace offset = detail::offset;

class FileContractTest : public ContractTest {
 protected:
  // Returns a small file with 10 keys.
  Bytes SmallFile(uint32_t version = FileHeader::kNewestVersion) const {
    const AnyFilter filter = Make(10, nullptr, {HashKind::kXxh64, 99});
    EXPECT_EQ(RequireChangeable(*filter).Insert(RandomKeys(10, /*seed=*/1)), 10u);
    filter->Save(path_, {.version = version});
    return ReadBytes(path_);
  }

  // Sizes around the pieces in which payloads are read, and around the size from which on storage
  // is mapped.
  std::vector<FilterOptions> Sizes() const {
    std::vector<FilterOptions> sizes = {
        {.capacity = 1}, {.capacity = 100}, {.capacity = 3000}, {.capacity = 100'000}};
    if (subject().layered) return sizes;
    for (const uint64_t bytes : {64u, 96u, 1000u, (256u << 10) - 32, 256u << 10, (256u << 10) + 8,
                                 (256u << 10) + 32, (4u << 20) - 32, 4u << 20, (5u << 20) + 96}) {
      sizes.push_back({.bytes = bytes});
    }
    return sizes;
  }
};

TEST_P(FileContractTest, GivesBackTheSameFilter) {
  for (FilterOptions options : Sizes()) {
    options.hash = {HashKind::kXxh64, 1 + options.capacity + options.bytes};
    const uint32_t version = kVersions[options.capacity % 3 % 2 == 0];
    SCOPED_TRACE(std::to_string(options.capacity) + " keys, " + std::to_string(options.bytes));
    const AnyFilter filter = subject().make(options);
    const std::vector<uint64_t> keys =
        RandomKeys(options.capacity != 0 ? options.capacity
                                         : std::min<uint64_t>(filter->capacity() / 2, 200'000),
                   /*seed=*/1);
    ASSERT_EQ(RequireChangeable(*filter).Insert(keys), keys.size());
    filter->Save(path_, {.version = version});
    const Bytes saved = ReadBytes(path_);
    const KeyTypes types = version == 1 ? KeyType::kUnknown : KeyType::kInteger;
    const auto expect_header = [&](const FileHeader& header) {
      EXPECT_EQ(header.kind, subject().kind);
      EXPECT_EQ(header.hash, options.hash);
      EXPECT_EQ(header.geometry, filter->Header().geometry);
      EXPECT_EQ(header.capacity, filter->capacity());
      EXPECT_EQ(header.inserted, keys.size());
      EXPECT_EQ(header.key_types, types);
    };
    for (const FileHeader& header : {ReadHeader(path_), VerifyFile(path_)}) {
      expect_header(header);
      EXPECT_EQ(header.version, version);
      EXPECT_EQ(header.payload_bytes, GetField<uint64_t>(saved, offset::kPayloadLength));
    }
    const auto expect_same = [&](const AnyFilter& any, bool read_only) {
      EXPECT_TRUE(subject().is(any));
      expect_header(any->Header());
      EXPECT_EQ(any->read_only(), read_only);
      EXPECT_TRUE(Contents(*any) == Contents(*filter));
      EXPECT_EQ(any->hash(), filter->hash());
      EXPECT_EQ(any->bytes(), filter->bytes());
      EXPECT_EQ(any->estimated_count(), filter->estimated_count());
      EXPECT_EQ(any->expected_fpr(), filter->expected_fpr());
      EXPECT_EQ(any->Count(keys), keys.size());
      std::vector<const Filter*> parts = {&*any};
      if (const auto view = ViewScalable(*any)) parts = view->layers;
      for (const Filter* part : parts) {
        EXPECT_EQ(reinterpret_cast<uintptr_t>(part->payload().data()) % 64, 0u);
        EXPECT_EQ(part->read_only(), read_only);
      }
      any->Save(folder_ / "again", {.version = version});
      EXPECT_TRUE(ReadBytes(folder_ / "again") == saved);
    };
    expect_same(subject().load(path_, {}), false);
    expect_same(subject().map(path_, {}), true);
    expect_same(subject().map(path_, {.verify = Verify::kFull}), true);
    expect_same(Load(path_), false);
    expect_same(Map(path_), true);
  }
}

TEST_P(FileContractTest, TheBackendIsTheOneThatIsAskedFor) {
  SmallFile();
  for (const Backend& backend : Backends()) {
    EXPECT_EQ(&subject().load(path_, {.backend = &backend})->backend(), &backend);
    EXPECT_EQ(&subject().map(path_, {.backend = &backend})->backend(), &backend);
    EXPECT_EQ(&Load(path_, {.backend = &backend})->backend(), &backend);
    EXPECT_EQ(&Map(path_, {.backend = &backend})->backend(), &backend);
  }
}

TEST_P(FileContractTest, ALoadedFilterCanBeChanged) {
  SmallFile();
  const std::vector<uint64_t> keys = RandomKeys(10, /*seed=*/1);
  const AnyFilter loaded = subject().load(path_, {});
  RequireChangeable(*loaded).Clear();
  EXPECT_EQ(loaded->inserted_count(), 0u);
  EXPECT_EQ(RequireChangeable(*loaded).Insert(keys), 10u);
  loaded->Save(folder_ / "again");
  EXPECT_EQ(ReadBytes(folder_ / "again"), ReadBytes(path_));
  EXPECT_EQ(VerifyFile(path_).inserted, 10u);
}

TEST_P(FileContractTest, AMappedFilterAnswersAndRefusesEveryChange) {
  const std::vector<uint64_t> keys = RandomKeys(1000, /*seed=*/1);
  const AllLayouts layouts(200, /*seed=*/2);
  const AnyFilter built = Make(1000);
  ASSERT_EQ(RequireChangeable(*built).Insert(keys), keys.size());
  built->Save(path_);
  const auto want = Contents(*built);
  const auto expect_refused = [&](Filter& filter) {
    ChangeableFilter& mapped = RequireChangeable(filter);
    auto* const erasable = dynamic_cast<ErasableFilter*>(&mapped);
    ASSERT_TRUE(mapped.read_only());
    const auto expect_read_only = [](const auto& act) {
      ExpectError(act, ErrorCode::kReadOnly, "mapped from a file");
    };
    std::vector<uint64_t> rejected(keys.size()), bits(BitmapWords(keys.size()));
    expect_read_only([&] { mapped.Insert(keys, rejected); });
    expect_read_only([&] { mapped.InsertIfAbsent(keys, Bitmap(bits)); });
    if (erasable != nullptr) {
      expect_read_only([&] { erasable->Erase(keys, rejected); });
    }
    for (const AllLayouts::Set& set : layouts.sets()) {
      EXPECT_FALSE(subject().insert(mapped, set.ones[0]));
      expect_read_only([&] { mapped.Insert(set.keys); });
      if (erasable != nullptr) {
        expect_read_only([&] { erasable->Erase(set.keys); });
      }
    }
    for (const uint64_t key : keys) {
      if (erasable != nullptr) {
        EXPECT_FALSE(subject().erase(mapped, key));
      }
    }
    for (const unsigned threads : {1, 3}) {
      const Engine engine = PinnedEngine(Backends().front(), threads, true);
      expect_read_only([&] { engine.Insert(mapped, keys, rejected); });
      expect_read_only([&] { engine.InsertIfAbsent(mapped, keys, Bitmap(bits)); });
      for (const AllLayouts::Set& set : layouts.sets()) {
        expect_read_only([&] { engine.Insert(mapped, set.keys); });
      }
      expect_read_only(
          [&] { engine.Insert(mapped, 10, [](uint64_t, std::span<uint64_t>) { FAIL(); }); });
      EXPECT_EQ(engine.Count(mapped, keys), keys.size());
      if (erasable != nullptr) {
        expect_read_only([&] { engine.Erase(*erasable, keys, rejected); });
        expect_read_only([&] { engine.Erase(*erasable, keys); });
      }
    }
    expect_read_only([&] { mapped.Clear(); });
    if (subject().merge != nullptr) {
      expect_read_only([&] { subject().merge(mapped, *built); });
      expect_read_only([&] { Merge(mapped, *built); });
    }
    if (subject().intersect != nullptr) {
      expect_read_only([&] { subject().intersect(mapped, *built); });
    }
    EXPECT_EQ(Contents(mapped), want);
    EXPECT_EQ(mapped.Count(keys), keys.size());
  };
  const AnyFilter mapped = subject().map(path_, {});
  expect_refused(*mapped);
  expect_refused(*Map(path_));

  // A mapped filter can still be the source of others.
  if (subject().clone != nullptr) {
    const AnyFilter copy = subject().clone(*mapped);
    EXPECT_FALSE(copy->read_only());
    EXPECT_EQ(copy->key_types(), built->key_types());
    EXPECT_EQ(Contents(*copy), want);
    RequireChangeable(*copy).Clear();
    EXPECT_EQ(RequireChangeable(*copy).Insert(keys), keys.size());
    EXPECT_EQ(Contents(*copy), want);
  }
  if (subject().merge != nullptr) {
    const AnyFilter merged = Make(1000);
    Merge(*merged, *mapped);
    EXPECT_EQ(Contents(*merged), want);
  }
  const AnyFilter moved = subject().moved(*mapped);
  EXPECT_TRUE(moved->read_only());
  EXPECT_EQ(moved->Count(keys), keys.size());
  EXPECT_EQ(VerifyFile(path_).inserted, keys.size());
}

// A file with a damaged payload can be mapped, but nothing made from it looks intact, in any
// version of the format.
TEST_P(FileContractTest, NothingIsMadeOfADamagedMappedFile) {
  const HashSpec hash{HashKind::kXxh64, 99};  // of SmallFile
  for (const uint32_t version : kVersions) {
    SCOPED_TRACE("version " + std::to_string(version));
    const Bytes good = SmallFile(version);
    Bytes file = good;
    const size_t byte = FiltersIn(good)[0].payload_at();
    file[byte] = static_cast<char>(file[byte] ^ 1);
    WriteBytes(path_, file);
    const Damage damage = DamageOf(good, byte);
    // For a layered file of version 1, all of it is checked first.
    const auto expect_not_saved = [&](const Filter& filter, const Damage& found) {
      for (const uint32_t save_as : kVersions) {
        ExpectFormatError([&] { filter.Save(folder_ / "again", {.version = save_as}); },
                          found.check, found.at);
      }
    };
    const Damage of_all = version == 1 && subject().layered
                              ? Damage{"payload checksum", offset::kPayloadChecksum, false}
                              : damage;
    const auto expect_refused = [&](const auto& act) {
      ExpectFormatError(act, of_all.check, of_all.at);
      ExpectError(act, ErrorCode::kCorrupt, path_.string());
    };
    const AnyFilter mapped = subject().map(path_, {});
    expect_not_saved(*mapped, of_all);
    expect_not_saved(*Map(path_), of_all);
    expect_refused([&] { subject().clone(*mapped); });
    expect_refused([&] { Clone(*mapped); });
    for (const auto combine : {subject().merge, subject().intersect}) {
      if (combine == nullptr) continue;
      const AnyFilter other = Make(10, nullptr, hash);
      RequireChangeable(*other).Insert(RandomKeys(5, /*seed=*/2));
      const auto before = Contents(*other);
      expect_refused([&] { combine(*other, *mapped); });
      EXPECT_EQ(Contents(*other), before);
    }
    const AnyFilter moved = subject().moved(*mapped);
    expect_not_saved(*moved, of_all);
    if (const auto view = ViewScalable(*moved)) expect_not_saved(*view->layers[0], damage);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "again"));
  }
}

TEST_P(FileContractTest, FilesOfOtherClassesAreRefused) {
  SmallFile();
  for (const Subject& other : Subjects()) {
    if (other.name == subject().name) continue;
    const bool other_layers = other.layered && subject().layered;
    const auto expect = [&](const auto& read) {
      ExpectFormatError([&] { read(path_); }, other_layers ? "layer kind" : "filter kind",
                        other_layers ? offset::kGeometry + 8 : offset::kFilterKind,
                        ErrorCode::kUnsupported);
    };
    expect([&](const auto& path) { other.load(path, {}); });
    expect([&](const auto& path) { other.map(path, {}); });
    EXPECT_FALSE(other.is(Load(path_)));
  }
}

TEST_P(FileContractTest, EveryBit) {
  for (const uint32_t version : kVersions) {
    const Bytes good = SmallFile(version);
    // For the oldest version, and for layers, tests only one bit of each byte.
    const bool every_bit = version == FileHeader::kNewestVersion && !subject().layered;
    for (size_t byte = 0; byte < good.size(); ++byte) {
      for (size_t bit = every_bit ? 0 : byte % 8; bit < 8; bit += every_bit ? 1 : 8) {
        const Damage damage = DamageOf(good, byte, bit);
        SCOPED_TRACE("bit " + std::to_string(bit) + " of byte " + std::to_string(byte));
        Bytes file = good;
        file[byte] = static_cast<char>(file[byte] ^ (1 << bit));
        ExpectRefused(subject(), path_, file, damage.check, damage.at, damage.by_headers,
                      damage.code);
      }
    }
  }
}

TEST_P(FileContractTest, EveryOtherLength) {
  for (const uint32_t version : kVersions) {
    const Bytes good = SmallFile(version);
    for (size_t length = 0; length < good.size(); ++length) {
      SCOPED_TRACE("length " + std::to_string(length));
      Bytes file = good;
      file.resize(length);
      ExpectRefused(subject(), path_, file, "file length", length);
    }
    for (const size_t extra : {1, 7, 32, 64, 100'000}) {
      SCOPED_TRACE("extra " + std::to_string(extra));
      Bytes file = good;
      file.resize(good.size() + extra);
      ExpectRefused(subject(), path_, file, "file length", good.size());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, FileContractTest, testing::ValuesIn(Subjects()), SubjectName());

}  // namespace tamis::contract_file_test
