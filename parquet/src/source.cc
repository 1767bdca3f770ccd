#include "tamis/parquet/source.h"

#include <cstring>
#include <utility>

#include "core/src/file/regular_file.h"
#include "core/src/os/path_text.h"
#include "tamis/error.h"

namespace tamis::parquet {
namespace {

// An open file.
class FileSource : public Source {
 public:
  explicit FileSource(const std::filesystem::path& path) : file_(path), name_(os::TextOf(path)) {}

  const std::string& name() const noexcept override { return name_; }
  uint64_t size() const noexcept override { return file_.bytes(); }
  void Read(uint64_t offset, std::span<std::byte> out) const override { file_.Read(out, offset); }

 protected:
  const detail::RegularFile& file() const { return file_; }

 private:
  const detail::RegularFile file_;
  const std::string name_;
};

class MappedSource final : public FileSource {
 public:
  explicit MappedSource(const std::filesystem::path& path) : FileSource(path) {
    if (size() != 0) map_ = file().Map();
  }

  std::span<const std::byte> Memory() const noexcept override { return map_.bytes(); }

 private:
  os::Mapping map_;
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
    throw Error(ErrorCode::kIo, name_ + ": a range to read is not within its size");
  }
  if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
}

}  // namespace tamis::parquet
