/* Join filters: carry the keys of the build side of a hash join to the scan of the probe side. See
 * docs/join.md. */
#ifndef TAMIS_C_JOIN_H_
#define TAMIS_C_JOIN_H_

#include "tamis/c/base.h"
#include "tamis/c/filter.h"
#include "tamis/c/keys.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Each thread or machine of the build side inserts its keys into a part of its own. The parts are
 * added to the filter in any order, and tamis_join_complete chooses the structure that answers
 * queries. Before that, every query answers "maybe" for every key that is not null. A "no" is never
 * wrong.
 *
 * A join filter is a tamis_filter. The functions that query or describe a filter accept it. The
 * functions that change, copy or save a filter return TAMIS_UNSUPPORTED. Threads: any number of
 * threads may query a join filter, and call tamis_join_add and tamis_join_complete for it, at the
 * same time. */

/* ---- Filters ---- */

/* Keys of a join. */
enum {
  /* Integers, or times from 1677 to 2262. Queries may also pass their hashes, or other times. */
  TAMIS_JOIN_INTEGERS = 0,
  TAMIS_JOIN_HASHES = 1 /* strings, hashes, several columns (tamis_join_hash_columns) */
};

/* Members that are 0 have their defaults. The options determine the memory layout of parts, so all
 * threads and machines of a join must use the same. */
typedef struct tamis_join_options {
  size_t struct_bytes;    /* set by TAMIS_INIT */
  uint64_t expected_keys; /* distinct keys of the build side; at least 1 */
  uint32_t key_type;      /* TAMIS_JOIN_INTEGERS or TAMIS_JOIN_HASHES */
  uint32_t has_range;     /* 1: all integer keys are in [range_low, range_high] */
  /* The smallest and the largest key. Negative integers are converted as C converts them. If the
   * parts have a bitmap, a key outside makes the filter useless, but not wrong. */
  uint64_t range_low;
  uint64_t range_high;
  double fpr;          /* false-positive rate of a split-block filter; default 0.01 */
  uint64_t max_bytes;  /* of each part, and of the completed filter; default 64 MiB */
  uint64_t kept_keys;  /* keys that a part without a bitmap keeps in full; default 65536 */
  uint64_t l2_bytes;   /* the second-level cache of a processor; default 1 MiB */
  uint64_t l3_bytes;   /* the third-level cache; default 16 MiB */
  tamis_hash hash;     /* TAMIS_HASH_XXH3 or TAMIS_HASH_XXH64 */
  const char* backend; /* NULL: the default */
  /* A file of `tamis calibrate`, with the costs of lookups. NULL: the costs of a typical machine.
   */
  const char* calibration_path;
} tamis_join_options;

/* Creates a join filter without keys. Returns
 *   - TAMIS_INVALID_ARGUMENT for options out of range,
 *   - TAMIS_UNKNOWN_BACKEND, or the errors of reading a calibration. */
TAMIS_C_API tamis_status tamis_join_create(const tamis_join_options* options, tamis_filter** out);

/* ---- Parts: each is filled by one thread at a time ---- */

typedef struct tamis_join_part tamis_join_part;

/* Creates an empty part. Parts are numbered from 0, and each number is added once. */
TAMIS_C_API tamis_status tamis_join_part_create(const tamis_filter* filter, uint32_t index,
                                                tamis_join_part** out);
/* Frees a part, added or not. */
TAMIS_C_API void tamis_join_part_free(tamis_join_part* part);
/* Inserts all keys that are not null. Returns
 *   - TAMIS_INVALID_ARGUMENT for keys that are not integers, if the keys of the join are integers,
 *   - TAMIS_READ_ONLY if the part was added. */
TAMIS_C_API tamis_status tamis_join_part_insert(tamis_join_part* part, const tamis_keys* keys);
/* Writes the part as bytes for another machine (join/FORMAT.md), like tamis_filter_serialize. With
 * `data` NULL and `capacity` 0, only computes the size. `written` may be NULL. */
TAMIS_C_API tamis_status tamis_join_part_serialize(const tamis_join_part* part, void* data,
                                                   uint64_t capacity, uint64_t* written);
/* Creates a part from the bytes of tamis_join_part_serialize. Checks bytes from an untrusted
 * source. Returns TAMIS_CORRUPT for damaged bytes, and TAMIS_UNSUPPORTED for another version. */
TAMIS_C_API tamis_status tamis_join_part_from_bytes(const void* data, uint64_t bytes,
                                                    tamis_join_part** out);
/* Describes a part. *out becomes a JSON object; free it with tamis_text_free. Members:
 *   - `index`: the number of the part
 *   - `contents`: "list" for keys in full, "bitmap", "blocks" or "nothing"
 *   - `inserted`: number of keys inserted; duplicates count, nulls do not
 *   - `bytes`: size of the contents */
TAMIS_C_API tamis_status tamis_join_part_json(const tamis_join_part* part, char** out);

/* ---- From parts to answers ---- */

