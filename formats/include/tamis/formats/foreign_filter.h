// Filters of other libraries, chosen by the names of their formats, and files that contain such a
// name.
#ifndef TAMIS_FORMATS_FOREIGN_FILTER_H_
#define TAMIS_FORMATS_FOREIGN_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "tamis/backend.h"
#include "tamis/file/file.h"
#include "tamis/formats/format_filter.h"
#include "tamis/key_types.h"
#include "tamis/keys.h"
#include "tamis/memory.h"

namespace tamis {

// A format and the type of its keys. The bytes of a filter contain neither.
struct ForeignFormat {
  const char* name;    // such as "guava:utf8"; at most 31 characters
  const char* what;    // a short description of the other library and the keys
  KeyTypes key_types;  // KeyType::kInteger, kBytes (strings) or both
  bool can_map;        // ForeignFilter::Map supports the format
};

// Returns all supported formats, ordered by name.
std::span<const ForeignFormat> ForeignFormats() noexcept;

// Options of reading a filter of another library.
struct ForeignLoadOptions {
  MemoryOptions memory = {};         // memory of the filter
  const Backend* backend = nullptr;  // hashes integers, makes outputs; nullptr: DefaultBackend()
};

// A filter of any of these formats. tamis/formats/guava.h and the other headers in its folder
// declare the classes of the formats. A moved-from filter keeps its format, and bytes() returns 0.
// Its queries, changes, estimates, Merge and Write throw Error(kReadOnly).
//
// For RedisBloom, integer keys are RedisIntegers::kSigned: a uint64_t above 2^63 - 1 is the text of
// the negative number with the same bits.
class ForeignFilter final : public FormatFilter {
 public:
  // Reads bytes that the other library wrote. Throws Error(kInvalidArgument) for a name that is not
  // in ForeignFormats, and the errors of FromBytes and Load of the format's class.
  static ForeignFilter FromBytes(std::span<const std::byte> bytes, std::string_view format,
                                 const ForeignLoadOptions& options = {});
  // Reads a file like FromBytes.
  static ForeignFilter Load(const std::filesystem::path& path, std::string_view format,
                            const ForeignLoadOptions& options = {});
  // Maps a file instead of reading it. The filter is then read-only, and pages are read when they
  // are first used. The file must not be changed while it is mapped. Throws like Load, and
  // Error(kUnsupported) unless the format has `can_map`.
  static ForeignFilter Map(const std::filesystem::path& path, std::string_view format,
                           const ForeignLoadOptions& options = {});

  // Reads a file that SaveImported wrote, and compares its checksum. The file must not be truncated
  // during the call. Throws Error(kIo), and FormatError with the failed check: "magic", "version",
  // "header checksum", "header length", "reserved", "format", "file length", "payload checksum", or
  // a check of the format.
  static ForeignFilter Open(const std::filesystem::path& path,
                            const ForeignLoadOptions& options = {});
  // Returns whether a file begins like a file that SaveImported wrote. The file may be incomplete.
  // Throws Error(kIo).
  static bool IsImported(const std::filesystem::path& path);

  // Returns the format of the filter.
  const ForeignFormat& format() const noexcept;
  // Returns whether the filter was mapped or moved from. Changes then throw Error(kReadOnly).
  bool read_only() const noexcept { return mapped_ || filter_ == nullptr; }
  uint64_t bytes() const noexcept override;  // size of the bits in memory
  uint64_t serialized_bytes() const noexcept override;
  // Like the functions of the format's class. O(bytes()).
  double estimated_count() const override;
  double expected_fpr() const override;
  std::vector<FormatField> fields() const override;

  // Keys of another type throw Error(kInvalidArgument). tamis::Erase erases keys if the format
  // supports it.
  QueryTraits traits() const noexcept override;
  KeyTypes key_types() const noexcept override;
  ChangeTraits change_traits() const noexcept override;
  // Adds the keys of `other`. Throws Error(kIncompatible) if the formats differ or the format
  // cannot merge, and the errors of Merge of the format's class.
  void Merge(const ForeignFilter& other);

  void Write(const ByteSink& write) const override;
  // Saves the bytes of Write after a header that names the format, and adds a checksum
  // (core/FORMAT.md). Throws like Filter::Save.
  void SaveImported(const std::filesystem::path& path, const SaveOptions& options = {}) const;

 private:
  ForeignFilter(const ForeignFormat& format, std::unique_ptr<FormatFilter> filter) noexcept;

  void Query(const Keys& keys, uint64_t* bits) const override;
  size_t Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) override;
  FormatFilter& filter() const;

  const ForeignFormat* format_;
  std::unique_ptr<FormatFilter> filter_;  // nullptr: moved-from
  bool mapped_ = false;
};

}  // namespace tamis

#endif  // TAMIS_FORMATS_FOREIGN_FILTER_H_
