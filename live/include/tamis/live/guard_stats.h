// Counters of a CacheGuard.
#ifndef TAMIS_LIVE_GUARD_STATS_H_
#define TAMIS_LIVE_GUARD_STATS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tamis/live/live_status.h"

namespace tamis {

// The counters and the state of a CacheGuard.
struct GuardStats {
  // Numbers of queried keys. Each key counts in `blocked` or in `passed`.
  uint64_t blocked = 0;  // the filter answered no: neither the cache nor the database was queried
  uint64_t passed = 0;   // the filter answered maybe, or no filter was usable
  uint64_t unknown = 0;  // part of `passed`: no filter was usable, see CacheGuard
  uint64_t other_type = 0;  // part of `unknown`: the filter had only keys of another type
  // How the keys that passed were answered. The database was queried only for the keys in `loads`.
  uint64_t cache_hits = 0;
  uint64_t negative_hits = 0;    // keys of a cached database miss
  uint64_t coalesced = 0;        // another call was loading the key and shared its result
  uint64_t loads = 0;            // queries of the database
  uint64_t false_positives = 0;  // part of `loads`: the filter answered maybe; the key was missing
  uint64_t load_failures = 0;    // part of `loads`: the database threw
  uint64_t cache_failures = 0;   // cache calls that threw; their keys count as not cached
  uint64_t negatives = 0;        // keys whose database miss is cached now

  // State of the filter at the time of the call.
  bool known = false;              // whether the filter is usable, see CacheGuard
  std::optional<Failure> failure;  // the reason why the filter is not usable
  uint64_t generation = 0;         // 0: no filter yet
  std::chrono::nanoseconds age{};  // age of the filter
};

// The counters of one guard, for PrometheusText.
struct NamedGuardStats {
  std::string name;  // any UTF-8
  GuardStats stats;  // its counters
};

// Formats the counters of the guards of a process for Prometheus (text exposition format, version
// 0.0.4). Each counter has the label guard="NAME".
std::string PrometheusText(const std::vector<NamedGuardStats>& guards);

}  // namespace tamis

#endif  // TAMIS_LIVE_GUARD_STATS_H_
