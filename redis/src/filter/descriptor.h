// What a filter says of itself, in one key of the servers: FORMAT.md, "Descriptor".
#ifndef TAMIS_REDIS_SRC_FILTER_DESCRIPTOR_H_
#define TAMIS_REDIS_SRC_FILTER_DESCRIPTOR_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "redis/src/filter/layout.h"
#include "tamis/hash.h"

namespace tamis::redis {

inline constexpr uint64_t kDescriptorVersion = 1;

struct Descriptor {
  Layout layout;
  HashSpec hash;                      // of a keyed hash without the secret
  std::array<uint64_t, 2> key_tag{};  // of a keyed hash, else 0
  uint64_t capacity = 1;
  double fpr = 0.01;
  uint64_t generation = 0;  // random; part of the names of all segments
  uint64_t origin = 0;    // the generation that it was made with, which rebuilding does not change
  uint64_t deadline = 0;  // milliseconds since 1970 (UTC), when the filter ends to be; 0: never

  friend bool operator==(const Descriptor&, const Descriptor&) = default;
};

std::string DescriptorText(const Descriptor& descriptor);

// After the deadline, for clocks that are behind and for who wants to see what was there.
inline constexpr uint64_t kKeptAfterDeadlineMs = 3'600'000;
// When the keys of the filter expire, in milliseconds since 1970; "0": never.
std::string ExpiryText(const Descriptor& descriptor);
// The system clock, in milliseconds since 1970 (UTC).
uint64_t NowMs();

// Strict: what it accepts is what DescriptorText writes. Throws Error(kUnsupported) for another
// version, else Error(kCorrupt), which names the line.
Descriptor ParseDescriptor(std::string_view text);

// The tag of a hash, by which a wrong secret is told from the right one (core/FORMAT.md,
// "Secrets").
std::array<uint64_t, 2> KeyTag(const HashSpec& hash);

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_FILTER_DESCRIPTOR_H_
