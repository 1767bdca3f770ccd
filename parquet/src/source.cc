#include "tamis/parquet/source.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "tamis/error.h"

namespace tamis::parquet {
namespace {

[[noreturn]] void FailIo(const std::string& name, const std::string& what, int number) {
  throw Error(ErrorCode::kIo, name + ": " + what + ": " + std::strerror(number));
}

// An open file.
class FileSource : public Source {
 public:
  explicit FileSource(const std::filesystem::path& path) : name_(path.string()) {
    do {
      // Without O_NONBLOCK, open() would block on a FIFO without a writer.
      fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    } while (fd_ < 0 && errno == EINTR);
    if (fd_ < 0) FailIo(name_, "cannot be opened", errno);
    struct stat status {};
    if (fstat(fd_, &status) != 0) {
      const int number = errno;
      close(fd_);
      FailIo(name_, "cannot be read", number);
    }
    if (!S_ISREG(status.st_mode)) {
      close(fd_);
      throw Error(ErrorCode::kUnsupported, name_ + ": is no ordinary file");
    }
    size_ = static_cast<uint64_t>(status.st_size);
  }
  ~FileSource() override { close(fd_); }

  const std::string& name() const noexcept override { return name_; }
  uint64_t size() const noexcept override { return size_; }

  void Read(uint64_t offset, std::span<std::byte> out) const override {
    while (!out.empty()) {
      const ssize_t got = pread(fd_, out.data(), out.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) FailIo(name_, "cannot be read", errno);
      if (got == 0) throw Error(ErrorCode::kIo, name_ + ": has become shorter while it was read");
      offset += static_cast<uint64_t>(got);
      out = out.subspan(static_cast<size_t>(got));
    }
  }

 protected:
  int fd() const { return fd_; }

 private:
  std::string name_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

class MappedSource final : public FileSource {
 public:
  explicit MappedSource(const std::filesystem::path& path) : FileSource(path) {
    if (size() == 0) return;  // mmap rejects length 0
    void* const at = mmap(nullptr, size(), PROT_READ, MAP_SHARED, fd(), 0);
    if (at == MAP_FAILED) FailIo(name(), "cannot be mapped", errno);
    bytes_ = {static_cast<const std::byte*>(at), static_cast<size_t>(size())};
  }
  ~MappedSource() override {
    if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }

  std::span<const std::byte> Memory() const noexcept override { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace

std::unique_ptr<Source> OpenSource(const std::filesystem::path& path) {
  return std::make_unique<FileSource>(path);
}

std::unique_ptr<Source> MapSource(const std::filesystem::path& path) {
  return std::make_unique<MappedSource>(path);
}

void MemorySource::Read(uint64_t offset, std::span<std::byte> out) const {
  if (offset > bytes_.size() || out.size() > bytes_.size() - offset) {
    throw Error(ErrorCode::kIo, name_ + ": has no bytes there");
  }
  if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
}

}  // namespace tamis::parquet
