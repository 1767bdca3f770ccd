// Filter banks in files.
#include <algorithm>
#include <memory>
#include <utility>

#include "bank/src/bank_file.h"
#include "bank/src/bank_state.h"
#include "core/src/file/atomic_file.h"
#include "core/src/file/file_format.h"
#include "core/src/file/key_tag.h"
#include "core/src/file/regular_file.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis {

namespace fs = std::filesystem;

using detail::BankFile;
using detail::BankGroup;
using detail::Storage;

namespace {

// An open file, and all its contents except the rows.
struct OpenBank {
  explicit OpenBank(const fs::path& file_path) : path(file_path), contents(path) {
    std::vector<std::byte> start(std::min<uint64_t>(contents.bytes(), detail::kHeaderBytes2));
    contents.Read(start, 0);
    contents.OpenShards(detail::BankFileBytes(start, path));
    const auto read = [&](std::span<std::byte> out, uint64_t offset) {
      contents.Read(out, offset);
    };
    file = detail::ReadBankFile(contents.bytes(), read, path);
  }

  // Reads rows and verifies them. Each piece of n bytes, at offset `begin` of the payload, is read
  // into room(begin, n).
  template <typename Room>
  void ReadRows(uint64_t first_page, uint64_t num_pages, const Room& room) const {
    constexpr uint64_t kPiecePages = 64;
    for (uint64_t page = first_page; page < first_page + num_pages; page += kPiecePages) {
      const uint64_t n = std::min(kPiecePages, first_page + num_pages - page);
      const uint64_t begin = page * bank::kBlockBytes;
      const std::span<std::byte> piece = room(begin, n * bank::kBlockBytes);
      contents.Read(piece, detail::kBankPayloadAt + begin);
      detail::RequireBankPages(piece, file.pages, page, path);
    }
  }

  const fs::path& path;
  detail::RegularFile contents;
  BankFile file;
};

BankOptions OptionsOf(const OpenBank& open, const std::optional<HashSecret>& secret,
                      const Backend* backend) {
  BankOptions options;
  options.fpr = open.file.fpr;
  options.hash = detail::HashOf(open.file.header, secret, open.path);
  options.backend = backend;
  return options;
}

}  // namespace

FilterBank::FilterBank(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

void FilterBank::Impl::AdoptGroup(detail::BankGroup group, BankFile::Group from) {
  group.live = from.live;
  group.filled = from.filled;
  group.members = std::move(from.members);
  for (size_t slot = 0; slot < bank::kGroupMembers; ++slot) {
    if (!detail::IsSet(group.live, slot)) continue;
    names.emplace(group.members[slot].name, Place{groups.size(), slot});
  }
  groups.push_back(std::move(group));
}

FilterBank FilterBank::Load(const fs::path& path, const LoadOptions& options) {
  OpenBank open(path);
  BankOptions of_bank = OptionsOf(open, options.secret, options.backend);
  of_bank.memory = options.memory;
  auto impl = std::make_unique<Impl>(of_bank);
  impl->has_secret = open.file.header.has_secret;
  Storage::RequireFits(open.file.header.payload_bytes);
  for (BankFile::Group& from : open.file.groups) {
    BankGroup group(from.num_blocks, options.memory);
    const uint64_t first = from.first_page * bank::kBlockBytes;
    open.ReadRows(from.first_page, from.num_blocks, [&](uint64_t begin, size_t n) {
      return std::span(group.storage.data() + (begin - first), n);
    });
    impl->AdoptGroup(std::move(group), std::move(from));
  }
  return FilterBank(std::move(impl));
}

FilterBank FilterBank::Map(const fs::path& path, const MapOptions& options) {
  OpenBank open(path);
  auto impl = std::make_unique<Impl>(OptionsOf(open, options.secret, options.backend));
  impl->has_secret = open.file.header.has_secret;
  impl->read_only = true;
  if (options.verify == Verify::kFull) {
    // Reads instead of using the mapping: a file that is truncated during the call then causes an
    // error, not a SIGBUS.
    std::vector<std::byte> buffer(size_t{64} * bank::kBlockBytes);
    open.ReadRows(0, open.file.pages.size(),
                  [&](uint64_t, size_t n) { return std::span(buffer).first(n); });
    open.file.pages.clear();
  }
  impl->mapped = {Storage::FromMapping(open.contents.Map().Release(), detail::kBankPayloadAt,
                                       open.file.header.payload_bytes),
                  path, std::move(open.file.pages)};
  for (BankFile::Group& from : open.file.groups) {
    Storage rows =
        impl->mapped->whole.Part(detail::kBankPayloadAt + from.first_page * bank::kBlockBytes,
                                 from.num_blocks * bank::kBlockBytes);
    const uint64_t num_blocks = from.num_blocks;
    impl->AdoptGroup(BankGroup(num_blocks, std::move(rows)), std::move(from));
  }
  return FilterBank(std::move(impl));
}

void FilterBank::Impl::RequireIntact(const BankGroup& group) const {
  if (!mapped || mapped->pages.empty()) return;
  const auto begin = static_cast<uint64_t>(group.storage.data() - mapped->whole.data());
  detail::RequireBankPages({group.storage.data(), group.storage.size()}, mapped->pages,
                           begin / bank::kBlockBytes, mapped->path);
}

void FilterBank::Save(const fs::path& path, const SaveOptions& options) {
  if (options.version != FileHeader::kNewestVersion) {
    throw Error(ErrorCode::kInvalidArgument,
                detail::StrCat("filter banks require version ", FileHeader::kNewestVersion,
                               " of the format, not version ", options.version));
  }
  if (!read_only()) Flush();
  BankFile file;
  file.header.hash = impl_->hash;
  file.header.has_secret = impl_->has_secret;
  file.header = detail::HeaderToSave(file.header, options);
  file.fpr = impl_->fpr;
  std::vector<std::span<const std::byte>> parts(1);
  for (const BankGroup& group : impl_->groups) {
    impl_->RequireIntact(group);
    parts.emplace_back(group.storage.data(), group.storage.size());
    detail::AddBankPages(parts.back(), file.pages);
    file.groups.push_back({group.num_blocks, 0, group.live, group.filled, group.members});
  }
  const detail::SealedBank sealed = detail::SealBank(file);
  parts.front() = sealed.start;
  parts.emplace_back(sealed.tables);
  detail::WriteFileAtomically(path, parts, options);
}

}  // namespace tamis
