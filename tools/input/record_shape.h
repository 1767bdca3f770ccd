// Compares the numbers of fields of a file's records, and detects a wrong separator.
#ifndef TAMIS_TOOLS_INPUT_RECORD_SHAPE_H_
#define TAMIS_TOOLS_INPUT_RECORD_SHAPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tools/input/csv.h"

namespace tamis::tools {

class RecordShape {
 public:
  // Returns whether a record has the same number of fields as the first one. Must be called for
  // each record that is not empty.
  bool Fits(std::string_view record, size_t fields) {
    if (records_++ == 0) {
      fields_ = fields;
      if (fields == 1) candidate_ = GuessSeparator(record);
      if (candidate_) count_ = CountUnquoted(record, *candidate_);
    } else if (candidate_ && (fields != 1 || CountUnquoted(record, *candidate_) != count_)) {
      candidate_.reset();
    }
    return fields == fields_;
  }

  uint64_t records() const { return records_; }
  // If there are two or more records and each has one field, returns the separator that seems to be
  // meant: a character that is equally frequent in all records.
  std::optional<char> other_separator() const { return records_ > 1 ? candidate_ : std::nullopt; }

 private:
  uint64_t records_ = 0;
  size_t fields_ = 0;              // number of fields of the first record
  std::optional<char> candidate_;  // the separator that may be meant
  size_t count_ = 0;               // how often candidate_ occurs in each record
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_RECORD_SHAPE_H_
