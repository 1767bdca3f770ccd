/* Filters on Redis servers: made, asked, filled. */
#ifndef TAMIS_C_REDIS_FILTER_H_
#define TAMIS_C_REDIS_FILTER_H_

#include "tamis/c/base.h"
#include "tamis/c/filter.h"
#include "tamis/c/keys.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What questions do about keys that have no answer. */
enum {
  TAMIS_REDIS_FAIL = 0, /* they fail, after they have written the other answers and "maybe" */
  TAMIS_REDIS_MAYBE = 1 /* the answer is "maybe" */
};

/* By which way keys go to the servers. */
enum {
  TAMIS_REDIS_CHEAPER = 0, /* the one of these that costs less */
  TAMIS_REDIS_BLOCKS = 1,  /* their blocks are read, or set by a script for each segment */
  TAMIS_REDIS_SEGMENTS = 2 /* whole segments: asked here, or filled here and merged there */
};

/* Where the servers are, how long they may take, and how one client uses them: nothing of it is
 * kept there. Times are in milliseconds, at most a day. Where 0 is not in the range it is the
 * default. */
typedef struct tamis_redis_options {
  size_t struct_bytes;
  /* redis://[[user][:password]@]host[:port][/database] of a single server, or of any one node of a
   * cluster; rediss:// is TLS. NULL: redis://127.0.0.1:6379. No error shows the password. */
  const char* url;
  const char* user;            /* in place of those of the URL; NULL or "": none */
  const char* password;        /* sent to every node that the cluster names */
  const char* ca_file;         /* of TLS: certificates to trust; NULL or "": the system's */
  uint64_t connect_timeout_ms; /* default 2,000; names are looked up before, by the system */
  uint64_t command_timeout_ms; /* for each reply, and each 4 MiB of it; default 5,000 */
  /* How long what fails is tried again, if nothing else of the call succeeds meanwhile: longer than
   * a cluster needs to replace a node that is gone. Default 15,000. */
  uint64_t retry_for_ms;
  uint64_t min_backoff_ms; /* the first pause before that; default 10 */
  uint64_t max_backoff_ms; /* the longest one; default 1,000 */
  /* Of commands, replies and segments to be united that a server may have of a connection, but
   * always one command: for so long do other clients wait. Default 8 MiB. */
  uint64_t max_bytes_in_flight;
  /* The share of its time in which a server is left alone while it is sent many segments, in
   * [0, 0.9]. 0: the default, 0.5; -1: none. */
  double idle_share;
  /* 1: questions go to replicas where there are some. These lag behind, so that "no" may be given
   * for keys inserted since, unless they are durable on as many replicas as a master has. */
  uint32_t read_from_replicas;
  uint32_t unavailable; /* TAMIS_REDIS_FAIL or TAMIS_REDIS_MAYBE */
  uint32_t route;       /* TAMIS_REDIS_CHEAPER ... */
  /* So many replicas of each master are to have what is inserted and pushed: functions wait for
   * them for half of command_timeout_ms, and then are TAMIS_NOT_DURABLE: all is in. 0: none. */
  uint32_t durable_replicas;
  uint32_t has_secret;  /* 1: the next two are that of the filter's keyed hash, */
  uint32_t reserved;    /* 0 */
  uint64_t secret_low;  /* which servers do not have. To open one: else, or if it */
  uint64_t secret_high; /* is wrong, TAMIS_SECRET */
} tamis_redis_options;

/* What a filter is made as: capacity and fpr, or bytes, as in tamis_filter_options. */
typedef struct tamis_redis_create_options {
  size_t struct_bytes;
  uint64_t capacity;
  double fpr;
  uint64_t bytes;
  tamis_hash hash;
  /* Milliseconds since 1970, UTC, before April 2262: from then on, by the clocks of its clients,
   * nobody gets an answer from it. An hour later its keys expire, and the name is free again. 0: it
   * stays. */
  int64_t deadline_ms;
} tamis_redis_create_options;

