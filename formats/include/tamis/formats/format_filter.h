// The common base class of the filters of other libraries.
#ifndef TAMIS_FORMATS_FORMAT_FILTER_H_
#define TAMIS_FORMATS_FORMAT_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tamis/changeable.h"
#include "tamis/file/file.h"
#include "tamis/formats/byte_sink.h"
#include "tamis/queryable.h"

namespace tamis {

class ForeignFilter;

// A property of a filter that only its format has.
struct FormatField {
  const char* name;                                   // such as "capacity"
  std::variant<uint64_t, double, std::string> value;  // of the type that the format has
};

// A filter with the answers, the bits and the bytes of another library. Any number of threads may
// query a filter that does not change. A change needs exclusive access. A moved-from filter is
// empty. Its bulk changes throw Error(kReadOnly), and its changes by one key return false.
class FormatFilter : public Queryable, public Changeable {
 public:
  // Many keys: see Queryable and Changeable. Insert inserts, and counts, every key that is not
  // null, even if the key changes no bit. InsertIfAbsent reports the keys that changed the filter.
  using Changeable::Insert;
  using Changeable::InsertIfAbsent;
  using Queryable::Contains;
  bool Contains(std::initializer_list<std::string_view> keys) const = delete;
  template <detail::NoKey T>
  bool Insert(T) = delete;
  ChangeTraits change_traits() const noexcept override { return {.inserts_if_absent = true}; }

  // Returns the properties that only this format has, such as the numbers of its header. The
  // default implementation returns none.
  virtual std::vector<FormatField> fields() const;

  // Writes exactly the bytes that the other library reads, in pieces.
  virtual void Write(const ByteSink& write) const = 0;
  // The number of bytes that Write writes.
  virtual uint64_t serialized_bytes() const noexcept = 0;
  // Returns what Write writes.
  std::vector<std::byte> ToBytes() const;
  // Replaces the whole file, or leaves it unchanged: see Filter::Save. Ignores `with_secret` and
  // `version` of the options.
  void Save(const std::filesystem::path& path, const SaveOptions& options = {}) const;

 protected:
  FormatFilter() = default;
  FormatFilter(FormatFilter&&) noexcept = default;
  FormatFilter& operator=(FormatFilter&&) noexcept = default;

 private:
  friend class ForeignFilter;

  // Adds the keys of `other`, which has the same class. Throws the errors of Merge of the class.
  // The default implementation throws Error(kIncompatible).
  virtual void MergeFrom(const FormatFilter& other);
};

}  // namespace tamis

#endif  // TAMIS_FORMATS_FORMAT_FILTER_H_
