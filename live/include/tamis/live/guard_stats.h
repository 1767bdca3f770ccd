// What a CacheGuard has counted.
#ifndef TAMIS_LIVE_GUARD_STATS_H_
#define TAMIS_LIVE_GUARD_STATS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tamis/live/live_status.h"

namespace tamis {

struct GuardStats {
  // Keys that were asked for, each in one of the next two.
  uint64_t blocked = 0;     // the filter said no: neither cache nor database were asked
  uint64_t passed = 0;      // it said maybe, or was not to be had
  uint64_t unknown = 0;     // of these: there was none, it was too old, or the next
  uint64_t other_type = 0;  // of these: it had only keys of another type
  // What became of those that passed; the rest, `loads`, were asked of the database.
  uint64_t cache_hits = 0;
  uint64_t negative_hits = 0;  // the database lacked them a short time ago
  uint64_t coalesced = 0;      // another call was already asking for the key, and shared its answer
  uint64_t loads = 0;
  uint64_t false_positives = 0;  // of the loads: the filter said maybe, and the database lacked it
  uint64_t load_failures = 0;    // of the loads: the database threw
  uint64_t cache_failures = 0;   // calls of the cache that threw: a key then counts as not cached
  uint64_t negatives = 0;        // keys that are now known to be lacking

  // Of the filter, when this was asked for.
  bool known = false;  // whether it is there, not too old, and has keys of the type asked for
  std::optional<Failure> failure;  // why not
  uint64_t generation = 0;         // 0: there is none
  std::chrono::nanoseconds age{};
};

struct NamedGuardStats {
  std::string name;  // any UTF-8
  GuardStats stats;
};

// The counters of the guards of a process as text for Prometheus (its exposition format, version
// 0.0.4), each with the label guard="NAME".
std::string PrometheusText(const std::vector<NamedGuardStats>& guards);

}  // namespace tamis

#endif  // TAMIS_LIVE_GUARD_STATS_H_