/* A client of a filter on servers. It is never taken for empty: a segment that is missing there, or
 * not as it was made, has no answers and takes no keys. */
typedef struct tamis_redis_filter tamis_redis_filter;

/* Makes a filter. `name` is 1 to 200 bytes without braces and control characters, ended by a 0. The
 * secret of its hash is in `options`. `client` may be NULL. TAMIS_INVALID_ARGUMENT for options out
 * of range, a deadline that is over and a name that is taken, TAMIS_OUT_OF_MEMORY if a server has
 * not enough: then nothing is left of it, unless the servers fail as well. */
TAMIS_C_API tamis_status tamis_redis_filter_create(const char* name,
                                                   const tamis_redis_create_options* options,
                                                   const tamis_redis_options* client,
                                                   tamis_redis_filter** out);
/* Opens the one of that name. TAMIS_INVALID_ARGUMENT if there is none, TAMIS_CORRUPT if its
 * description is damaged, TAMIS_UNSUPPORTED if it is of a version that this library does not know.
 * With `expected`, which may be NULL, TAMIS_INCOMPATIBLE unless it has the size and the hash, with
 * its secret, that one of these options has. */
TAMIS_C_API tamis_status tamis_redis_filter_open(const char* name,
                                                 const tamis_redis_create_options* expected,
                                                 const tamis_redis_options* client,
                                                 tamis_redis_filter** out);
/* Ends its connections. What is on the servers stays. */
TAMIS_C_API void tamis_redis_filter_free(tamis_redis_filter* filter);
/* Removes the filter from the servers, for all clients. The handle is still to be freed. */
TAMIS_C_API tamis_status tamis_redis_filter_drop(tamis_redis_filter* filter);

/* Whether a filter is being rebuilt: tamis/c/redis/rebuild.h. */
enum {
  TAMIS_REDIS_NOT_REBUILT = 0,
  TAMIS_REDIS_REBUILT = 1,
  TAMIS_REDIS_REBUILD_ABANDONED = 2, /* whoever did it has not been heard of for its lease */
  TAMIS_REDIS_REBUILD_UNKNOWN = 3    /* no server has said */
};
typedef struct tamis_redis_node {
  const char* address; /* of a master */
  uint64_t segments;   /* that it has */
} tamis_redis_node;
typedef struct tamis_redis_info {
  size_t struct_bytes;
  uint64_t blocks;
  uint64_t bytes;
  uint64_t capacity;
  double fpr;
  uint32_t hash_kind;  /* TAMIS_HASH_... */
  uint32_t rebuild;    /* TAMIS_REDIS_NOT_REBUILT ... */
  uint64_t seed;       /* of the hash */
  uint64_t generation; /* random; another one after each rebuild */
  int64_t deadline_ms; /* as it was made; 0: none */
  uint64_t segments;
  uint64_t segment_bytes;
  uint64_t bad_segments; /* missing or damaged ones */
  uint64_t server_bytes; /* of the measured segments in the memory of the masters */
  /* The next two are valid until the next call with the filter. */
  const char* problem; /* what is wrong with a bad segment; "": there is none */
  const tamis_redis_node* nodes;
  uint64_t num_nodes;
  uint64_t measured_segments; /* of which a server has said how many bytes they are */
} tamis_redis_info;
/* Looks at all segments; bad ones are no error. `out` is made by TAMIS_INIT. */
TAMIS_C_API tamis_status tamis_redis_filter_get_info(tamis_redis_filter* filter,
                                                     tamis_redis_info* out);

/* The keys of the last call with `filter` that have no answer, may not be in, or, of
 * TAMIS_NOT_DURABLE, may be lost if a master fails: their indices in the call, ascending, valid
 * until the next one. All others are answered, or in, as asked for. If a call with keys failed and
 * there are none here, nothing is known of any of its keys: some may be in. Keys that may not be in
 * can be inserted again. With TAMIS_REDIS_MAYBE questions have none. */
TAMIS_C_API tamis_status tamis_redis_filter_unanswered(const tamis_redis_filter* filter,
                                                       const uint64_t** keys, uint64_t* count);

