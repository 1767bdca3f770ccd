/* Filling a filter on Redis servers anew, while its clients go on. */
#ifndef TAMIS_C_REDIS_REBUILD_H_
#define TAMIS_C_REDIS_REBUILD_H_

#include "tamis/c/base.h"
#include "tamis/c/filter.h"
#include "tamis/c/keys.h"
#include "tamis/c/redis/filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a source inserts its keys into: memory of this machine. Of the library, and only to be used
 * by the source, on the thread that calls it. */
typedef struct tamis_redis_inserter tamis_redis_inserter;

/* Reads the keys that a filter is to have. Any other status than TAMIS_OK ends the rebuild, which
 * then returns it. No exception of C++ and no longjmp may leave it, and it may not use the filter
 * that is rebuilt. */
typedef tamis_status (*tamis_redis_source)(tamis_redis_inserter* into, void* context);

/* What a rebuild does, one after the other. */
enum {
  TAMIS_REDIS_MARK = 0,   /* makes the new generation, and tells writers of it */
  TAMIS_REDIS_FILL = 1,   /* the source is read */
  TAMIS_REDIS_MERGE = 2,  /* what it gave is written to the servers */
  TAMIS_REDIS_SWITCH = 3, /* clients begin with the new generation */
  TAMIS_REDIS_CLOSE = 4,  /* those who still read the old one are sent to the new one */
  TAMIS_REDIS_REMOVE = 5  /* the old one is removed */
};
/* Called by the rebuilding thread at the beginning of each step and during it. `done` of `total`
 * are keys of TAMIS_REDIS_FILL, else segments; a total of 0 is not known. Returns 0 to go on; any
 * other number ends the rebuild, which is then TAMIS_CANCELLED. */
typedef int32_t (*tamis_redis_progress)(uint32_t step, uint64_t done, uint64_t total,
                                        void* context);

/* Times are in milliseconds, at most a day. */
typedef struct tamis_redis_rebuild_options {
  size_t struct_bytes;
  /* For how long after its last sign of life a rebuild is not taken for abandoned. It gives one
   * with each portion of its work and each function of the inserter. 0: 30,000. */
  uint64_t lease_ms;
  /* How long the old generation stays, closed, for commands of others that are still on their way.
   * 0: 5,000; -1: not at all. */
  int64_t grace_ms;
  tamis_redis_progress on_progress; /* may be NULL */
  void* context;                    /* of on_progress */
  uint32_t no_huge_pages;           /* 1: the kernel is not asked for huge pages */
  uint32_t reserved;                /* 0 */
} tamis_redis_rebuild_options;

typedef struct tamis_redis_rebuild_result {
  size_t struct_bytes;
  uint64_t generation;      /* the new one */
  uint64_t keys;            /* that the source has inserted */
  uint32_t ended_abandoned; /* 1: there was an abandoned rebuild, which this one has ended first */
  uint32_t reserved;
} tamis_redis_rebuild_result;

/* Fills the filter anew under its name, of the same size and hash, with what source(into, context)
 * inserts, and removes what it had before. All clients go on asking and inserting meanwhile. None
 * of their keys is lost or answered by "no", if a key that is inserted before the source is called,
 * or while that begins, is in what it reads: so clients should first write a key where the source
 * finds it, and then insert it.
 *
 * Meanwhile the servers have the memory of two filters, and this machine that of one. If the client
 * that rebuilds dies, another one ends it when the lease is over.
 *
 * `options` and `result` may be NULL. TAMIS_BUSY if another client rebuilds it, or has taken over
 * since the lease was over; TAMIS_CANCELLED; TAMIS_INVALID_ARGUMENT if there is no filter of that
 * name any more; TAMIS_NOT_DURABLE if replicas do not get what is written; TAMIS_CORRUPT. Then the
 * filter is as it was, with all that was inserted meanwhile, unless tamis_last_error() says that
 * the new generation is in place. */
TAMIS_C_API tamis_status tamis_redis_filter_rebuild(tamis_redis_filter* filter,
                                                    tamis_redis_source source, void* context,
                                                    const tamis_redis_rebuild_options* options,
                                                    tamis_redis_rebuild_result* result);
/* Ends a rebuild whose client is gone: goes on from where all keys had been written, and else
 * leaves the filter as it was. *ended, which may be NULL, becomes whether there was one.
 * TAMIS_BUSY if its lease is not over. */
TAMIS_C_API tamis_status tamis_redis_filter_end_abandoned_rebuild(
    tamis_redis_filter* filter, const tamis_redis_rebuild_options* options, uint32_t* ended);

/* Inserts all keys that are not null. *inserted, which may be NULL, becomes how many these are.
 * TAMIS_CANCELLED, TAMIS_BUSY or TAMIS_UNAVAILABLE if the rebuild cannot go on: a source then
 * returns that. */
TAMIS_C_API tamis_status tamis_redis_inserter_insert(tamis_redis_inserter* into,
                                                     const tamis_keys* keys, uint64_t* inserted);
/* Adds all keys of a local filter, as tamis_redis_filter_push. `keys` of the result does not know
 * of these. */
TAMIS_C_API tamis_status tamis_redis_inserter_add(tamis_redis_inserter* into,
                                                  const tamis_filter* local);
/* What the others do beside their keys: for sources that have none for long. */
TAMIS_C_API tamis_status tamis_redis_inserter_keep_alive(tamis_redis_inserter* into);
/* How many keys there will be, for on_progress. */
TAMIS_C_API tamis_status tamis_redis_inserter_set_total(tamis_redis_inserter* into, uint64_t keys);

#ifdef __cplusplus
}
#endif

#endif /* TAMIS_C_REDIS_REBUILD_H_ */
