#include "bank/src/bank_file.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/src/file/field_check.h"
#include "core/src/file/file_format.h"
#include "core/src/file/file_kind.h"
#include "core/src/file/header_fields.h"
#include "core/src/file/key_tag.h"
#include "tamis/detail/str_cat.h"
#include "tamis/file/file_checks.h"
#include "tamis/file/filter_kind_name.h"
#include "tamis/filters/sizing.h"

namespace tamis::detail {
namespace {

namespace fs = std::filesystem;

// Header fields whose meaning differs from their meaning for filters.
namespace at {
constexpr size_t kGroups = offset::kGeometry;
constexpr size_t kMembers = offset::kGeometry + 8;
constexpr size_t kGroupMembers = offset::kGeometry + 16;
constexpr size_t kDirectoryLength = offset::kBankDirectoryLength;
constexpr size_t kFpr = offset::kInserted;
}  // namespace at

constexpr uint32_t kVersion = 2;
static_assert(kBankPayloadAt == bank::kBlockBytes);  // so that blocks are aligned
constexpr int kLog2BlockBytes = std::countr_zero(bank::kBlockBytes);
constexpr uint64_t kMaxPayload = uint64_t{1} << 54;
constexpr uint64_t kMaxDirectory = uint64_t{1} << 42;
// For tables larger than this, the available memory is checked before they are read. For smaller
// tables the check would take as long as reading them.
constexpr uint64_t kLargeTables = uint64_t{16} << 20;
constexpr size_t kMaskBytes = sizeof(MemberMask);
constexpr size_t kGroupEntry = 8 + 2 * kMaskBytes;
constexpr size_t kMemberEntry = 24;  // bytes of the entry of a member, without its name

constexpr uint64_t Padded8(uint64_t bytes) { return (bytes + 7) / 8 * 8; }

uint64_t PageChecksum(std::span<const std::byte> blocks, uint64_t page) {
  return XXH3_64bits(blocks.data() + page * bank::kBlockBytes, bank::kBlockBytes);
}

std::array<uint64_t, 2> TablesChecksum(std::span<const std::byte> tables) {
  const XXH128_hash_t checksum = XXH3_128bits(tables.data(), tables.size());
  return {checksum.low64, checksum.high64};
}

struct BankHeader {
  FileHeader header;
  uint64_t groups, members, directory_bytes;
  double fpr;

