// The Lua scripts that servers run. A server runs each script as a whole or not at all. A script
// first checks the data. If the data is not as expected, the script changes nothing. FORMAT.md
// describes the checks. No script changes when an existing descriptor, record or segment expires.
#ifndef TAMIS_REDIS_SRC_FILTER_SCRIPTS_H_
#define TAMIS_REDIS_SRC_FILTER_SCRIPTS_H_

#include "redis/src/client/command.h"

namespace tamis::redis {

// Offsets are decimal texts, because scripts read texts faster than they print numbers. Comments
// list KEYS, ARGV and the reply of each script. "State" means the window that segment_state.h
// defines.
struct Scripts {
  // Arguments of the scripts up to `mark`. KEYS[1]: the segment. ARGV[1]: begin of the state.
  // ARGV[2]: end of the state window. ARGV[3]: expected state without the version. ARGV[4]: offset
  // of the version, or for `mark`, of the mark. If the state is not the expected one, these scripts
  // change nothing and return the state.

  // Sets bits. ARGV[5]: an odd version, which replaces an even version if a block changes. Three
  // more arguments for each block: offsets of its first and last byte, and 32 bytes. Returns the
  // number of blocks that changed.
  Script insert;
  // Like `insert`, but also writes if no block changes, so that WAIT covers bits of other clients.
  Script durable_insert;
  // Sets the bits of a delta in the segment, and removes the delta. KEYS[2]: the delta. ARGV[5]: an
  // odd version, which replaces an even one. ARGV[6]: expiry of the segment, or "0". Returns 1, or
  // kNoDelta if the delta is missing or is not as long as the bits.
  Script merge;
  // Replaces an odd version by an even one. ARGV[5]: an even version. Returns the new state.
  Script settle;

  // Like `insert`, `durable_insert` and `merge`, for a segment with a mark. KEYS[2]: the segment of
  // the other generation. ARGV[6]: the expected state of that segment, without the version. The
  // other keys and arguments follow. These scripts change both segments. If KEYS[2] is not a
  // segment of its generation, they change only KEYS[1]. If KEYS[2] has an unexpected mark, they
  // change nothing and return both states, 32 bytes each.
  Script insert_both;
  Script durable_insert_both;
  // ARGV[8]: kBoth, or kFirst to check the second segment but not change it.
  Script merge_both;

  // Replaces the mark. ARGV[5]: the new mark. KEYS[2], optional: a segment to remove. Returns the
  // state, which has the new mark if the script has replaced the mark.
  Script mark;
  // Closes a segment. If its mark is not the next generation, first adds its bits to the segment of
  // the next generation. KEYS: the segment, and the segment of the next generation. ARGV: begin of
  // the state, end of the state window, the generation and length in the state, the next
  // generation, an odd version, and expiry or "0". Returns 1, or 0 if the state has another
  // generation or length.
  Script close;

  // Creates a segment of zeros unless the key exists. ARGV: begin of the state, end of the state
  // window, state, and expiry or "0". Returns the state.
  Script create;

  // KEYS of the scripts below: descriptor, rebuild record and lease, unless a comment lists others.

  // Removes all three keys if the descriptor is ARGV[1]. Returns the record, "" if the record was
  // missing, or kChanged if the descriptor differs.
  Script drop;
  // Begins a rebuild or takes it over. ARGV: the expected record or "", the new record, an owner
  // whose lease is ignored or "", the new owner, duration of the lease in milliseconds, and expiry
  // of the record or "0". Returns the descriptor, "" if the descriptor is missing, kChanged if the
  // record differs, or the milliseconds that remain of another owner's lease.
  Script acquire;
  // Renews the lease. KEYS: record, lease. ARGV: the record, its owner, duration of the lease in
  // milliseconds. Returns 1, or kChanged if the record differs.
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
