// Recognizes the keys of a stream that have occurred before.
#ifndef TAMIS_TOOLS_COMMANDS_SEEN_KEYS_H_
#define TAMIS_TOOLS_COMMANDS_SEEN_KEYS_H_

#include <tamis/engine/engine.h>
#include <tamis/engine/windowed_filter.h>
#include <tamis/file/file.h>
#include <tamis/filters/filter.h>
#include <tamis/key_types.h>
#include <tamis/keys.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "text/units.h"
#include "tools/options/parse.h"

namespace tamis::tools {

// Largest number of keys in a batch: enough work for several threads.
inline constexpr size_t kMaxDedupBatch = size_t{1} << 15;

// Above this rate, a filter recognizes fewer than one in 1,000 new keys. The recognized keys are
// then too few to estimate the number of new keys.
inline constexpr double kBlindFpr = 0.999;

// InsertIfAbsent throws Error(kInvalidArgument) if a key does not fit.
class SeenKeys : public text::KnownKeys {
 public:
  // Returns the current false-positive rate.
  virtual double Fpr() = 0;
  virtual uint64_t bytes() const = 0;
  // Returns the largest number of keys in a batch for which the rate changes slowly between
  // batches, at least 64 and at most kMaxDedupBatch. If the filter cannot become overfull, returns
  // kMaxDedupBatch.
  virtual size_t LargestBatch() const = 0;
};

// Returns an object that remembers all keys in `filter`, which must outlive the object.
std::unique_ptr<SeenKeys> SeenIn(ChangeableFilter& filter, const Engine& engine);

// Returns an object that remembers the keys of `filter`, which must outlive the object, and no
// others: InsertIfAbsent inserts nothing.
std::unique_ptr<SeenKeys> SeenOnlyIn(const Filter& filter, const Engine& engine);

// Remembers the latest keys. The time of keys is the time at which they are passed, by the clock of
// the system.
class SeenInWindow : public SeenKeys {
 public:
  // Returns the highest false-positive rate so far, and the rate for the keys that the window was
  // made for. The first is higher if more keys came within the time of a window by time.
  virtual double HighestFpr() const = 0;
  virtual double FprAtCapacity() const = 0;
  // Returns the types of the keys, like WindowedFilter.
  virtual KeyTypes key_types() const = 0;
  // Saves the window, with a notice on a terminal. Then calls OutputIsSaved.
  virtual void Save(const std::string& path, bool quiet, const SaveOptions& options) const = 0;
};

// Returns the size of a saved window.
WindowSize SizeOf(const WindowHeader& header);

// Returns an object that remembers at least the keys of `size`, in filters of kind `kind` with the
// false-positive rate `fpr`. A window by time keeps this rate if at most `capacity` different keys
// come within its time, even all at once. Throws Error(kInvalidArgument) for a kind other than
// bloom and split-block, and the errors of WindowedFilter.
std::unique_ptr<SeenInWindow> MakeWindow(FilterKind kind, const WindowSize& size, uint64_t capacity,
                                         double fpr, const Engine& engine);
// Continues the window that was saved at `path`. Throws Error(kInvalidArgument) if the file is not
// a window of this size, or if its time is after the clock of the system by more than the window.
std::unique_ptr<SeenInWindow> LoadWindow(const std::string& path, const WindowSize& size,
                                         const Engine& engine);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_COMMANDS_SEEN_KEYS_H_
