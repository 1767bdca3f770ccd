// The error for keys that a server did not answer.
#ifndef TAMIS_UNANSWERED_ERROR_H_
#define TAMIS_UNANSWERED_ERROR_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tamis/error.h"

namespace tamis {

// Reports that a server did not answer. Some keys of the call lack an answer, or were not inserted
// or erased. Queries write all outputs before they throw this error, with "maybe" for these keys.
class UnansweredError : public Error {
 public:
  // Makes an error with the indices of the unanswered keys.
  UnansweredError(ErrorCode code, const std::string& message, std::vector<uint64_t> keys)
      : Error(code, message), keys_(std::move(keys)) {}

  // The indices in the call of the keys without an answer, ascending.
  const std::vector<uint64_t>& keys() const noexcept { return keys_; }

  // The result that the call would have returned.
  uint64_t done() const noexcept { return done_; }

  // Adds `first_key` to the indices, for callers that split one call into several.
  void Shift(uint64_t first_key) noexcept {
    for (uint64_t& key : keys_) key += first_key;
  }
  // Sets the result of done().
  void set_done(uint64_t done) noexcept { done_ = done; }

 private:
  std::vector<uint64_t> keys_;
  uint64_t done_ = 0;
};

}  // namespace tamis

#endif  // TAMIS_UNANSWERED_ERROR_H_
