// Points in time and durations as keys that do not depend on a unit.
#ifndef TAMIS_TIME_KEYS_H_
#define TAMIS_TIME_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "tamis/keys.h"

namespace tamis {

// The unit of points in time.
enum class TimeUnit : uint8_t { kDays, kSeconds, kMillis, kMicros, kNanos };

// Converts counts of a time unit to keys of KeyType::kTime. A point in time is a count since
// 1970-01-01 00:00 UTC. The key is the count of nanoseconds, hashed as 64 bits. Before 1677 and
// after 2262, this count does not fit 64 bits and is hashed as 128 bits. Therefore 5 seconds and
// 5000 milliseconds are the same key, and a date and its midnight are the same key. An integer key
// and the time with the same count are the same key only if the unit is kNanos or the count is 0.
//
// The counts must outlive the TimeKeys object, which must outlive the calls that take its keys.
class TimeKeys {
 public:
  // Converts all counts, except those of kNanos, which are used in place. `validity` and
  // `first_bit` are the arguments of Keys::WithValidity. The count of a null may be any number, and
  // `validity` must outlive the object. O(counts.size()) time, and up to 40 bytes per count. Throws
  // std::bad_alloc.
  TimeKeys(std::span<const int64_t> counts, TimeUnit unit, const uint8_t* validity = nullptr,
           uint64_t first_bit = 0);
  TimeKeys(TimeKeys&&) noexcept;
  TimeKeys& operator=(TimeKeys&&) noexcept;
  ~TimeKeys();

  // Returns the keys. If all keys that are not null fit 64 bits, the keys are integers. Otherwise,
  // they are strings.
  Keys keys() const noexcept { return keys_; }

 private:
  struct Converted;

  std::unique_ptr<Converted> converted_;
  Keys keys_;
};

}  // namespace tamis

#endif  // TAMIS_TIME_KEYS_H_
