// Opens untrusted bytes as a filter bank: by loading, by mapping, and by reading ranges. For any
// bytes, the outcome is a FormatError, the same in every way, or a bank that can be queried. An
// accepted file equals the file that the library itself would write.
//
// An input that begins with `c` is a bank without most of the bytes of a file. After the `c` follow
// the header, 1 byte with the number of pages of rows, and the directory. Rows and checksums are
// generated. Any other input is a file. seeds/bank has some inputs of the first kind.
#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bank/src/bank_file.h"
#include "core/src/file/file_format.h"
#include "tamis/bank/bank_reader.h"
#include "tamis/bank/filter_bank.h"
#include "tamis/error.h"
#include "tests/fuzz/memory_file.h"

namespace tamis {
namespace {

namespace offset = detail::offset;
constexpr uint64_t kPage = bank::kBlockBytes;

// The secret for every bank with a keyed hash whose file lacks the secret. This secret is rarely
// the right one.
constexpr HashSecret kSecret = {1, 2};

// The outcome of opening a bank: "" or the problem with its bytes.
template <typename Open>
std::string Outcome(const Open& open) {
  try {
    open();
    return {};
  } catch (const FormatError& error) {
    return error.check() + " at " + std::to_string(error.offset());
  } catch (const Error& error) {
    Require(error.code() == ErrorCode::kSecret);
    return ErrorCodeName(error.code());
  }
}

struct Answers {
  std::vector<uint64_t> bits;
  std::vector<BankHit> hits;
  std::vector<uint64_t> counts;

