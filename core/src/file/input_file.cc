#include "core/src/file/input_file.h"

#include <cassert>
#include <cstring>

#include "tamis/detail/str_cat.h"

namespace tamis::detail {

namespace fs = std::filesystem;

InputFile::InputFile(const fs::path& path) : path_(path), file_(path), bytes_(file_->bytes()) {
  ReadHeaders();
}

InputFile::InputFile(std::span<const std::byte> memory, const fs::path& name)
    : path_(name), memory_(memory), bytes_(memory.size()) {
  ReadHeaders();
}

void InputFile::ReadHeaders() {
  std::byte start[kHeaderBytes2];
  const std::span have = std::span(start).first(std::min<uint64_t>(bytes_, sizeof(start)));
  Read(have, 0);
  if (file_) {
    file_->OpenShards(FileBytes(DecodeHeaderAt(have, 0, path_)));
    bytes_ = file_->bytes();
  }
  header_ = DecodeHeader(have, bytes_, path_);
  kind_ = FindFileKind(header_.kind);
  extents_ =
      kind_->read_layers != nullptr ? kind_->read_layers(*this) : std::vector<Extent>{{header_}};
}

FileHeader InputFile::ReadHeaderAt(uint64_t header_at) const {
  std::byte start[kHeaderBytes2];
  const std::span have =
      std::span(start).first(std::min<uint64_t>(bytes_ - header_at, sizeof(start)));
  Read(have, header_at);
  return DecodeHeaderAt(have, header_at, path_);
}

void InputFile::Read(std::span<std::byte> out, uint64_t offset) const {
  if (memory_) {
    // The checks of headers exclude this. If a check were missing, this would be an error, as in a
    // file on disk, instead of an access out of bounds.
    if (offset > bytes_ || out.size() > bytes_ - offset) {
      ThrowFormatError(path_, ErrorCode::kCorrupt, "file length", bytes_,
                       "there are no more bytes");
    }
    if (!out.empty()) std::memcpy(out.data(), memory_->data() + offset, out.size());
    return;
  }
  file_->Read(out, offset);
}

void InputFile::ReadBetween(uint64_t begin, uint64_t end, Checksum& checksum) const {
  assert(end - begin <= kMaxBetween);
  std::byte bytes[kMaxBetween];
  const std::span have = std::span(bytes).first(end - begin);
  Read(have, begin);
  checksum.Update(have);
}

void InputFile::CheckPadding(uint64_t begin, uint64_t end) const {
  std::byte bytes[64];
  Read(std::span(bytes).first(end - begin), begin);
  for (uint64_t at = begin; at < end; ++at) {
    if (bytes[at - begin] != std::byte{0}) {
      ThrowFormatError(path_, ErrorCode::kCorrupt, "padding", at, "is not 0");
    }
  }
}

void InputFile::VerifyPayloads() const {
  std::vector<std::byte> buffer(std::min<uint64_t>(kPieceBytes, header_.payload_bytes));
  ReadPayloads([&](size_t, uint64_t, size_t n) { return std::span(buffer).first(n); });
}

std::vector<uint64_t> InputFile::ReadPageTable(const Extent& extent) const {
  std::vector<uint64_t> pages(NumPages(extent.header.payload_bytes));
  Read(std::as_writable_bytes(std::span(pages)), extent.pages_at());
  if (TableChecksum(pages) != extent.header.payload_checksum) FailPageTable(extent, path_);
  return pages;
}

void InputFile::CheckPages(const Extent& extent, std::span<const uint64_t> pages,
                           std::span<const std::byte> piece, uint64_t begin) const {
  if (const auto page = FindDamage(piece, pages.subspan(begin / kPageBytes))) {
    FailPage(extent, begin / kPageBytes + *page, path_);
  }
}

void InputFile::FailChecksum(const Extent& extent, uint64_t end) const {
  ThrowFormatError(
      path_, ErrorCode::kCorrupt, "payload checksum", extent.header_at + offset::kPayloadChecksum,
      StrCat("does not match bytes [", extent.payload_at(), ", ", end, ") of the file"));
}

PayloadChecks::PayloadChecks(std::span<const Extent> extents) {
  for (const Extent& extent : extents) {
    const FileKind& kind = *FindFileKind(extent.header.kind);
    checks_.push_back(kind.make_payload_check ? kind.make_payload_check() : nullptr);
  }
}

void PayloadChecks::Finish(std::span<const Extent> extents, const fs::path& path) const {
  for (size_t i = 0; i < checks_.size(); ++i) {
    if (checks_[i]) checks_[i]->Finish(extents[i], path);
  }
}

}  // namespace tamis::detail
