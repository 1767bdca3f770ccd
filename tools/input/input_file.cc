#include "tools/input/input_file.h"

#include <tamis/error.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "tools/os/file.h"
#include "tools/os/interrupt.h"

namespace tamis::tools {
namespace {

#ifdef TAMIS_INPUT_BLOCK_BYTES  // set by the fuzz targets, whose inputs are small
constexpr size_t kBlockBytes = TAMIS_INPUT_BLOCK_BYTES;
#else
constexpr size_t kBlockBytes = size_t{8} << 20;
#endif

// Opens the input. Opening a pipe waits for its other end. A signal can end the wait, as in
// ReadBlock.
int OpenInput(const std::string& path) {
  if (path == "-") return os::kStandardInput;
  for (;;) {
    const int fd = os::OpenToRead(path);
    if (fd >= 0 || errno != EINTR) return fd;
    os::AwaitInput(-1);
  }
}

}  // namespace

void FailRead(const std::string& name, int error) {
  throw Error(ErrorCode::kIo, "cannot read " + name + ": " + std::strerror(error));
}

std::unique_ptr<char[]> InputFile::MakeBuffer(size_t capacity) {
  // Not zeroed: a small file touches a few pages of it.
  return std::make_unique_for_overwrite<char[]>(capacity + kPadding);
}

InputFile::InputFile(const std::string& path)
    : fd_(OpenInput(path)),
      name_(path == "-" ? "(standard input)" : path),
      capacity_(kBlockBytes),
      buffer_(MakeBuffer(capacity_)) {
  if (fd_ < 0) FailRead(name_, errno);
}

InputFile::~InputFile() {
  if (fd_ > os::kStandardError) os::Close(fd_);
}

size_t InputFile::Recognize(bool raw) {
  size_t taken = 0;
  for (;;) {
    std::optional<FileKind> kind;
    do {
      taken += Fill();
      kind = RecognizeFile(text(), last_);
    } while (!kind);
    const bool unpacked = unpacker_ != nullptr;
    if (raw && (unpacked || kind->packing == Packing::kNone)) return taken;
    if (kind->is_text()) {
      must_be_text_ = true;
      RequireText(text());
      return taken;
    }
    if (!unpacked && kind->packing != Packing::kNone) {
      taken -= text().size();  // these bytes are still to be unpacked
      if (StartUnpacking(kind->packing)) continue;
    }
    Refuse(*kind);
  }
}

void InputFile::Refuse(const FileKind& kind) const {
  throw Error(ErrorCode::kInvalidArgument,
              kind.Refusal(unpacker_ != nullptr ? name_ + ", unpacked," : name_));
}

void InputFile::RequireText(std::string_view text) const {
  if (text.find('\0') != std::string_view::npos) Refuse(kBinary);
}

bool InputFile::StartUnpacking(Packing packing) {
  unpacker_ = packing == Packing::kGzip ? MakeGzipUnpacker(name_) : MakeZstdUnpacker(name_);
  if (unpacker_ == nullptr) return false;
  packed_ = text();
  packed_buffer_ = std::exchange(buffer_, MakeBuffer(capacity_));
  begin_ = 0;
  end_ = 0;
  last_ = false;
  return true;
}

void InputFile::MakeRoom() {
  const std::string_view rest = text();
  if (rest.size() == capacity_) {
    std::unique_ptr<char[]> larger = MakeBuffer(2 * capacity_);
    std::copy(rest.begin(), rest.end(), larger.get());
    buffer_ = std::move(larger);
    capacity_ *= 2;
  } else {
    std::memmove(buffer_.get(), rest.data(), rest.size());
  }
  begin_ = 0;
  end_ = rest.size();
}

size_t InputFile::ReadBlock(char* to, size_t bytes) {
  for (;;) {
    os::AwaitInput(fd_);
    const int64_t got = os::Read(fd_, to, bytes);
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EINTR) FailRead(name_, errno);
  }
}

size_t InputFile::Fill() {
  MakeRoom();
  const size_t before = end_;
  const size_t taken = unpacker_ != nullptr ? FillUnpacked() : FillPlain();
  if (must_be_text_) RequireText(text().substr(before));
  return taken;
}

size_t InputFile::FillPlain() {
  const size_t before = end_;
  while (end_ < capacity_ && !last_) {
    if (end_ > before && !os::HasInput(fd_)) break;
    const size_t bytes = ReadBlock(buffer_.get() + end_, capacity_ - end_);
    end_ += bytes;
    last_ = bytes == 0;
  }
  return end_ - before;
}

size_t InputFile::FillUnpacked() {
  const size_t before = end_;
  size_t taken = 0;
  while (end_ < capacity_ && !last_) {
    const size_t packed_before = packed_.size();
    const size_t bytes = unpacker_->Unpack(packed_, {buffer_.get() + end_, capacity_ - end_});
    end_ += bytes;
    taken += packed_before - packed_.size();
    if (bytes > 0 || !packed_.empty()) continue;
    if (end_ > before && !os::HasInput(fd_)) break;
    packed_ = {packed_buffer_.get(), ReadBlock(packed_buffer_.get(), kBlockBytes)};
    last_ = packed_.empty();
  }
  if (last_ && !unpacker_->complete()) {
    throw Error(ErrorCode::kCorrupt, name_ + ": its packed data end too early: it is cut short");
  }
  return taken;
}

}  // namespace tamis::tools