  bool operator==(const Answers&) const = default;
};

constexpr size_t kKeys = 40;

uint64_t KeyOf(size_t i) { return i * i * i; }
// A bit is 0 for a null.
constexpr uint8_t kValid[kKeys / 8] = {0xFF, 0xFF, 0x7F, 0xFF, 0xFE};

// Queries the first n keys.
template <typename Bank>
Answers Ask(const Bank& bank, size_t n) {
  uint64_t values[kKeys];
  for (size_t i = 0; i < n; ++i) values[i] = KeyOf(i);
  const Keys keys = Keys(std::span<const uint64_t>(values, n)).WithValidity(kValid);
  Answers answers;
  answers.bits.resize(n * bank.row_words());
  const size_t found = bank.Contains(keys, Bitmap(answers.bits));
  answers.hits = bank.Select(keys);
  answers.counts = bank.CountPerMember(keys);
  Require(found == answers.hits.size());
  uint64_t sum = 0;
  for (const uint64_t count : answers.counts) sum += count;
  Require(sum == found);
  for (const BankHit& hit : answers.hits) {
    Require(hit.key < n && !bank.NameOf(hit.member).empty());
  }
  return answers;
}

template <typename Bank>
void AskForMembers(const Bank& bank) {
  const std::vector<BankMember> members = bank.members();
  Require(members.size() == bank.num_members());
  for (const BankMember& member : members) {
    Require(bank.Find(member.name)->index == member.index);
  }
  uint64_t bytes = 0, in_groups = 0;
  for (const BankGroupInfo& group : bank.groups()) {
    bytes += group.bytes;
    in_groups += group.members;
  }
  Require(bytes == bank.bytes() && in_groups == members.size());
}

// Returns the contents of a file, which must equal the file that the library would write.
detail::BankFile RequireSealed(const Bytes& bytes) {
  const std::span all = std::as_bytes(std::span(bytes));
  const detail::BankFile file = detail::ReadBankFile(
      bytes.size(),
      [&](std::span<std::byte> out, uint64_t at) {
        std::ranges::copy(all.subspan(at, out.size()), out.begin());
      },
      "input");
  const detail::SealedBank sealed = detail::SealBank(file);
  Require(std::ranges::equal(sealed.start, all.first(sealed.start.size())));
  Require(std::ranges::equal(sealed.tables, all.last(sealed.tables.size())));
  Require(sealed.start.size() + file.pages.size() * kPage + sealed.tables.size() == bytes.size());
  return file;
}

// Changes the answers of a mapped file into the answers of a reader. If a page does not match its
// checksum, a reader answers "maybe" for all members and the keys of the page. Returns these pages.
std::vector<BankDamage> AddDamage(const Bytes& bytes, const detail::BankFile& file,
                                  const HashSpec& hash, size_t n, std::vector<uint64_t>& bits) {
  std::vector<BankDamage> damaged;
  for (size_t g = 0; g < file.groups.size(); ++g) {
    const detail::BankFile::Group& group = file.groups[g];
    if (detail::CountSet(group.live) == 0) continue;
    for (uint64_t block = 0; block < group.num_blocks; ++block) {
      const uint64_t page = group.first_page + block;
      const uint64_t at = (1 + page) * kPage;
      if (XXH3_64bits(bytes.data() + at, kPage) == file.pages[page]) continue;
      bool is_asked = false;
      for (size_t i = 0; i < n; ++i) {
        if ((kValid[i / 8] >> (i % 8) & 1) == 0) continue;
        if (split_block::BlockIndex(HashU64(KeyOf(i), hash), group.num_blocks) != block) continue;
        is_asked = true;
        std::ranges::copy(group.live,
                          bits.begin() + static_cast<ptrdiff_t>(8 * (i * file.groups.size() + g)));
      }
      if (is_asked) damaged.push_back({g, block, at, kPage});
    }
  }
  return damaged;
}

BankReader OpenReader(const Bytes& bytes, const BankReaderOptions& options) {
  return BankReader(
      bytes.size(),
      [&bytes](std::span<const BankRead> reads) {
        uint64_t end = 0;
        for (const BankRead& read : reads) {
          Require(!read.out.empty() && read.offset >= end);
          end = read.offset + read.out.size();
          Require(end <= bytes.size() && end > read.offset);
          std::memcpy(read.out.data(), bytes.data() + read.offset, read.out.size());
        }
      },
      options);
}

void OpenInEveryWay(const Bytes& bytes) {
  static MemoryFile file;
  const std::string path = file.Write(bytes);
  std::optional<HashSecret> secret;
  const auto map = [&](Verify verify) {
    return FilterBank::Map(path, {.verify = verify, .secret = secret});
  };
  std::string outcome = Outcome([&] { map(Verify::kHeader); });
  if (outcome == ErrorCodeName(ErrorCode::kSecret)) {
    secret = kSecret;
    outcome = Outcome([&] { map(Verify::kHeader); });
  }
  // Only a few pages at a time, with small gaps.
  const BankReaderOptions options = {
      .max_bytes = 4 * kPage, .max_gap_bytes = bytes.size() % 3 * kPage, .secret = secret};
  Require(Outcome([&] { OpenReader(bytes, options); }) == outcome);
  const std::string whole = Outcome([&] { FilterBank::Load(path, {.secret = secret}); });
  Require(Outcome([&] { map(Verify::kFull); }) == whole);
  if (!outcome.empty()) {
    Require(whole == outcome);
    return;
  }
  const detail::BankFile parsed = RequireSealed(bytes);
  const FilterBank mapped = map(Verify::kHeader);
  AskForMembers(mapped);
  for (const size_t n : {size_t{1}, size_t{3}, kKeys}) {
    const BankReader reader = OpenReader(bytes, options);
    AskForMembers(reader);
    const Answers got = Ask(reader, n);
    Answers want = Ask(mapped, n);
    const std::vector<BankDamage> damaged = AddDamage(bytes, parsed, mapped.hash(), n, want.bits);
    Require(got.bits == want.bits && reader.damaged() == damaged);
    Require(!damaged.empty() || got == want);
    Require(damaged.empty() || whole.starts_with("page checksum at "));
  }
  if (!whole.empty()) {
    Require(whole.starts_with("page checksum at "));
    return;
  }
  FilterBank loaded = FilterBank::Load(path, {.secret = secret});
  AskForMembers(loaded);
  Require(Ask(loaded, kKeys) == Ask(mapped, kKeys));
  const std::vector<BankMember> members = loaded.members();
  for (size_t i = 0; i < std::min<size_t>(members.size(), 3); ++i) {
    Require(loaded.Extract(members[i].name).payload().size() == 32 * members[i].num_blocks);
  }
  if (!members.empty()) Require(loaded.Remove(members[0].name));
  const std::string name = "a name that is not one of those";
  if (!loaded.Find(name)) loaded.Add(name, std::vector<uint64_t>{1, 2, 3});
  loaded.Compact();
  Ask(loaded, kKeys);
}

template <typename T>
T Get(const Bytes& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

template <typename T>
void Put(Bytes& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

// The end of the payload by the header, limited by the number of bytes.
uint64_t TablesAt(const Bytes& bytes) {
  const uint64_t room = (bytes.size() - kPage) / kPage * kPage;
  return kPage + std::min(Get<uint64_t>(bytes, offset::kPayloadLength) / kPage * kPage, room);
}

// Corrects checksums, which no mutation can do.
void SealPages(Bytes& bytes) {
  const uint64_t tables_at = TablesAt(bytes);
  for (uint64_t at = kPage; at < tables_at; at += kPage) {
    const uint64_t entry = tables_at + (at / kPage - 1) * 8;
    if (entry + 8 > bytes.size()) return;
    Put(bytes, entry, uint64_t{XXH3_64bits(bytes.data() + at, kPage)});
  }
}

void SealTables(Bytes& bytes) {
  const uint64_t at = TablesAt(bytes);
  const XXH128_hash_t checksum = XXH3_128bits(bytes.data() + at, bytes.size() - at);
  Put(bytes, offset::kPayloadChecksum, uint64_t{checksum.low64});
  Put(bytes, offset::kPayloadChecksum + 8, uint64_t{checksum.high64});
}

void SealHeader(Bytes& bytes) {
  const size_t at = offset::HeaderChecksum(2);
  Put(bytes, at, uint64_t{XXH3_64bits(bytes.data(), at)});
}

// Makes the file of an input without rows. Lengths are corrected, unless the last byte of the
// length of the directory prevents it.
Bytes Expand(std::span<const uint8_t> input) {
  constexpr size_t kHeader = detail::kHeaderBytes2;
  if (input.size() <= kHeader) return {};
  Bytes bytes(input.begin(), input.begin() + kHeader);
  const uint64_t pages = input[kHeader] % 8;
  const std::span directory = input.subspan(kHeader + 1);
  bytes.resize(kPage);
  for (uint64_t page = 0; page < pages; ++page) {
    // Rows with three of four bits set, so that some keys have some members.
    for (uint64_t i = 0; i < kPage; ++i) {
      bytes.push_back(static_cast<uint8_t>(0xEE | (i * 37 + page + (i >> 8))));
    }
  }
  bytes.resize(bytes.size() + 8 * pages);
  bytes.insert(bytes.end(), directory.begin(), directory.end());
  if (bytes[offset::kCapacity + 7] != 0xFF) {
    Put(bytes, offset::kCapacity, uint64_t{directory.size()});
    Put(bytes, offset::kPayloadLength, pages * kPage);
  }
  return bytes;
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tamis;
  const bool is_compact = size > 0 && data[0] == 'c';
  Bytes bytes = is_compact ? Expand({data + 1, size - 1}) : Bytes(data, data + size);
  if (!is_compact) OpenInEveryWay(bytes);
  if (bytes.size() < kPage) return 0;
  // Repeats this with correct checksums of the header, of the tables, and of the pages.
  if (!is_compact) {
    SealHeader(bytes);
    OpenInEveryWay(bytes);
  }
  for (const bool seal_pages : {false, true}) {
    if (seal_pages) SealPages(bytes);
    SealTables(bytes);
    SealHeader(bytes);
    OpenInEveryWay(bytes);
  }
  return 0;
}
