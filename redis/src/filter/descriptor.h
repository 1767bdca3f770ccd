// The descriptor of a filter, a text in one key of the servers: FORMAT.md, "Descriptor".
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
  HashSpec hash;                      // without the secret of a keyed hash
  std::array<uint64_t, 2> key_tag{};  // 0 without a keyed hash
  uint64_t capacity = 1;
  double fpr = 0.01;
  uint64_t generation = 0;  // random; part of the names of all segments
  uint64_t origin = 0;      // the first generation; rebuilding does not change it
  uint64_t deadline = 0;    // end of the filter, in milliseconds since 1970 (UTC); 0: none

  friend bool operator==(const Descriptor&, const Descriptor&) = default;
};

std::string DescriptorText(const Descriptor& descriptor);

// How long the keys stay on the servers after the deadline. They stay because the clock of a client
// may be late, or a user may inspect the filter.
inline constexpr uint64_t kKeptAfterDeadlineMs = 3'600'000;
// Returns when the keys of the filter expire, in milliseconds since 1970 (UTC); "0": never.
std::string ExpiryText(const Descriptor& descriptor);
// Returns the system time, in milliseconds since 1970 (UTC).
uint64_t NowMs();

// Accepts only texts that DescriptorText writes. Throws Error(kUnsupported) for another version or
// kind, and otherwise Error(kCorrupt), which names the line.
Descriptor ParseDescriptor(std::string_view text);

// Returns the tag of a hash, which detects a wrong secret (core/FORMAT.md, "Secrets").
std::array<uint64_t, 2> KeyTag(const HashSpec& hash);

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_FILTER_DESCRIPTOR_H_
