// Where the bytes of a Parquet file come from: a file, memory, or a file layer of your own.
#ifndef TAMIS_PARQUET_SOURCE_H_
#define TAMIS_PARQUET_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "tamis/cpp20.h"

namespace tamis::parquet {

// Bytes by their offset. Any number of threads may read from one at a time.
class Source {
 public:
  Source() = default;
  virtual ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  // For messages.
  virtual const std::string& name() const noexcept = 0;
  virtual uint64_t size() const noexcept = 0;
  // Fills `out` with the bytes from `offset` on; [offset, offset + out.size()) is within size().
  // Throws Error(kIo), also if the file has become shorter.
  virtual void Read(uint64_t offset, std::span<std::byte> out) const = 0;
  // All bytes, where they are in memory as long as the source is there; else empty.
  virtual std::span<const std::byte> Memory() const noexcept { return {}; }
};

// Reads a file by its offsets, and nothing that is not asked for. Throws Error(kIo) if it cannot be
// opened, and Error(kUnsupported) if it is no ordinary file.
std::unique_ptr<Source> OpenSource(const std::filesystem::path& path);

// Maps the file instead: filters are asked where they lie, without a copy. A file that another
// process makes shorter meanwhile ends this one (SIGBUS). Errors as those of OpenSource.
std::unique_ptr<Source> MapSource(const std::filesystem::path& path);

// Bytes that somebody else owns.
class MemorySource final : public Source {
 public:
  explicit MemorySource(std::span<const std::byte> bytes, std::string name = "memory")
      : bytes_(bytes), name_(std::move(name)) {}

  const std::string& name() const noexcept override { return name_; }
  uint64_t size() const noexcept override { return bytes_.size(); }
  void Read(uint64_t offset, std::span<std::byte> out) const override;
  std::span<const std::byte> Memory() const noexcept override { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
  std::string name_;
};

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_SOURCE_H_
