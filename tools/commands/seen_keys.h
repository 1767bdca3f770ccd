// Which keys of a stream came before.
#ifndef TAMIS_TOOLS_COMMANDS_SEEN_KEYS_H_
#define TAMIS_TOOLS_COMMANDS_SEEN_KEYS_H_

#include <tamis/engine/engine.h>
#include <tamis/filters/filter.h>
#include <tamis/keys.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace tamis::tools {

class SeenKeys {
 public:
  SeenKeys() = default;
  SeenKeys(const SeenKeys&) = delete;
  SeenKeys& operator=(const SeenKeys&) = delete;
  virtual ~SeenKeys() = default;

  // As ChangeableFilter::InsertIfAbsent. Throws Error(kInvalidArgument) if there is no room for a
  // key.
  virtual size_t InsertIfAbsent(const Keys& keys, Bitmap fresh) = 0;
  // The false-positive rate with the keys so far: FprByCount.
  virtual double Fpr() const = 0;
  virtual uint64_t bytes() const = 0;
};

// All keys, in a filter that lives longer.
std::unique_ptr<SeenKeys> SeenIn(ChangeableFilter& filter, const Engine& engine);

// The last `window` keys or more, in filters of the kind of that name, at a rate of `fpr`. Throws
// Error(kInvalidArgument) for a kind that cannot do this, and what WindowedFilter throws.
std::unique_ptr<SeenKeys> SeenInWindow(FilterKind kind, uint64_t window, double fpr,
                                       const Engine& engine);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_COMMANDS_SEEN_KEYS_H_
