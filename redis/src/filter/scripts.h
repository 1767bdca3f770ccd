// The Lua scripts that servers run. Each script runs as a whole or not at all. It first checks that
// the data is as expected, and otherwise changes nothing. FORMAT.md describes the checks. No script
// changes when keys expire.
#ifndef TAMIS_REDIS_SRC_FILTER_SCRIPTS_H_
#define TAMIS_REDIS_SRC_FILTER_SCRIPTS_H_

#include "redis/src/client/command.h"

namespace tamis::redis {

// Offsets are decimal texts, because scripts read texts faster than they print numbers. Comments
// list KEYS and ARGV in their order, and the reply. "State" below is the window of the state, as
// segment_state.h defines it.
struct Scripts {
  // The scripts up to `mark` begin with the segment as first key and four arguments: begin of the
  // state, end of its window, expected state without the version, and offset of the version or, for
  // `mark`, of the mark. If the state is not the expected one, they change nothing and return it.

  // Sets bits. ARGV[5]: an odd version, to replace an even one. Then for each block: its first and
  // last offset, and 32 bytes. Returns the number of blocks that changed.
  Script insert;
  // The same, but also writes if no block changes, so that WAIT waits for bits of other clients.
  Script durable_insert;
  // Sets the bits of a delta, and removes it. KEYS[2]: the delta. ARGV[5]: an odd version. ARGV[6]:
  // expiry of the segment, or "0". Returns 1, or kNoDelta.
  Script merge;
  // Replaces an odd version by an even one. ARGV[5]: an even version. Returns the state.
  Script settle;

  // The same for a segment with a mark. KEYS[2]: the segment of the other generation. ARGV[6]: the
  // expected state of that segment, without the version. Then the other keys and arguments as
  // above. Change both segments, or only the first if the second does not belong to its generation.
  // If the second has an unexpected mark, change nothing and return both states, 32 bytes each.
  Script insert_both;
  Script durable_insert_both;
  // One more argument: kBoth, or kFirst to only check the second segment.
  Script merge_both;

  // Replaces the mark. ARGV[5]: the new mark. KEYS[2], if there is one: a segment to remove.
  // Returns the state. It has the new mark unless nothing was done.
  Script mark;
  // Closes a segment. If its mark is not the next generation, first adds its bits to the next
  // segment. KEYS: the segment, the next segment. ARGV: begin of the state, end of its window,
  // generation and length, next generation, an odd version, and expiry or "0". Returns 1, or 0 if
  // the segment does not have this generation and length.
  Script close;

  // Creates a segment of zeros unless it exists. ARGV: begin of the state, end of its window,
  // state, and expiry or "0". Returns the state.
  Script create;

  // KEYS of the next scripts: descriptor, rebuild record and lease, or the named ones.

  // Removes all three if the descriptor is ARGV[1]. Returns the record, "" if it was missing, or
  // kChanged.
  Script drop;
  // Takes over a rebuild. ARGV: the expected record or "", the new record, an owner whose lease is
  // ignored or "", the new owner, duration of the lease in milliseconds, and expiry of the record
  // or "0". Returns the descriptor, "" if it is missing, kChanged, or the milliseconds that the
  // lease of another owner lasts.
  Script acquire;
  // Renews the lease. KEYS: record, lease. ARGV: the record, its owner, milliseconds. Returns 1, or
  // kChanged.
  Script renew;
  // Replaces the descriptor. KEYS: descriptor, record. ARGV: the record, the descriptor, the new
  // descriptor. Returns 1, or kChanged.
  Script replace;
  // Removes record and lease. KEYS: record, lease. ARGV: the record. Returns 1, or kChanged.
  Script end;
  // Removes the lease. KEYS: lease. ARGV: the owner. Returns 1, or 0 if the owner differs.
  Script release;
};
const Scripts& AllScripts();

inline constexpr int64_t kNoDelta = -1;
inline constexpr int64_t kChanged = -1;
inline constexpr const char* kFirst = "1";
inline constexpr const char* kBoth = "2";

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_FILTER_SCRIPTS_H_
