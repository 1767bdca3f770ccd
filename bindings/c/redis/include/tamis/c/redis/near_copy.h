/* Filters on Redis servers with a copy in the memory of this machine. */
#ifndef TAMIS_C_REDIS_NEAR_COPY_H_
#define TAMIS_C_REDIS_NEAR_COPY_H_

#include "tamis/c/base.h"
#include "tamis/c/filter.h"
#include "tamis/c/keys.h"
#include "tamis/c/redis/filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Answers "maybe" at the speed of memory, as keys are never taken out of a filter. A "no" is the
 * servers' or, with staleness_ms, that of a copy that was not older than this when the call began:
 * a key whose insertion was over so long before the call is found. Copies are refreshed by segment:
 * those that have changed alone. */
typedef struct tamis_redis_near_copy tamis_redis_near_copy;

typedef struct tamis_redis_near_copy_options {
  size_t struct_bytes;
  /* How old a copy may be whose "no" is given without a question to the servers; an older one is
   * refreshed first. The clock is CLOCK_MONOTONIC, which stands still while the machine is
   * suspended. 0: every "no" is confirmed by the servers. */
  uint64_t staleness_ms;
  /* A thread of the copy's own refreshes it so often, on connections of its own; at most a day. The
   * copy is then of this process alone: in a child of fork its functions are
   * TAMIS_INVALID_ARGUMENT. 0: calls refresh it, and there is no thread. */
  uint64_t refresh_every_ms;
  uint32_t no_huge_pages; /* 1: the kernel is not asked for huge pages */
  uint32_t reserved;      /* 0 */
} tamis_redis_near_copy_options;

/* Opens the filter of that name, as tamis_redis_filter_open, and reads all of it. `options` and
 * `client` may be NULL. TAMIS_OUT_OF_MEMORY also if no thread can be had. */
TAMIS_C_API tamis_status tamis_redis_near_copy_open(const char* name,
                                                    const tamis_redis_near_copy_options* options,
                                                    const tamis_redis_options* client,
                                                    tamis_redis_near_copy** out);
/* Ends its thread as well. */
TAMIS_C_API void tamis_redis_near_copy_free(tamis_redis_near_copy* copy);

/* Reads what has changed. *segments, which may be NULL, becomes how many were read. */
TAMIS_C_API tamis_status tamis_redis_near_copy_refresh(tamis_redis_near_copy* copy,
                                                       uint64_t* segments);

typedef struct tamis_redis_near_copy_stats {
  size_t struct_bytes;
  uint64_t age_ms;    /* it has all that was in so long ago; UINT64_MAX: a part of it is lacking */
  uint64_t refreshes; /* that succeeded, of calls and of the thread */
  uint64_t segments;  /* that were read by these, and by those that failed */
  uint64_t failures;  /* of the thread, which goes on */
  uint64_t failures_in_a_row;
  const char* last_error; /* of the last failure; "": none. Valid until the next such call */
} tamis_redis_near_copy_stats;
/* `out` is made by TAMIS_INIT. Asks no server. */
TAMIS_C_API tamis_status tamis_redis_near_copy_get_stats(tamis_redis_near_copy* copy,
                                                         tamis_redis_near_copy_stats* out);

/* A filter of kind TAMIS_SPLIT_BLOCK with what the copy has. Asks no server. TAMIS_UNSUPPORTED with
 * refresh_every_ms, as the copy changes at any time. */
TAMIS_C_API tamis_status tamis_redis_near_copy_snapshot(tamis_redis_near_copy* copy,
                                                        tamis_filter** out);

/* As the functions of tamis/c/redis/filter.h with these endings. If the copy is too old and the
 * servers cannot be reached, keys that it does not have are without an answer. Insertions go to the
 * servers, and then into the copy. */
TAMIS_C_API tamis_status tamis_redis_near_copy_unanswered(const tamis_redis_near_copy* copy,
                                                          const uint64_t** keys, uint64_t* count);
TAMIS_C_API tamis_answer tamis_redis_near_copy_contains_u64(tamis_redis_near_copy* copy,
                                                            uint64_t key);
TAMIS_C_API tamis_answer tamis_redis_near_copy_contains_string(tamis_redis_near_copy* copy,
                                                               const char* string, size_t bytes);
TAMIS_C_API tamis_answer tamis_redis_near_copy_contains_hash(tamis_redis_near_copy* copy,
                                                             uint64_t hash);
TAMIS_C_API tamis_answer tamis_redis_near_copy_insert_u64(tamis_redis_near_copy* copy,
                                                          uint64_t key);
TAMIS_C_API tamis_answer tamis_redis_near_copy_insert_string(tamis_redis_near_copy* copy,
                                                             const char* string, size_t bytes);
TAMIS_C_API tamis_answer tamis_redis_near_copy_insert_hash(tamis_redis_near_copy* copy,
                                                           uint64_t hash);
TAMIS_C_API tamis_status tamis_redis_near_copy_contains_bitmap(tamis_redis_near_copy* copy,
                                                               const tamis_keys* keys,
                                                               uint64_t* bits, uint64_t words,
                                                               uint64_t* hits);
TAMIS_C_API tamis_status tamis_redis_near_copy_contains_bytes(tamis_redis_near_copy* copy,
                                                              const tamis_keys* keys,
                                                              uint8_t* bytes, uint64_t capacity,
                                                              uint64_t* hits);
TAMIS_C_API tamis_status tamis_redis_near_copy_select32(tamis_redis_near_copy* copy,
                                                        const tamis_keys* keys, uint32_t* indices,
                                                        uint64_t capacity, uint64_t* hits);
TAMIS_C_API tamis_status tamis_redis_near_copy_select64(tamis_redis_near_copy* copy,
                                                        const tamis_keys* keys, uint64_t* indices,
                                                        uint64_t capacity, uint64_t* hits);
TAMIS_C_API tamis_status tamis_redis_near_copy_count(tamis_redis_near_copy* copy,
                                                     const tamis_keys* keys, uint64_t* hits);
TAMIS_C_API tamis_status tamis_redis_near_copy_insert(tamis_redis_near_copy* copy,
                                                      const tamis_keys* keys, uint64_t* inserted);

#ifdef __cplusplus
}
#endif

#endif /* TAMIS_C_REDIS_NEAR_COPY_H_ */