  uint64_t num_pages() const { return header.payload_bytes / bank::kBlockBytes; }
  uint64_t tables_at() const { return kBankPayloadAt + header.payload_bytes; }
  uint64_t directory_at() const { return tables_at() + num_pages() * sizeof(uint64_t); }
  uint64_t end() const { return BankEnd(header.payload_bytes, directory_bytes); }
};

BankHeader DecodeBankHeader(std::span<const std::byte> start, const FieldCheck& check) {
  BankHeader bank{};
  FileHeader& header = bank.header;
  header.version = CheckFrame(start, check);
  const auto kind = GetField<uint32_t>(start, offset::kFilterKind);
  if (FindFileKind(static_cast<FilterKind>(kind)) != nullptr) {
    check.Fail(ErrorCode::kUnsupported, "filter kind", offset::kFilterKind,
               std::string("the file is a single filter, of kind ") +
                   FilterKindName(static_cast<FilterKind>(kind)) +
                   ", not a bank: open the file with Load or `tamis query`");
  }
  check.Equal("filter kind", offset::kFilterKind, kind, kBankFileKind, ErrorCode::kUnsupported);
  check.Equal("version", offset::kVersion, header.version, kVersion, ErrorCode::kUnsupported);
  bank.groups = GetField<uint64_t>(start, at::kGroups);
  bank.members = GetField<uint64_t>(start, at::kMembers);
  check.InRange("groups", at::kGroups, bank.groups, 0, kMaxBankGroups);
  check.InRange("members", at::kMembers, bank.members, 0, bank::kGroupMembers * bank.groups);
  check.Equal("group members", at::kGroupMembers, GetField<uint64_t>(start, at::kGroupMembers),
              bank::kGroupMembers, ErrorCode::kUnsupported);
  header.hash.kind = GetField<HashKind>(start, offset::kHashKind);
  header.hash.seed = GetField<uint64_t>(start, offset::kSeed);
  CheckHashKind(header, check);
  bank.directory_bytes = GetField<uint64_t>(start, at::kDirectoryLength);
  check.InRange("directory length", at::kDirectoryLength, bank.directory_bytes,
                kGroupEntry * bank.groups, kMaxDirectory);
  bank.fpr = GetField<double>(start, at::kFpr);
  if (!(bank.fpr >= kMinFpr && bank.fpr <= kMaxFpr)) {
    check.Fail(ErrorCode::kCorrupt, "fpr", at::kFpr, "is out of range");
  }
  check.Equal("payload offset", offset::kPayloadOffset,
              GetField<uint64_t>(start, offset::kPayloadOffset), kBankPayloadAt);
  header.payload_bytes = GetField<uint64_t>(start, offset::kPayloadLength);
  check.InRange("payload length", offset::kPayloadLength, header.payload_bytes, 0, kMaxPayload);
  if (header.payload_bytes % bank::kBlockBytes != 0) {
    check.Fail(ErrorCode::kCorrupt, "payload length", offset::kPayloadLength,
               StrCat("is ", header.payload_bytes, ", must be a multiple of ", bank::kBlockBytes));
  }
  header.payload_checksum =
      GetField<decltype(header.payload_checksum)>(start, offset::kPayloadChecksum);
  check.Equal("key types", offset::kKeyTypes, GetField<uint32_t>(start, offset::kKeyTypes), 0);
  DecodeSecret(start, check, header);
  check.Equal("page size", offset::kLog2PageBytes,
              GetField<uint32_t>(start, offset::kLog2PageBytes), kLog2BlockBytes,
              ErrorCode::kUnsupported);
  for (size_t i = offset::Reserved(kVersion); i < offset::HeaderChecksum(kVersion);
       i += sizeof(uint32_t)) {
    check.Equal("reserved bytes", i, GetField<uint32_t>(start, i), 0);
  }
  return bank;
}

// Reads the fields of a directory in order.
class DirectoryReader {
 public:
  // `begin` is the offset of the directory in the file.
  DirectoryReader(std::span<const std::byte> bytes, uint64_t begin, const FieldCheck& check)
      : bytes_(bytes), begin_(begin), check_(check) {}

  uint64_t at() const { return begin_ + done_; }
  size_t left() const { return bytes_.size() - done_; }

  template <typename T>
  T Take(const char* field) {
    return GetField<T>(TakeBytes(field, sizeof(T)), 0);
  }

  std::span<const std::byte> TakeBytes(const char* field, size_t n) {
    if (n > left()) {
      check_.Fail(ErrorCode::kCorrupt, field, at(), "the directory ends within this field");
    }
    done_ += n;
    return bytes_.subspan(done_ - n, n);
  }

