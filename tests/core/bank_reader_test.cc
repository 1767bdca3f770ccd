// Readers of banks give the same answers as the mapped file, and read no more bytes than needed.
#include "tamis/bank/bank_reader.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tamis/hash_kinds.h"
#include "tamis/layout/bank.h"
#include "tests/core/file_test_util.h"
#include "tests/core/filter_bank_test_util.h"

namespace tamis::bank_reader_test {

constexpr uint64_t kPage = 16384;

// A file, with a record of the reads from it.
struct Store {
  Bytes file;
  std::vector<std::vector<std::pair<uint64_t, uint64_t>>> batches;  // ranges: offset, bytes
  size_t fail_at = SIZE_MAX;                                        // the batch that throws

  BankReadFunction function() {
    return [this](std::span<const BankRead> reads) {
      EXPECT_FALSE(reads.empty());
      auto& batch = batches.emplace_back();
      if (batches.size() > fail_at) throw std::runtime_error("no network");
      uint64_t end = 0;
      for (const BankRead& read : reads) {
        EXPECT_FALSE(read.out.empty());
        ASSERT_TRUE(batch.empty() || read.offset > end) << "neighbours are not joined";
        end = read.offset + read.out.size();
        ASSERT_LE(end, file.size());
        std::memcpy(read.out.data(), file.data() + read.offset, read.out.size());
        batch.emplace_back(read.offset, read.out.size());
      }
    };
  }
  BankReader Open(const BankReaderOptions& options = {}) {
    BankReader reader(file.size(), function(), options);
    batches.clear();
    return reader;
  }
  uint64_t BytesRead() const {
    uint64_t sum = 0;
    for (const auto& batch : batches) {
      for (const auto& [offset, bytes] : batch) sum += bytes;
    }
    return sum;
  }
  uint64_t TablesAt() const { return kPage + GetField<uint64_t>(file, 80); }
};

class BankReaderTest : public FileTest {
 protected:
  Store Save(FilterBank& bank, const SaveOptions& options = {}) {
    bank.Save(path_, options);
    return {ReadBytes(path_), {}};
  }

