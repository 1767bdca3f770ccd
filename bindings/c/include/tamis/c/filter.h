/* Filters of all kinds: made, asked, changed. */
#ifndef TAMIS_C_FILTER_H_
#define TAMIS_C_FILTER_H_

#include "tamis/c/base.h"
#include "tamis/c/engine.h"
#include "tamis/c/keys.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Its answer is "maybe" for every key that was inserted, and "no" for all others but a few, whose
 * share is the false-positive rate. */
typedef struct tamis_filter tamis_filter;

/* Give capacity and fpr, or bytes. */
typedef struct tamis_filter_options {
  size_t struct_bytes;
  uint64_t capacity; /* keys to be inserted; at least 1 unless bytes is given */
  /* False-positive rate at capacity, in [1e-12, 0.5]. 0: 0.01 for Bloom filters, and for cuckoo
   * filters the rate of a full table. */
  double fpr;
  uint64_t bytes; /* if not 0, the size: rounded down to what the kind can have */
  tamis_hash hash;
  const char* backend;    /* NULL: the default */
  uint32_t no_huge_pages; /* 1: the kernel is not asked for huge pages */
  uint32_t reserved;      /* 0 */
} tamis_filter_options;

/* Where 0 is not in the range it is the default. */
typedef struct tamis_scalable_options {
  size_t struct_bytes;
  uint32_t layers;           /* any other kind but TAMIS_COUNTING; default TAMIS_SPLIT_BLOCK */
  uint32_t no_huge_pages;    /* as above */
  uint64_t initial_capacity; /* keys of the first layer; default 65536 */
  double fpr;                /* of the whole; default 0.01 */
  double growth;      /* capacity of a layer, as a multiple of the last, in [1, 1024]; default 2 */
  double tightening;  /* a layer may use up 1 - tightening of the error left: [0.01, 0.99]; 0.85 */
  uint64_t max_bytes; /* of all layers together; 0: no limit */
  tamis_hash hash;
  const char* backend; /* NULL: the default */
} tamis_scalable_options;

/* Makes an empty filter. A scalable one is made by the second. TAMIS_INVALID_ARGUMENT for options
 * out of range, TAMIS_OUT_OF_MEMORY, TAMIS_UNKNOWN_BACKEND, TAMIS_UNSUPPORTED for a number that is
 * no kind. `options` of the second may be NULL. */
TAMIS_C_API tamis_status tamis_filter_create(uint32_t kind, const tamis_filter_options* options,
                                             tamis_filter** out);
TAMIS_C_API tamis_status tamis_filter_create_scalable(const tamis_scalable_options* options,
                                                      tamis_filter** out);
/* A copy in memory of its own, never read-only. TAMIS_CORRUPT for one that is mapped from a damaged
 * file. */
TAMIS_C_API tamis_status tamis_filter_clone(const tamis_filter* filter, tamis_filter** out);
TAMIS_C_API void tamis_filter_free(tamis_filter* filter);

typedef struct tamis_filter_info {
  size_t struct_bytes;
  uint32_t kind;      /* TAMIS_SPLIT_BLOCK ... */
  uint32_t read_only; /* 1: it is mapped, and cannot be changed */
  uint64_t capacity;  /* keys it was sized for */
  uint64_t inserted;  /* keys inserted, duplicates included, less those erased */
  uint64_t bytes;     /* of the filter itself */
  double bits_per_key;
  uint32_t hash_kind;   /* TAMIS_HASH_... */
  uint32_t key_forms;   /* of all keys inserted: bit i is form i of core/FORMAT.md; 0: none */
  uint64_t seed;        /* of the hash; its secret is told nobody */
  uint64_t geometry[3]; /* by kind, see core/FORMAT.md: blocks; chunks, chunk buckets ... */
} tamis_filter_info;
/* `out` is made by TAMIS_INIT. O(1), or O(layers). */
TAMIS_C_API tamis_status tamis_filter_get_info(const tamis_filter* filter, tamis_filter_info* out);