/* Adds the keys of a part to a filter, and empties the part, which must still be freed. Returns,
 * and changes nothing,
 *   - TAMIS_INCOMPATIBLE if the part has another memory layout; the message has both layouts,
 *   - TAMIS_INVALID_ARGUMENT if a part with this number was added before, or if `part` is empty,
 *   - TAMIS_READ_ONLY if the filter is complete,
 *   - TAMIS_UNSUPPORTED if `filter` is not a join filter. */
TAMIS_C_API tamis_status tamis_join_add(tamis_filter* filter, tamis_join_part* part);
/* Chooses the structure, and publishes it for queries. Returns, and changes nothing,
 *   - TAMIS_INVALID_ARGUMENT unless exactly the parts 0 to `parts_expected` - 1 were added; the
 *     message names the missing parts,
 *   - TAMIS_READ_ONLY if the filter is complete,
 *   - TAMIS_UNSUPPORTED if `filter` is not a join filter. */
TAMIS_C_API tamis_status tamis_join_complete(tamis_filter* filter, uint32_t parts_expected);
/* Describes a join filter. *out becomes a JSON object; free it with tamis_text_free. Members:
 *   - `complete`: whether tamis_join_complete has returned
 *   - `form`: "nothing", "list", "bitmap" or "blocks"; "nothing" before completion
 *   - `parts_added`
 *   - `bytes`: size of the completed structure
 *   - `range`: the smallest and the largest key, as uint64_t; missing if they are unknown
 *   - `choice`: an object with `form`, `reason`, and `candidates`. Before completion, the choice
 *     that determined the contents of the parts. A candidate has `form`, and `error` if it is
 *     impossible, otherwise `bytes`, `place` ("L2", "L3" or "memory") and `ns_per_row`. */
TAMIS_C_API tamis_status tamis_join_json(const tamis_filter* filter, char** out);

/* Hashes rows of `num_columns` columns, for a join of TAMIS_JOIN_HASHES. All columns have the same
 * `count`. `hash` is the hash of the filter; NULL: the default. Writes a hash for each row to
 * `hashes`, which has room for `capacity` elements. Writes a bit for each row to `valid`, which has
 * room for `words` elements: 0 if a column is null there. Query or insert them as keys of the
 * layout TAMIS_KEYS_HASHES with `valid` as validity. The order of columns matters. */
TAMIS_C_API tamis_status tamis_join_hash_columns(const tamis_keys* columns, uint64_t num_columns,
                                                 const tamis_hash* hash, uint64_t* hashes,
                                                 uint64_t capacity, uint64_t* valid,
                                                 uint64_t words);

/* ---- Does the filter pay? ---- */

/* Members that are 0 have their defaults. */
typedef struct tamis_join_probe_options {
  size_t struct_bytes; /* set by TAMIS_INIT */
  /* Nanoseconds that a row costs after the filter, such as for a lookup in the hash table; default
   * 10. */
  double row_ns;
  uint64_t sample_rows; /* rows of a sample; default 4096 */
  /* The filter is switched off if it costs more than `margin` times what it saves, in two samples
   * in a row; at least 1, default 1.2. */
  double margin;
  uint64_t pause_rows; /* rows of the first pause; default 262144. Further pauses double. */
  uint32_t max_pauses; /* the pause after these never ends; default 8 */
  uint32_t reserved;   /* 0 */
} tamis_join_probe_options;

/* Queries a join filter for one thread that scans the probe side, and measures whether that pays.
 * Each thread has a probe of its own. */
typedef struct tamis_join_probe tamis_join_probe;

/* Creates a probe. `filter` must outlive the probe. `options` may be NULL. */
TAMIS_C_API tamis_status tamis_join_probe_create(const tamis_filter* filter,
                                                 const tamis_join_probe_options* options,
                                                 tamis_join_probe** out);
TAMIS_C_API void tamis_join_probe_free(tamis_join_probe* probe);
/* Returns 1 if the next `rows` rows should be queried. If 0, all of them pass, and they are counted
 * as skipped. Returns 0 before the filter is complete, and if its form is "nothing". */
TAMIS_C_API tamis_answer tamis_join_probe_wanted(tamis_join_probe* probe, uint64_t rows);
/* Calls tamis_filter_select_from on the calling thread, and measures the call. */
TAMIS_C_API tamis_status tamis_join_probe_select_from(tamis_join_probe* probe,
                                                      const tamis_keys* keys,
                                                      const uint32_t* selection,
                                                      uint64_t num_selected, uint32_t* rows,
                                                      uint64_t capacity, uint64_t* hits);
/* Adds a measurement of a program that queries the filter by other functions: `rows` rows, of which
 * `passed` passed, in `ns` nanoseconds. A time that is negative or not finite is ignored. */
TAMIS_C_API tamis_status tamis_join_probe_record(tamis_join_probe* probe, uint64_t rows,
                                                 uint64_t passed, double ns);
/* Describes a probe. *out becomes a JSON object; free it with tamis_text_free. Its members are
 * `verdict` ("keep", "try again later" or "switch off") and the counters of JoinProbe::Counters. */
TAMIS_C_API tamis_status tamis_join_probe_json(const tamis_join_probe* probe, char** out);

#ifdef __cplusplus
}
#endif

#endif /* TAMIS_C_JOIN_H_ */
