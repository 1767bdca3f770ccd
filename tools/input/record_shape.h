// How many fields the records of a file have, and whether they only seem to have one.
#ifndef TAMIS_TOOLS_INPUT_RECORD_SHAPE_H_
#define TAMIS_TOOLS_INPUT_RECORD_SHAPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tamis::tools {

class RecordShape {
 public:
  // Whether a record has as many fields as the first one. To be called for each that is not empty.
  bool Fits(std::string_view record, size_t fields);

  uint64_t records() const { return records_; }
  // What stands equally often in all records, of two or more, which have one field each: the
  // separator that was meant, it seems.
  std::optional<char> other_separator() const { return records_ > 1 ? candidate_ : std::nullopt; }

 private:
  uint64_t records_ = 0;
  size_t fields_ = 0;  // of the first record
  std::optional<char> candidate_;
  size_t count_ = 0;  // of the candidate in each record
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_RECORD_SHAPE_H_