/* The number of distinct keys inserted, estimated from the contents. O(bytes). */
TAMIS_C_API tamis_status tamis_filter_estimated_count(const tamis_filter* filter, double* out);
/* The false-positive rate at the present fill: from the contents, O(bytes); and by the number of
 * keys inserted as if all were distinct, O(1). */
TAMIS_C_API tamis_status tamis_filter_expected_fpr(const tamis_filter* filter, double* out);
TAMIS_C_API tamis_status tamis_filter_fpr_by_count(const tamis_filter* filter, double* out);
/* The contents as they are in a file; none of a scalable filter. Valid until the filter is freed.
 */
TAMIS_C_API tamis_status tamis_filter_payload(const tamis_filter* filter, const void** data,
                                              uint64_t* bytes);
/* Which instructions the filter uses on the calling thread: a tamis_backend_name. */
TAMIS_C_API tamis_status tamis_filter_set_backend(tamis_filter* filter, const char* name);

/* ---- One key. Integers by their value widened to 64 bits; `string` has `bytes` bytes, and may be
 * NULL if these are 0. A hash is one of tamis_hash_keys. ---- */

TAMIS_C_API tamis_answer tamis_filter_contains_u64(const tamis_filter* filter, uint64_t key);
TAMIS_C_API tamis_answer tamis_filter_contains_string(const tamis_filter* filter,
                                                      const char* string, size_t bytes);
TAMIS_C_API tamis_answer tamis_filter_contains_hash(const tamis_filter* filter, uint64_t hash);

/* Whether the key was inserted. 0 if a cuckoo or scalable filter has no room for it: then nothing
 * has changed. -TAMIS_READ_ONLY for a mapped filter. */
TAMIS_C_API tamis_answer tamis_filter_insert_u64(tamis_filter* filter, uint64_t key);
TAMIS_C_API tamis_answer tamis_filter_insert_string(tamis_filter* filter, const char* string,
                                                    size_t bytes);
TAMIS_C_API tamis_answer tamis_filter_insert_hash(tamis_filter* filter, uint64_t hash);

/* Inserts the key unless it may be in. 1: it was inserted, and so is new. 0: it may be in, or there
 * is no room for it, which tamis_filter_contains_... then tells apart. */
TAMIS_C_API tamis_answer tamis_filter_insert_if_absent_u64(tamis_filter* filter, uint64_t key);
TAMIS_C_API tamis_answer tamis_filter_insert_if_absent_string(tamis_filter* filter,
                                                              const char* string, size_t bytes);
TAMIS_C_API tamis_answer tamis_filter_insert_if_absent_hash(tamis_filter* filter, uint64_t hash);

/* Erases one copy of a key. Whether it was found and erased. Erase only keys that were inserted:
 * for another one the filter may find, and take away, what stands for a key that is in.
 * -TAMIS_UNSUPPORTED for a filter that cannot erase. */
TAMIS_C_API tamis_answer tamis_filter_erase_u64(tamis_filter* filter, uint64_t key);
TAMIS_C_API tamis_answer tamis_filter_erase_string(tamis_filter* filter, const char* string,
                                                   size_t bytes);
TAMIS_C_API tamis_answer tamis_filter_erase_hash(tamis_filter* filter, uint64_t hash);

/* ---- Many keys: lookups. `engine` may be NULL: the calling thread. `hits`, which may be NULL,
 * becomes the number of keys that may be in. ---- */

/* One bit for each key, least significant bit first: key i is bit i % 64 of bits[i / 64], which is
 * Arrow's order. Writes (count + 63) / 64 words, the bits past the last key as 0; `words` is how
 * many there is room for. */
TAMIS_C_API tamis_status tamis_filter_contains_bitmap(const tamis_filter* filter,
                                                      const tamis_engine* engine,
                                                      const tamis_keys* keys, uint64_t* bits,
                                                      uint64_t words, uint64_t* hits);
/* One byte for each key, 0 or 1; `capacity` is how many there is room for. */
TAMIS_C_API tamis_status tamis_filter_contains_bytes(const tamis_filter* filter,
                                                     const tamis_engine* engine,
                                                     const tamis_keys* keys, uint8_t* bytes,
                                                     uint64_t capacity, uint64_t* hits);
