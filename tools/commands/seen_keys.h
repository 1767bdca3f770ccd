// Recognizes the keys of a stream that have occurred before.
#ifndef TAMIS_TOOLS_COMMANDS_SEEN_KEYS_H_
#define TAMIS_TOOLS_COMMANDS_SEEN_KEYS_H_

#include <tamis/engine/engine.h>
#include <tamis/filters/filter.h>
#include <tamis/keys.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "text/units.h"

namespace tamis::tools {

// InsertIfAbsent throws Error(kInvalidArgument) if a key does not fit.
class SeenKeys : public text::KnownKeys {
 public:
  // Returns the false-positive rate for the keys inserted so far.
  virtual double Fpr() const = 0;
  virtual uint64_t bytes() const = 0;
};

// Returns an object that remembers all keys in `filter`, which must outlive the object.
std::unique_ptr<SeenKeys> SeenIn(ChangeableFilter& filter, const Engine& engine);

// Returns an object that remembers the keys of `filter`, which must outlive the object, and no
// others: InsertIfAbsent inserts nothing.
std::unique_ptr<SeenKeys> SeenOnlyIn(const Filter& filter, const Engine& engine);

// Returns an object that remembers at least the last `window` keys, in filters of kind `kind` with
// the false-positive rate `fpr`. Throws Error(kInvalidArgument) for a kind other than bloom and
// split-block, and the errors of WindowedFilter.
std::unique_ptr<SeenKeys> SeenInWindow(FilterKind kind, uint64_t window, double fpr,
                                       const Engine& engine);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_COMMANDS_SEEN_KEYS_H_