 private:
  std::span<const std::byte> bytes_;
  uint64_t begin_;
  const FieldCheck& check_;
  size_t done_ = 0;
};

MemberData TakeMember(DirectoryReader& directory, const FieldCheck& check) {
  MemberData member;
  const uint64_t start = directory.at();
  member.capacity = directory.Take<uint64_t>("capacity");
  check.InRange("capacity", start, member.capacity, 1, UINT64_MAX);
  member.inserted = directory.Take<uint64_t>("inserted");
  const auto types = directory.Take<uint32_t>("key types");
  check.InRange("key types", start + 16, types, 0, (1u << KeyTypes::kCount) - 1);
  member.key_types = KeyTypes::FromBits(static_cast<uint16_t>(types));
  const auto length = directory.Take<uint32_t>("name length");
  check.InRange("name length", start + 20, length, 1, MemberName::kMaxBytes);
  const std::span<const std::byte> name = directory.TakeBytes("name", Padded8(length));
  member.name.assign(reinterpret_cast<const char*>(name.data()), length);
  for (size_t i = length; i < name.size(); ++i) {
    check.Equal("padding", start + kMemberEntry + i, std::to_integer<uint64_t>(name[i]), 0);
  }
  return member;
}

void ReadDirectory(DirectoryReader& directory, const BankHeader& bank, const FieldCheck& check,
                   BankFile& file) {
  file.groups.resize(bank.groups);
  uint64_t pages = 0, members = 0;
  for (BankFile::Group& group : file.groups) {
    const uint64_t start = directory.at();
    group.num_blocks = directory.Take<uint64_t>("blocks");
    const uint64_t most = std::min(split_block::kMaxBlocks32, bank.num_pages() - pages);
    check.InRange("blocks", start, group.num_blocks, 1, most);
    group.first_page = pages;
    pages += group.num_blocks;
    group.live = directory.Take<MemberMask>("members");
    group.filled = directory.Take<MemberMask>("filled members");
    for (size_t w = 0; w < group.live.size(); ++w) {
      if ((group.live[w] & ~group.filled[w]) != 0) {
        check.Fail(ErrorCode::kCorrupt, "filled members", start + 8 + kMaskBytes + 8 * w,
                   "does not include all members of the group");
      }
    }
    members += CountSet(group.live);
  }
  check.Equal("payload length", offset::kPayloadLength, bank.header.payload_bytes,
              pages * tamis::bank::kBlockBytes);
  check.Equal("members", at::kMembers, bank.members, members);
  std::set<std::string_view> names;  // not hashed: see FilterBank::Impl::names
  for (BankFile::Group& group : file.groups) {
    group.members.Reserve(CountSet(group.live));
    for (size_t slot = 0; slot < tamis::bank::kGroupMembers; ++slot) {
      if (!IsSet(group.live, slot)) continue;
      const uint64_t name_at = directory.at() + kMemberEntry;
      group.members.Put(slot, TakeMember(directory, check));
      if (names.insert(group.members[slot].name).second) continue;
      check.Fail(ErrorCode::kCorrupt, "name", name_at,
                 "two members are called \"" + group.members[slot].name + "\"");
    }
  }
  if (directory.left() != 0) {
    check.Fail(ErrorCode::kCorrupt, "directory length", at::kDirectoryLength,
               "is more than the bytes of all groups and members");
  }
}

template <typename T>
void Append(std::vector<std::byte>& bytes, const T& value) {
  const auto* const first = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof(value));
}

std::vector<std::byte> EncodeDirectory(std::span<const BankFile::Group> groups) {
  std::vector<std::byte> bytes;
  for (const BankFile::Group& group : groups) {
    Append(bytes, group.num_blocks);
    Append(bytes, group.live);
    Append(bytes, group.filled);
  }
  for (const BankFile::Group& group : groups) {
    for (size_t slot = 0; slot < bank::kGroupMembers; ++slot) {
      if (!IsSet(group.live, slot)) continue;
      const MemberData& member = group.members[slot];
      Append(bytes, member.capacity);
      Append(bytes, member.inserted);
      Append(bytes, uint32_t{member.key_types.bits()});
      Append(bytes, static_cast<uint32_t>(member.name.size()));
      const auto name = std::as_bytes(std::span<const char>(member.name));
      bytes.insert(bytes.end(), name.begin(), name.end());
      bytes.resize(Padded8(bytes.size()));
    }
  }
  return bytes;
}

}  // namespace

uint64_t BankFileBytes(std::span<const std::byte> start, const fs::path& path) {
  return DecodeBankHeader(start, {path}).end();
}