/* One key, as the functions of tamis/c/filter.h with these endings. A negative answer of
 * contains is one that servers did not give. */
TAMIS_C_API tamis_answer tamis_redis_filter_contains_u64(tamis_redis_filter* filter, uint64_t key);
TAMIS_C_API tamis_answer tamis_redis_filter_contains_string(tamis_redis_filter* filter,
                                                            const char* string, size_t bytes);
TAMIS_C_API tamis_answer tamis_redis_filter_contains_hash(tamis_redis_filter* filter,
                                                          uint64_t hash);
TAMIS_C_API tamis_answer tamis_redis_filter_insert_u64(tamis_redis_filter* filter, uint64_t key);
TAMIS_C_API tamis_answer tamis_redis_filter_insert_string(tamis_redis_filter* filter,
                                                          const char* string, size_t bytes);
TAMIS_C_API tamis_answer tamis_redis_filter_insert_hash(tamis_redis_filter* filter, uint64_t hash);

/* Many keys, as the functions of tamis/c/filter.h with these endings: many in one call take far
 * less time than one after the other. If keys have no answer (tamis_redis_filter_unanswered) all
 * outputs are written as well, with "maybe" for these. */
TAMIS_C_API tamis_status tamis_redis_filter_contains_bitmap(tamis_redis_filter* filter,
                                                            const tamis_keys* keys, uint64_t* bits,
                                                            uint64_t words, uint64_t* hits);
TAMIS_C_API tamis_status tamis_redis_filter_contains_bytes(tamis_redis_filter* filter,
                                                           const tamis_keys* keys, uint8_t* bytes,
                                                           uint64_t capacity, uint64_t* hits);
TAMIS_C_API tamis_status tamis_redis_filter_select32(tamis_redis_filter* filter,
                                                     const tamis_keys* keys, uint32_t* indices,
                                                     uint64_t capacity, uint64_t* hits);
TAMIS_C_API tamis_status tamis_redis_filter_select64(tamis_redis_filter* filter,
                                                     const tamis_keys* keys, uint64_t* indices,
                                                     uint64_t capacity, uint64_t* hits);
TAMIS_C_API tamis_status tamis_redis_filter_count(tamis_redis_filter* filter,
                                                  const tamis_keys* keys, uint64_t* hits);
/* Inserts all keys that are not null. *inserted, which may be NULL, becomes how many of these are
 * in, and on replicas, as asked for: also if that is not so for some, which are then
 * tamis_redis_filter_unanswered. The status is that of the worst of these: TAMIS_OUT_OF_MEMORY if a
 * server has none left, TAMIS_UNAVAILABLE, TAMIS_CORRUPT, and TAMIS_NOT_DURABLE if all are in. */
TAMIS_C_API tamis_status tamis_redis_filter_insert(tamis_redis_filter* filter,
                                                   const tamis_keys* keys, uint64_t* inserted);

/* The filter as it is on the servers, bit for bit, of kind TAMIS_SPLIT_BLOCK; segment after
 * segment, so keys that are inserted meanwhile are in or not. Servers do not know how many keys are
 * in. Takes twice its bytes while it is made. TAMIS_UNAVAILABLE or TAMIS_CORRUPT if a segment
 * cannot be had. */
TAMIS_C_API tamis_status tamis_redis_filter_pull(tamis_redis_filter* filter, tamis_filter** out);
/* Adds all keys of a local filter. TAMIS_INCOMPATIBLE unless that is of kind TAMIS_SPLIT_BLOCK and
 * of the same size and hash, TAMIS_SECRET if only its secret is another; TAMIS_UNAVAILABLE or
 * TAMIS_CORRUPT if a segment could not be reached: others may have been, and it can be done
 * again. */
TAMIS_C_API tamis_status tamis_redis_filter_push(tamis_redis_filter* filter,
                                                 const tamis_filter* local);

#ifdef __cplusplus
}
#endif

#endif /* TAMIS_C_REDIS_FILTER_H_ */