  const std::filesystem::path path_ = folder_ / "test.bank";
};

// Returns the offsets of the pages that queries for these keys read.
std::set<uint64_t> PagesOf(const BankReader& reader, std::span<const uint64_t> keys) {
  std::set<uint64_t> pages;
  uint64_t at = kPage;
  for (const BankGroupInfo& group : reader.groups()) {
    for (const uint64_t key : keys) {
      if (group.members == 0) break;
      const uint64_t hash = HashU64(key, reader.hash());
      pages.insert(at + kPage * split_block::BlockIndex(hash, group.num_blocks));
    }
    at += group.bytes;
  }
  return pages;
}

template <typename Bank>
std::vector<uint64_t> BitsOf(const Bank& bank, const Keys& keys, size_t& found) {
  std::vector<uint64_t> bits(keys.size() * bank.row_words() + 1, 7);
  found = bank.Contains(keys, Bitmap(bits));
  return bits;
}

void ExpectSameAnswers(const BankReader& reader, const FilterBank& bank, const Keys& keys) {
  size_t found = 0, want_found = 0;
  const std::vector<uint64_t> want = BitsOf(bank, keys, want_found);
  ASSERT_EQ(BitsOf(reader, keys, found), want);
  ASSERT_EQ(found, want_found);
  ASSERT_EQ(reader.Select(keys), bank.Select(keys));
  ASSERT_EQ(reader.CountPerMember(keys), bank.CountPerMember(keys));
}

void ExpectSameMembers(const BankReader& reader, const FilterBank& bank) {
  ASSERT_EQ(reader.num_members(), bank.num_members());
  ASSERT_EQ(reader.row_words(), bank.row_words());
  ASSERT_EQ(reader.bytes(), bank.bytes());
  ASSERT_EQ(reader.fpr(), bank.fpr());
  ASSERT_EQ(reader.hash(), bank.hash());
  const std::vector<BankMember> members = reader.members(), want = bank.members();
  ASSERT_EQ(members.size(), want.size());
  for (size_t i = 0; i < members.size(); ++i) {
    const auto same = [&](const BankMember& member) {
      return member.name == want[i].name && member.index == want[i].index &&
             member.num_blocks == want[i].num_blocks && member.capacity == want[i].capacity &&
             member.inserted == want[i].inserted && member.key_types == want[i].key_types;
    };
    ASSERT_TRUE(same(members[i]) && same(*reader.Find(members[i].name))) << i;
    ASSERT_EQ(reader.NameOf(members[i].index), want[i].name);
  }
  const std::vector<BankGroupInfo> groups = reader.groups(), want_groups = bank.groups();
  ASSERT_EQ(groups.size(), want_groups.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    ASSERT_EQ(groups[g].num_blocks, want_groups[g].num_blocks);
    ASSERT_EQ(groups[g].members, want_groups[g].members);
    ASSERT_EQ(groups[g].removed, want_groups[g].removed);
    ASSERT_EQ(groups[g].bytes, want_groups[g].bytes);
  }
}

TEST_F(BankReaderTest, AnswersEqualTheMappedFiles) {
  constexpr HashKind kKinds[] = {HashKind::kXxh3, HashKind::kXxh64, HashKind::kSipHash13};
  for (uint64_t seed = 0; seed < 9; ++seed) {
    Random random(seed);
    const HashKind kind = kKinds[seed % 3];
    const HashSpec hash = HashOf(kind, 5);
    BankModel model({.fpr = 0.001, .hash = hash});
    model.AddMany(random.Below(2000), random);
    model.bank().Flush();
    if (seed % 4 != 0) model.RemoveSome(random);
    Store store = Save(model.bank(), {.with_secret = seed >= 6 && IsKeyed(kind)});
    const auto secret = IsKeyed(kind) ? std::optional(hash.secret) : std::nullopt;
    const FilterBank mapped = FilterBank::Map(path_, {.secret = secret});
    for (const uint64_t max_bytes : {uint64_t{1} << 15, uint64_t{100'000}, uint64_t{64} << 20}) {
      for (const uint64_t gap : {uint64_t{0}, uint64_t{40'000}, UINT64_MAX}) {
        const BankReader reader = store.Open(
            {.max_bytes = max_bytes, .max_gap_bytes = gap, .secret = secret, .name = "test"});
        ExpectSameMembers(reader, mapped);
        std::vector<uint64_t> keys(random.Below(3) == 0 ? 1 : random.Below(1500));
        for (uint64_t& key : keys) key = random.Below(4000);
        ExpectSameAnswers(reader, mapped, keys);
        std::vector<uint8_t> valid(keys.size() / 8 + 2);
        std::ranges::generate(valid, [&] { return uint8_t(random()); });
        ExpectSameAnswers(reader, mapped, Keys(keys).WithValidity(valid.data(), 3));
        EXPECT_TRUE(reader.damaged().empty());
        if (HasFatalFailure()) FAIL() << "seed " << seed << ", " << max_bytes << ", gap " << gap;
      }
    }
  }
}

TEST_F(BankReaderTest, TakesKeysOfEveryForm) {
  FilterBank bank;
  const std::vector<std::string> texts = {"", "one", "two", "three and more", "4"};
  const std::vector<int32_t> numbers = {-1, 0, 1, 500};
  const std::vector<uint32_t> unsigned_numbers = {4294967295, 0, 1, 500};
  bank.Add("texts", texts);
  bank.Add("numbers", numbers);
  bank.Add("other", std::vector<std::string>{"two"});
  Store store = Save(bank);
  const FilterBank mapped = FilterBank::Map(path_);
  const BankReader reader = store.Open({.max_bytes = 1 << 15});
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const std::string bytes = "onetwothree and more";
  const std::vector<int32_t> offsets = {0, 0, 3, 6, 20};
  const std::vector<int64_t> large_offsets(offsets.begin(), offsets.end());
  const std::vector<uint64_t> hashes = {HashBytes("one", {}), HashU64(500, {})};
  const uint8_t some = 0b1010;
  // A null may point anywhere.
  std::vector<std::string_view> nulls = views;
  nulls[0] = {reinterpret_cast<const char*>(8), 100};
  for (const Keys& keys : {Keys(texts), Keys(views), Keys(numbers), Keys(unsigned_numbers),
                           Keys(Hashes{hashes}), Keys(StringColumn{bytes.data(), offsets}),
                           Keys(LargeStringColumn{bytes.data(), large_offsets}),
                           Keys(FixedColumn{bytes.data(), 3, 6}), Keys(nulls).WithValidity(&some),
                           Keys(StringColumn{bytes.data(), offsets}).WithValidity(&some)}) {
    ExpectSameAnswers(reader, mapped, keys);
  }
  std::vector<uint64_t> row(reader.row_words()), want(row);
  EXPECT_EQ(reader.Contains("two", Bitmap(row)), mapped.Contains("two", Bitmap(want)));
  EXPECT_EQ(row, want);
  EXPECT_TRUE(Bitmap(row).Test(reader.Find("other")->index));
  EXPECT_EQ(reader.Contains(uint64_t{500}, Bitmap(row)),
            mapped.Contains(uint64_t{500}, Bitmap(want)));
  EXPECT_EQ(row, want);
  EXPECT_EQ(reader.ContainsHash(hashes[0], Bitmap(row)),
            mapped.ContainsHash(hashes[0], Bitmap(want)));
  EXPECT_EQ(row, want);
}

// Makes groups of 1, 2, 3, 50 and 200 blocks. All members of the group of 2 were removed.
FilterBank FiveGroups(Random& random) {
  FilterBank bank;
  for (const uint64_t blocks : {1, 2, 3, 50, 200}) {
    bank.Add(blocks, RandomFilter(blocks, random));
    bank.Add(1000 + blocks, RandomFilter(blocks, random));
    bank.Flush();
  }
  bank.Remove(2);
  bank.Remove(1002);
  bank.Remove(3);
  return bank;
}

TEST_F(BankReaderTest, ReadsEachPageThatIsNeededOnce) {
  Random random(/*seed=*/1);
  FilterBank bank = FiveGroups(random);
  Store store = Save(bank);
  BankReader reader(store.file.size(), store.function());
  // To open the bank, the reader reads the start and the tables.
  using Ranges = std::vector<std::vector<std::pair<uint64_t, uint64_t>>>;
  EXPECT_EQ(store.batches,
            (Ranges{{{0, kPage}}, {{store.TablesAt(), store.file.size() - store.TablesAt()}}}));
  for (const size_t n : {1, 2, 10, 100, 5000}) {
    std::vector<uint64_t> keys(n);
    for (uint64_t& key : keys) key = random();
    keys.push_back(keys[0]);
    const std::set<uint64_t> want = PagesOf(reader, keys);
    if (n == 1) {
      EXPECT_EQ(want.size(), 4u);
    }
    for (int form = 0; form < 3; ++form) {
      store.batches.clear();
      if (form == 0) {
        std::vector<uint64_t> bits(keys.size() * reader.row_words());
        reader.Contains(keys, Bitmap(bits));
      } else if (form == 1) {
        reader.Select(keys);
      } else {
        reader.CountPerMember(keys);
      }
      ASSERT_EQ(store.batches.size(), 1u);  // all in one batch
      std::set<uint64_t> pages;
      for (const auto& [offset, bytes] : store.batches[0]) {
        for (uint64_t at = offset; at < offset + bytes; at += kPage) pages.insert(at);
      }
      EXPECT_EQ(pages, want);
      EXPECT_EQ(store.BytesRead(), want.size() * kPage);
    }
  }
}

TEST_F(BankReaderTest, JoinsPagesWithSmallGaps) {
  Random random(/*seed=*/2);
  FilterBank bank;
  bank.Add("a", RandomFilter(100, random));
  Store store = Save(bank);
  // Hashes whose blocks are 3, 4, 6, 9 and 90.
  const std::vector<uint64_t> blocks = {90, 3, 6, 9, 4};
  std::vector<uint64_t> hashes;
  for (const uint64_t block : blocks) {
    hashes.push_back(((block << 32) / 100 + 1) << 32);
    ASSERT_EQ(split_block::BlockIndex(hashes.back(), 100), block);
  }
  const auto ranges = [&](uint64_t gap, uint64_t max_bytes = uint64_t{64} << 20) {
    store.batches.clear();
    const BankReader reader = store.Open({.max_bytes = max_bytes, .max_gap_bytes = gap});
    EXPECT_EQ(reader.CountPerMember(Hashes{hashes}), bank.CountPerMember(Hashes{hashes}));
    std::vector<std::vector<std::pair<uint64_t, uint64_t>>> pages;
    for (const auto& batch : store.batches) {
      pages.emplace_back();
      for (const auto& [at, bytes] : batch)
        pages.back().emplace_back(at / kPage - 1, bytes / kPage);
    }
    return pages;
  };
  using Ranges = decltype(ranges(0));
  EXPECT_EQ(ranges(0), (Ranges{{{3, 2}, {6, 1}, {9, 1}, {90, 1}}}));
  EXPECT_EQ(ranges(kPage - 1), (Ranges{{{3, 2}, {6, 1}, {9, 1}, {90, 1}}}));
  EXPECT_EQ(ranges(kPage), (Ranges{{{3, 4}, {9, 1}, {90, 1}}}));
  EXPECT_EQ(ranges(2 * kPage), (Ranges{{{3, 7}, {90, 1}}}));
  EXPECT_EQ(ranges(UINT64_MAX), (Ranges{{{3, 88}}}));
  // Reads that do not fit form another batch, and nothing is read between batches.
  EXPECT_EQ(ranges(UINT64_MAX, 5 * kPage), (Ranges{{{3, 4}}, {{9, 1}}, {{90, 1}}}));
  EXPECT_EQ(ranges(0, 3 * kPage), (Ranges{{{3, 2}}, {{6, 1}, {9, 1}}, {{90, 1}}}));
  EXPECT_EQ(ranges(0, 2 * kPage), (Ranges{{{3, 1}}, {{4, 1}}, {{6, 1}}, {{9, 1}}, {{90, 1}}}));
}

TEST_F(BankReaderTest, HoldsNoMoreThanItMay) {
  Random random(/*seed=*/3);
  FilterBank bank = FiveGroups(random);
  Store store = Save(bank);
  std::vector<uint64_t> keys(5000);
  for (uint64_t& key : keys) key = random();
  for (const uint64_t gap : {uint64_t{0}, uint64_t{100'000}}) {
    for (const uint64_t max_bytes : {32768, 50'000, 200'000, 1'000'000}) {
      const BankReader reader = store.Open({.max_bytes = max_bytes, .max_gap_bytes = gap});
      ExpectSameAnswers(reader, bank, keys);
      store.batches.clear();
      reader.CountPerMember(keys);
      const uint64_t slice = std::min<uint64_t>(max_bytes / 32, keys.size());
      uint64_t largest = 0;
      for (const auto& batch : store.batches) {
        uint64_t bytes = 0;
        for (const auto& range : batch) bytes += range.second;
        largest = std::max(largest, bytes);
      }
      EXPECT_LE(largest + 16 * slice, max_bytes);
      EXPECT_GT(largest + 16 * slice + kPage, std::min<uint64_t>(max_bytes, 254 * kPage));
      // Each slice reads each page once.
      uint64_t want = 0;
      for (size_t begin = 0; begin < keys.size(); begin += slice) {
        const std::span part = std::span(keys).subspan(begin);
        want += kPage * PagesOf(reader, part.first(std::min<size_t>(slice, part.size()))).size();
      }
      EXPECT_GE(store.BytesRead(), want);
      if (gap == 0) {
        EXPECT_EQ(store.BytesRead(), want);
      }
    }
  }
  store.batches.clear();
  ExpectError([&] { store.Open({.max_bytes = 32767}); }, ErrorCode::kInvalidArgument, "32768");
  EXPECT_TRUE(store.batches.empty());
  ExpectError([&] { BankReader(store.file.size(), nullptr); }, ErrorCode::kInvalidArgument, "");
}

TEST_F(BankReaderTest, DamagedPagesAnswerMaybeAndAreNamed) {
  Random random(/*seed=*/4);
  FilterBank bank = FiveGroups(random);
  const Store whole = Save(bank);
  std::vector<uint64_t> keys(300);
  for (uint64_t& key : keys) key = random();
  const std::vector<BankGroupInfo> groups = bank.groups();
  const uint64_t pages = (whole.TablesAt() - kPage) / kPage;
  for (uint64_t page = 0; page < pages; page += 1 + random.Below(5)) {
    Store store = whole;
    char& byte = store.file[kPage + page * kPage + random.Below(kPage)];
    byte = static_cast<char>(byte ^ 4);
    const BankReader reader = store.Open({.max_bytes = 100'000});
    // Finds the group of the page.
    uint64_t g = 0, block = page;
    for (; block >= groups[g].num_blocks; ++g) block -= groups[g].num_blocks;
    std::vector<uint64_t> want(keys.size() * bank.row_words()), got(want), row(bank.row_words());
    bank.Contains(keys, Bitmap(want));
    bool is_asked = false;
    for (size_t i = 0; i < keys.size(); ++i) {
      const uint64_t hash = HashU64(keys[i], {});
      if (groups[g].members == 0) continue;
      if (split_block::BlockIndex(hash, groups[g].num_blocks) != block) continue;
      is_asked = true;
      for (const BankMember& member : bank.members()) {
        if (member.index / 512 != g) continue;
        want[i * bank.row_words() + member.index / 64] |= uint64_t{1} << (member.index % 64);
      }
    }
    size_t found = 0, hits = 0;
    for (const uint64_t word : want) hits += size_t(std::popcount(word));
    found = reader.Contains(keys, Bitmap(got));
    EXPECT_EQ(got, want);
    EXPECT_EQ(found, hits);
    EXPECT_EQ(reader.Select(keys).size(), hits);
    std::vector<uint64_t> counts(64 * bank.row_words());
    for (size_t i = 0; i < want.size(); ++i) {
      for (size_t b = 0; b < 64; ++b) {
        counts[i % bank.row_words() * 64 + b] += (want[i] >> b) & 1;
      }
    }
    EXPECT_EQ(reader.CountPerMember(keys), counts);
    std::vector<BankDamage> damaged;
    if (is_asked) damaged.push_back({g, block, kPage + page * kPage, kPage});
    EXPECT_EQ(reader.damaged(), damaged);
    if (HasFailure()) FAIL() << "page " << page;
  }
}

// The read function returns zeros, another page, or no bytes. The reader detects this, and answers
// "maybe" for all keys and members.
TEST_F(BankReaderTest, ReadFunctionsThatReturnWrongBytes) {
  Random random(/*seed=*/5);
  FilterBank bank = FiveGroups(random);
  const Store whole = Save(bank);
  std::vector<uint64_t> keys(3000);
  for (uint64_t& key : keys) key = random();
  for (int what = 0; what < 3; ++what) {
    Store store = whole;
    bool opened = false;
    const BankReadFunction honest = store.function();
    const BankReader reader(store.file.size(), [&](std::span<const BankRead> reads) {
      if (!opened) return honest(reads);
      for (const BankRead& read : reads) {
        if (what == 0) std::ranges::fill(read.out, std::byte{0});
        if (what == 1) {
          const uint64_t other = read.offset == kPage ? 2 * kPage : read.offset - kPage;
          std::memcpy(read.out.data(), store.file.data() + other, read.out.size());
        }
      }
    });
    opened = true;
    const std::vector<uint64_t> counts = reader.CountPerMember(keys);
    for (const BankMember& member : bank.members()) {
      EXPECT_EQ(counts[member.index], keys.size()) << member.name;
    }
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), uint64_t{0}),
              keys.size() * bank.num_members());
    EXPECT_EQ(reader.damaged().size(), PagesOf(reader, keys).size());
  }
}

TEST_F(BankReaderTest, OtherDamageIsFoundWhenItIsOpenedAsByMap) {
  Random random(/*seed=*/6);
  FilterBank bank;
  bank.Add("a", RandomFilter(1, random));
  bank.Add("a longer name", RandomFilter(2, random));
  const Store whole = Save(bank);
  const auto expect_as_mapped = [&](Store& store, const std::string& what) {
    WriteBytes(path_, store.file);
    try {
      FilterBank::Map(path_);
      ADD_FAILURE() << what << " is accepted";
    } catch (const FormatError& error) {
      ExpectFormatError([&] { store.Open({.name = "the store's"}); }, error.check(), error.offset(),
                        error.code());
      ExpectError([&] { store.Open({.name = "the store's"}); }, error.code(), "the store's: ");
    }
    ASSERT_FALSE(HasFailure()) << what;
  };
  for (size_t at = 0; at < whole.file.size(); ++at) {
    if (at >= kPage && at < whole.TablesAt()) at = whole.TablesAt();
    if (at >= 192 && at < kPage && at % 499 != 0) continue;
    if (at > whole.TablesAt() && at % 7 != 0) continue;
    Store store = whole;
    store.file[at] = static_cast<char>(store.file[at] ^ 0x10);
    expect_as_mapped(store, "byte " + std::to_string(at));
  }
  for (size_t length = 1; length < whole.file.size(); ++length) {
    if (length > 200 && length % 1009 != 0) continue;
    Store store = whole;
    store.file.resize(length);
    expect_as_mapped(store, "length " + std::to_string(length));
  }
  Store none;
  ExpectFormatError([&] { none.Open(); }, "file length", 0);
  Store longer = whole;
  longer.file.push_back(0);
  expect_as_mapped(longer, "a longer file");
}

// A header that claims 4 TiB of tables, with a right checksum.
TEST_F(BankReaderTest, TablesThatDoNotFitAreAnError) {
  FilterBank bank;
  Store store = Save(bank);
  constexpr uint64_t kPayload = uint64_t{1} << 53;
  SetField(store.file, 80, kPayload);
  SetField(store.file, 184, uint64_t{XXH3_64bits(store.file.data(), 184)});
  const uint64_t length = kPage + kPayload + kPayload / kPage * 8;
  ExpectError([&] { BankReader(length, store.function()); }, ErrorCode::kOutOfMemory, "");
  ASSERT_EQ(store.batches.size(), 1u);
}

TEST_F(BankReaderTest, PassesOnExceptionsOfTheFunction) {
  Random random(/*seed=*/7);
  FilterBank bank = FiveGroups(random);
  Store store = Save(bank);
  for (const size_t fail_at : {0, 1}) {
    store.batches.clear();
    store.fail_at = fail_at;
    EXPECT_THROW(BankReader(store.file.size(), store.function()), std::runtime_error);
  }
  store.fail_at = SIZE_MAX;
  const BankReader reader = store.Open({.max_bytes = 200'000});
  std::vector<uint64_t> keys(1000);
  for (uint64_t& key : keys) key = random();
  reader.Select(keys);
  const size_t batches = store.batches.size();
  ASSERT_GT(batches, 10u);
  for (const size_t fail_at : {size_t{0}, size_t{1}, batches / 2, batches - 1}) {
    store.batches.clear();
    store.fail_at = fail_at;
    EXPECT_THROW(reader.Select(keys), std::runtime_error);
    EXPECT_EQ(store.batches.size(), fail_at + 1);
    store.fail_at = SIZE_MAX;
    ExpectSameAnswers(reader, bank, keys);
    EXPECT_TRUE(reader.damaged().empty());
  }
}

TEST_F(BankReaderTest, NothingIsReadForNothing) {
  FilterBank empty;
  Store store = Save(empty);
  const std::vector<uint64_t> keys = {1, 2, 3}, no_keys;
  std::vector<uint64_t> none;
  {
    const BankReader reader = store.Open();
    ExpectSameMembers(reader, empty);
    EXPECT_EQ(reader.Contains(keys, Bitmap(none)), 0u);
    EXPECT_TRUE(reader.Select(keys).empty());
    EXPECT_TRUE(reader.CountPerMember(keys).empty());
    ExpectError([&] { reader.NameOf(0); }, ErrorCode::kInvalidArgument, "index 0");
    EXPECT_FALSE(reader.Find("a"));
    EXPECT_TRUE(store.batches.empty());
  }
  Random random(/*seed=*/8);
  FilterBank bank = FiveGroups(random);
  store = Save(bank);
  const BankReader reader = store.Open();
  EXPECT_EQ(reader.Contains(no_keys, Bitmap(none)), 0u);
  ExpectSameAnswers(reader, bank, no_keys);
  const uint8_t no_bits = 0;
  ExpectSameAnswers(reader, bank, Keys(keys).WithValidity(&no_bits));
  // An output that is too small is an error before anything is read.
  std::vector<uint64_t> row(3 * bank.row_words() - 1, 7);
  ExpectError([&] { reader.Contains(keys, Bitmap(row)); }, ErrorCode::kInvalidArgument, "");
  ExpectError([&] { reader.Contains(uint64_t{1}, Bitmap({})); }, ErrorCode::kInvalidArgument, "");
  EXPECT_EQ(row, std::vector<uint64_t>(row.size(), 7));
  EXPECT_TRUE(store.batches.empty());
  ExpectError([&] { reader.NameOf(512 + 0); }, ErrorCode::kInvalidArgument, "index 512");
  ExpectError([&] { reader.NameOf(UINT64_MAX); }, ErrorCode::kInvalidArgument, "index");
}

TEST_F(BankReaderTest, NeedsTheSecretOfItsHash) {
  const HashSpec hash = RandomKeyedHash();
  FilterBank bank({.hash = hash});
  bank.Add("a", std::vector<uint64_t>{1, 2, 3});
  Store store = Save(bank);
  ExpectError([&] { store.Open(); }, ErrorCode::kSecret, "the bank");
  ExpectError([&] { store.Open({.secret = HashSecret{1, 2}}); }, ErrorCode::kSecret, "");
  ExpectSameAnswers(store.Open({.secret = hash.secret}), bank, std::vector<uint64_t>{1, 2, 3, 4});
}

TEST_F(BankReaderTest, AnyNumberOfThreadsMayAsk) {
  Random random(/*seed=*/9);
  FilterBank bank = FiveGroups(random);
  Store store = Save(bank);
  std::atomic<size_t> batches{0};
  BankReader opened(store.file.size(),
                    [&](std::span<const BankRead> reads) {
                      ++batches;
                      for (const BankRead& read : reads) {
                        std::memcpy(read.out.data(), store.file.data() + read.offset,
                                    read.out.size());
                      }
                    },
                    {.max_bytes = 200'000});
  const BankReader reader = std::move(opened);
  store.file[kPage] ^= 1;  // the only page of the first group
  std::vector<uint64_t> keys(500);
  for (uint64_t& key : keys) key = random();
  std::vector<uint64_t> want = bank.CountPerMember(keys);
  want[0] = want[1] = keys.size();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(reader.CountPerMember(keys), want);
        EXPECT_EQ(reader.damaged().size(), 1u);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(batches.load(), 20u);
  EXPECT_EQ(reader.damaged(), (std::vector<BankDamage>{{0, 0, kPage, kPage}}));
}

}  // namespace tamis::bank_reader_test
