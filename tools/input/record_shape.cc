#include "tools/input/record_shape.h"

#include "tools/input/csv.h"

namespace tamis::tools {

bool RecordShape::Fits(std::string_view record, size_t fields) {
  if (records_++ == 0) {
    fields_ = fields;
    if (fields == 1) candidate_ = GuessSeparator(record);
    if (candidate_) count_ = CountUnquoted(record, *candidate_);
  } else if (candidate_ && (fields != 1 || CountUnquoted(record, *candidate_) != count_)) {
    candidate_.reset();
  }
  return fields == fields_;
}

}  // namespace tamis::tools
