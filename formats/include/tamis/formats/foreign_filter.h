// Filters of other libraries by the names of their formats, and files that say which they are of.
#ifndef TAMIS_FORMATS_FOREIGN_FILTER_H_
#define TAMIS_FORMATS_FOREIGN_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "tamis/backend.h"
#include "tamis/file/file.h"
#include "tamis/formats/format_filter.h"
#include "tamis/key_types.h"
#include "tamis/keys.h"
#include "tamis/memory.h"

namespace tamis {

// A format and the form of its keys, which the bytes of a filter do not tell.
struct ForeignFormat {
  const char* name;    // "guava:utf8": at most 31 characters
  const char* what;    // of the other library, and of its keys, in a few words
  KeyTypes key_types;  // KeyType::kInteger, kBytes (strings) or both
};

// All that are known, in the order of their names.
std::span<const ForeignFormat> ForeignFormats() noexcept;

struct ForeignLoadOptions {
  MemoryOptions memory = {};
  const Backend* backend = nullptr;  // nullptr: DefaultBackend(). Hashes integers, makes outputs
};

// A filter of any of these formats, which are those of the classes in tamis/formats/guava.h and its
// sisters. A filter that was moved from has a format and no bytes. Its other functions throw
// Error(kReadOnly).
//
// For RedisBloom integers are RedisIntegers::kSigned: a uint64_t above 2^63 - 1 is the text of the
// negative number with its bits.
class ForeignFilter final : public FormatFilter {
 public:
  // Reads what the other library wrote. Throws Error(kInvalidArgument) for a name that is none of
  // ForeignFormats, and what FromBytes and Load of the class throw.
  static ForeignFilter FromBytes(std::span<const std::byte> bytes, std::string_view format,
                                 const ForeignLoadOptions& options = {});
  static ForeignFilter Load(const std::filesystem::path& path, std::string_view format,
                            const ForeignLoadOptions& options = {});

  // Reads a file of SaveImported, and compares its checksum. It must not be cut short meanwhile.
  // Throws FormatError naming the check ("magic", "version", "header checksum", "format", "file
  // length", "payload checksum", or one of the format's), and Error(kIo).
  static ForeignFilter Open(const std::filesystem::path& path,
                            const ForeignLoadOptions& options = {});
  // Whether a file begins as one of SaveImported does, whole or not. Throws Error(kIo).
  static bool IsImported(const std::filesystem::path& path);

  const ForeignFormat& format() const noexcept;
  uint64_t bytes() const noexcept override;  // of its bits, in memory
  uint64_t serialized_bytes() const noexcept override;
  // As the functions of the class. O(bytes()).
  double estimated_count() const override;
  double expected_fpr() const override;

  // Keys of the other sort are Error(kInvalidArgument). The function tamis::Erase erases keys from
  // filters of formats that can.
  QueryTraits traits() const noexcept override;
  KeyTypes key_types() const noexcept override;
  ChangeTraits change_traits() const noexcept override;
  // The union. Throws Error(kIncompatible) for another format, or one whose filters cannot be
  // united, and what Merge of the class throws.
  void Merge(const ForeignFilter& other);

  void Write(const ByteSink& write) const override;
  // Saves the same after a header that names the format, with a checksum: core/FORMAT.md has it.
  // Throws as Filter::Save.
  void SaveImported(const std::filesystem::path& path, const SaveOptions& options = {}) const;

 private:
  ForeignFilter(const ForeignFormat& format, std::unique_ptr<FormatFilter> filter) noexcept;

  void Query(const Keys& keys, uint64_t* bits) const override;
  size_t Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) override;
  FormatFilter& filter() const;

  const ForeignFormat* format_;
  std::unique_ptr<FormatFilter> filter_;  // nullptr: moved from
};

}  // namespace tamis

#endif  // TAMIS_FORMATS_FOREIGN_FILTER_H_