/* The indices of the keys that may be in, ascending, counted from the first key of `keys`. There
 * must be room for one of each key, however few are in; those past *hits are unspecified. With 32
 * bits at most 2^32 keys. */
TAMIS_C_API tamis_status tamis_filter_select32(const tamis_filter* filter,
                                               const tamis_engine* engine, const tamis_keys* keys,
                                               uint32_t* indices, uint64_t capacity,
                                               uint64_t* hits);
TAMIS_C_API tamis_status tamis_filter_select64(const tamis_filter* filter,
                                               const tamis_engine* engine, const tamis_keys* keys,
                                               uint64_t* indices, uint64_t capacity,
                                               uint64_t* hits);
/* Here `hits` is the output, and not NULL. */
TAMIS_C_API tamis_status tamis_filter_count(const tamis_filter* filter, const tamis_engine* engine,
                                            const tamis_keys* keys, uint64_t* hits);

/* ---- Many keys: changes, in the order of the keys. TAMIS_READ_ONLY for a mapped filter. If memory
 * runs out with keys of 8 or 16 bits, pointers or views, some of them may have been changed. ----
 */

/* *inserted, which may be NULL, becomes how many were inserted: all but nulls and what cuckoo and
 * scalable filters have no room for. The indices of the others go, ascending, to
 * rejected[0 .. count - *inserted), which needs room for one of each key, or may be NULL. */
TAMIS_C_API tamis_status tamis_filter_insert(tamis_filter* filter, const tamis_engine* engine,
                                             const tamis_keys* keys, uint64_t* inserted,
                                             uint64_t* rejected, uint64_t rejected_capacity);
/* Inserts the keys that are absent, one after the other: bit i of `fresh` becomes whether key i was
 * new, and was inserted. A key that came earlier in `keys` is not new, nor is one that the filter
 * wrongly takes for one that is in. Bit i of `rejected`, which may be NULL, becomes whether key i
 * is absent and found no room. Both need (count + 63) / 64 words, of which they have `words`.
 * *num_fresh, which may be NULL, becomes how many were new. */
TAMIS_C_API tamis_status tamis_filter_insert_if_absent(tamis_filter* filter,
                                                       const tamis_engine* engine,
                                                       const tamis_keys* keys, uint64_t* fresh,
                                                       uint64_t* rejected, uint64_t words,
                                                       uint64_t* num_fresh);
/* Erases one copy of each key; see tamis_filter_erase_u64. `erased` and `missing` as `inserted` and
 * `rejected` of tamis_filter_insert. */
TAMIS_C_API tamis_status tamis_filter_erase(tamis_filter* filter, const tamis_engine* engine,
                                            const tamis_keys* keys, uint64_t* erased,
                                            uint64_t* missing, uint64_t missing_capacity);

/* Empties the filter. */
TAMIS_C_API tamis_status tamis_filter_clear(tamis_filter* filter);

/* ---- Two filters of the same kind, geometry and hash, else TAMIS_INCOMPATIBLE with the reason.
 * ----
 */

/* Adds all keys of `other`, which may be mapped, to `filter`. The two may not be the same. */
TAMIS_C_API tamis_status tamis_filter_merge(tamis_filter* filter, const tamis_filter* other);
/* Keeps what both have: no key that is in both is lost. TAMIS_UNSUPPORTED unless the kind has
 * TAMIS_CAN_INTERSECT. */
TAMIS_C_API tamis_status tamis_filter_intersect(tamis_filter* filter, const tamis_filter* other);
/* A filter of half the blocks, bit for bit the one that would have been built from the same keys at
 * that size. Of split-block filters with an even number of blocks, else TAMIS_INVALID_ARGUMENT; of
 * others TAMIS_UNSUPPORTED. */
TAMIS_C_API tamis_status tamis_filter_fold(const tamis_filter* filter, tamis_filter** out);

#ifdef __cplusplus
}
#endif

#endif /* TAMIS_C_FILTER_H_ */
