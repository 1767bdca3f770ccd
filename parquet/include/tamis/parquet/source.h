// Sources of the bytes of a Parquet file: a file, memory, or a file layer of your own.
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

// Random access to bytes. Any number of threads may read from one source at the same time.
class Source {
 public:
  Source() = default;
  virtual ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  // Returns the name for messages.
  virtual const std::string& name() const noexcept = 0;
  // Returns the size of the file.
  virtual uint64_t size() const noexcept = 0;
  // Fills `out` with the bytes from `offset` on. [offset, offset + out.size()) must be within
  // size(). Throws Error(kIo) if reading fails, and FormatError(kCorrupt) if the file has become
  // shorter.
  virtual void Read(uint64_t offset, std::span<std::byte> out) const = 0;
  // Returns all bytes if they are in memory, valid while the source exists; otherwise empty.
  virtual std::span<const std::byte> Memory() const noexcept { return {}; }
};

// Opens a file. Reads only the ranges requested. Throws Error(kIo) if the file cannot be opened, or
// is not a regular file.
std::unique_ptr<Source> OpenSource(const std::filesystem::path& path);

// Maps the file, so that filters are queried in place, without a copy. If another process shortens
// the file, reading the missing part ends this process with SIGBUS. Throws the errors of
// OpenSource, and Error(kIo) if the file cannot be mapped.
std::unique_ptr<Source> MapSource(const std::filesystem::path& path);

// Bytes owned by the program.
class MemorySource final : public Source {
 public:
  // Makes a source of the bytes, which must outlive it.
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