BankFile ReadBankFile(uint64_t file_bytes, ReadBytesAt read, const fs::path& path) {
  const FieldCheck check{path};
  std::vector<std::byte> start(std::min<uint64_t>(file_bytes, kHeaderBytes2));
  read(start, 0);
  const BankHeader bank = DecodeBankHeader(start, check);
  if (file_bytes != bank.end()) {
    check.Fail(
        ErrorCode::kCorrupt, "file length", std::min(file_bytes, bank.end()),
        StrCat("the file has ", file_bytes, " bytes, must have ", bank.end(), " by its header"));
  }
  std::vector<std::byte> between(kBankPayloadAt - kHeaderBytes2);
  read(between, kHeaderBytes2);
  const auto stray = std::ranges::find_if(between, [](std::byte b) { return b != std::byte{0}; });
  if (stray != between.end()) {
    const auto where = static_cast<uint64_t>(stray - between.begin());
    check.Fail(ErrorCode::kCorrupt, "padding", kHeaderBytes2 + where, "is not 0");
  }
  const uint64_t tables_bytes = bank.end() - bank.tables_at();
  // The stated length may be false, or the file may be sparse, so it may exceed the memory.
  if (tables_bytes > kLargeTables) Storage::RequireFits(tables_bytes);
  std::vector<std::byte> tables(tables_bytes);
  read(tables, bank.tables_at());
  if (TablesChecksum(tables) != bank.header.payload_checksum) {
    check.Fail(
        ErrorCode::kCorrupt, "tables checksum", offset::kPayloadChecksum,
        StrCat("does not match bytes [", bank.tables_at(), ", ", bank.end(), ") of the file"));
  }
  BankFile file;
  file.header = bank.header;
  file.fpr = bank.fpr;
  file.pages.resize(bank.num_pages());
  std::copy_n(tables.begin(), file.pages.size() * sizeof(uint64_t),
              reinterpret_cast<std::byte*>(file.pages.data()));
  const std::span<const std::byte> all = tables;
  DirectoryReader directory(all.subspan(bank.directory_at() - bank.tables_at()),
                            bank.directory_at(), check);
  ReadDirectory(directory, bank, check, file);
  return file;
}

void RequireBankPages(std::span<const std::byte> blocks, std::span<const uint64_t> pages,
                      uint64_t first_page, const fs::path& path) {
  for (uint64_t page = 0; page < blocks.size() / bank::kBlockBytes; ++page) {
    if (PageChecksum(blocks, page) == pages[first_page + page]) continue;
    const uint64_t begin = kBankPayloadAt + (first_page + page) * bank::kBlockBytes;
    ThrowFormatError(
        path, ErrorCode::kCorrupt, "page checksum", begin,
        StrCat("page ", first_page + page, ", bytes [", begin, ", ", begin + bank::kBlockBytes,
               ") of the file, does not match its checksum"));
  }
}

bool IsBankPage(std::span<const std::byte> block, uint64_t checksum) noexcept {
  return PageChecksum(block, 0) == checksum;
}

void AddBankPages(std::span<const std::byte> blocks, std::vector<uint64_t>& pages) {
  for (uint64_t page = 0; page < blocks.size() / bank::kBlockBytes; ++page) {
    pages.push_back(PageChecksum(blocks, page));
  }
}

SealedBank SealBank(const BankFile& file) {
  SealedBank sealed;
  const auto pages = std::as_bytes(std::span(file.pages));
  sealed.tables.assign(pages.begin(), pages.end());
  const std::vector<std::byte> directory = EncodeDirectory(file.groups);
  sealed.tables.insert(sealed.tables.end(), directory.begin(), directory.end());

  sealed.start.resize(kBankPayloadAt);
  const std::span header = std::span(sealed.start).first(kHeaderBytes2);
  uint64_t members = 0;
  for (const BankFile::Group& group : file.groups) members += CountSet(group.live);
  EncodeFrame(header, kVersion);
  PutField(header, offset::kFilterKind, kBankFileKind);
  PutField(header, offset::kHashKind, file.header.hash.kind);
  PutField(header, offset::kSeed, file.header.hash.seed);
  PutField(header, at::kGroups, uint64_t{file.groups.size()});
  PutField(header, at::kMembers, members);
  PutField(header, at::kGroupMembers, bank::kGroupMembers);
  PutField(header, at::kDirectoryLength, uint64_t{directory.size()});
  PutField(header, at::kFpr, file.fpr);
  PutField(header, offset::kPayloadOffset, kBankPayloadAt);
  PutField(header, offset::kPayloadLength, uint64_t{file.pages.size() * bank::kBlockBytes});
  PutField(header, offset::kPayloadChecksum, TablesChecksum(sealed.tables));
  EncodeSecret(header, file.header);
  PutField(header, offset::kLog2PageBytes, uint32_t{kLog2BlockBytes});
  SealHeader(header, kVersion);
  return sealed;
}

}  // namespace tamis::detail
