// Points in time and durations as keys that do not depend on a unit.
#ifndef TAMIS_TIME_KEYS_H_
#define TAMIS_TIME_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "tamis/keys.h"

namespace tamis {

enum class TimeUnit : uint8_t { kDays, kSeconds, kMillis, kMicros, kNanos };

// Counts of a unit, since 1970-01-01 00:00 UTC for points in time, as KeyType::kTime: the count of
// nanoseconds, of which 64 bits are hashed, or 128 bits where 64 are too few (before 1677 and after
// 2262). So 5 seconds and 5000 milliseconds are one key, and a date is its midnight. An integer is
// another key than the time of the same count, unless the unit is kNanos.
//
// The counts must outlive the object. The object must outlive the calls that take its keys.
class TimeKeys {
 public:
  // Converts all counts, but for kNanos, which stay where they are. O(counts.size()), up to 32
  // bytes each. Throws std::bad_alloc.
  TimeKeys(std::span<const int64_t> counts, TimeUnit unit);
  TimeKeys(TimeKeys&&) noexcept;
  TimeKeys& operator=(TimeKeys&&) noexcept;
  ~TimeKeys();

  Keys keys() const noexcept { return keys_; }

 private:
  struct Converted;

  std::unique_ptr<Converted> converted_;
  Keys keys_;
};

}  // namespace tamis

#endif  // TAMIS_TIME_KEYS_H_
