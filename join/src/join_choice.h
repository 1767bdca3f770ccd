// Chooses the structure of a join filter.
#ifndef TAMIS_JOIN_SRC_JOIN_CHOICE_H_
#define TAMIS_JOIN_SRC_JOIN_CHOICE_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/src/bulk/costs.h"
#include "tamis/join/join_filter.h"

namespace tamis::detail {

// The limits and costs on which the choice depends.
struct JoinLimits {
  uint64_t max_bytes = 0;
  uint64_t l2_bytes = 0;
  uint64_t l3_bytes = 0;
  double fpr = 0;
  // Tables of a list: of the hashes, or of the integers and their hashes.
  uint64_t list_tables = 1;
  std::vector<CostAtSize> costs;  // of split-block lookups
};

// Reads the limits and the costs of `backend` from the options.
JoinLimits LimitsOf(const JoinFilterOptions& options, const Backend& backend);

// The keys for which a structure is chosen.
struct JoinFacts {
  uint64_t keys = 0;  // an upper bound of the distinct keys
  // Why the keys cannot be a list; empty if they can: they are known, and at most
  // kMaxJoinListKeys.
  std::string_view no_list = "not known to be at most 64 keys";
  std::optional<uint64_t> span =
      std::nullopt;  // of the keys, if they are known integers; or of the known range
};

// Compares a list, a bitmap and blocks. The bitmap is impossible without `span`. If nothing is
// possible, the form is kNothing.
JoinChoice ChooseJoinForm(const JoinLimits& limits, const JoinFacts& facts);

// Returns the number of slots of a list of `keys` keys, a power of two.
constexpr uint64_t FirstListSlots(uint64_t keys) noexcept {
  uint64_t slots = 16;
  while (slots < 16 * keys) slots *= 2;
  return slots;
}

}  // namespace tamis::detail

#endif  // TAMIS_JOIN_SRC_JOIN_CHOICE_H_
