// The table of formats, and what ForeignFilter holds.
#ifndef TAMIS_CORE_SRC_FORMATS_FOREIGN_FORMATS_H_
#define TAMIS_CORE_SRC_FORMATS_FOREIGN_FORMATS_H_

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "tamis/formats/byte_sink.h"
#include "tamis/formats/foreign_filter.h"

namespace tamis {

// A filter of a format, behind functions that all have.
class ForeignFilter::Any {
 public:
  explicit Any(const ForeignFormat& format) noexcept : format_(format) {}
  virtual ~Any() = default;

  const ForeignFormat& format() const noexcept { return format_; }
  virtual uint64_t serialized_bytes() const noexcept = 0;
  virtual const Queryable& queryable() const noexcept = 0;
  virtual size_t Insert(const Keys& keys) = 0;
  // `other` has the same format.
  virtual void Merge(const Any& other) = 0;
  virtual void Write(const ByteSink& write) const = 0;
  virtual void Save(const std::filesystem::path& path, const SaveOptions& options) const = 0;

 private:
  const ForeignFormat& format_;
};

}  // namespace tamis

#endif  // TAMIS_CORE_SRC_FORMATS_FOREIGN_FORMATS_H_
