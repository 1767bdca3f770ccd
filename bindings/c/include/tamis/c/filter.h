/* Filters: creation, queries and changes. */
#ifndef TAMIS_C_FILTER_H_
#define TAMIS_C_FILTER_H_

#include "tamis/c/base.h"
#include "tamis/c/engine.h"
#include "tamis/c/keys.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A filter answers "maybe" for every inserted key, and "no" for almost all other keys. The share of
 * the other keys that get "maybe" is the false-positive rate.
 *
 * A handle refers to one of four sorts of filters: filters of tamis, views of memory that the
 * caller owns (tamis_filter_view), filters of other libraries (docs/formats.md), and join filters
 * (tamis/c/join.h). All sorts support the functions that query and describe. All except join
 * filters support the functions that insert. Other functions return TAMIS_UNSUPPORTED for a sort or
 * a kind that does not support them. */
typedef struct tamis_filter tamis_filter;

/* ---- Creation ---- */

/* Set capacity and fpr, or set bytes. For tamis_filter_build, capacity and bytes must be 0. */
typedef struct tamis_filter_options {
  size_t struct_bytes; /* set by TAMIS_INIT */
  uint64_t capacity;   /* number of keys to insert; at least 1 unless bytes is given */
  /* False-positive rate at capacity, in [1e-12, 0.5]. 0: 0.01 for Bloom filters, and the rate of a
   * full table for cuckoo filters. A fuse filter has the fixed rate of its kind, which must not
   * exceed a nonzero fpr. */
  double fpr;
  uint64_t bytes;         /* if not 0, the size, rounded down to a size that the kind supports */
  tamis_hash hash;        /* the hash of the filter */
  const char* backend;    /* NULL: the default */
  uint32_t no_huge_pages; /* 1: does not request huge pages */
  uint32_t reserved;      /* 0 */
} tamis_filter_options;

/* Members that are 0 have their defaults. */
typedef struct tamis_scalable_options {
  size_t struct_bytes; /* set by TAMIS_INIT */
  /* Any kind except TAMIS_COUNTING, TAMIS_SCALABLE and TAMIS_FUSE...; default TAMIS_SPLIT_BLOCK. */
  uint32_t layers;
  uint32_t no_huge_pages;    /* 1: does not request huge pages */
  uint64_t initial_capacity; /* keys of the first layer; default 65536 */
  double fpr;                /* of the whole filter; default 0.01 */
  double growth; /* capacity of a layer as a multiple of the previous, in [1, 1024]; default 2 */
  /* Each layer gets the share 1 - tightening of the rate that earlier layers left; in [0.01, 0.99];
   * default 0.85. */
  double tightening;
  uint64_t max_bytes;  /* of all layers together; 0: unlimited */
  tamis_hash hash;     /* the hash of the filter */
  const char* backend; /* NULL: the default */
} tamis_scalable_options;

/* Create an empty filter. The second function creates a scalable filter; its `options` may be NULL.
 * Return
 *   - TAMIS_INVALID_ARGUMENT for options out of range, and for TAMIS_FUSE8 to TAMIS_FUSE32,
 *   - TAMIS_UNSUPPORTED for an unknown kind,
 *   - TAMIS_OUT_OF_MEMORY or TAMIS_UNKNOWN_BACKEND. */
TAMIS_C_API tamis_status tamis_filter_create(uint32_t kind, const tamis_filter_options* options,
                                             tamis_filter** out);
TAMIS_C_API tamis_status tamis_filter_create_scalable(const tamis_scalable_options* options,
                                                      tamis_filter** out);

/* Builds a filter from all its keys. This is the only function that builds filters of the kinds
 * TAMIS_FUSE8 to TAMIS_FUSE32, which never change. It also builds all other kinds except
 * TAMIS_SCALABLE.
 *
 * `keys` is an array of `num_chunks` chunks, whose layouts may differ. The filter does not depend
 * on how the keys are divided into chunks. Its size follows from the number of keys and
 * options->fpr. `options` may be NULL; capacity and bytes must be 0. The threads of `engine` build
 * the filter, or the calling thread if `engine` is NULL.
 *
 * Returns
 *   - TAMIS_INVALID_ARGUMENT for options or keys out of range.
 *   - TAMIS_INVALID_ARGUMENT if a cuckoo filter has no room for a key, for example because it has
 *     room for only a few copies of each key.
 *   - TAMIS_INVALID_ARGUMENT if the keys were chosen so that no fuse filter can be built. A keyed
 *     hash prevents this.
 *   - The errors of tamis_filter_create. */
TAMIS_C_API tamis_status tamis_filter_build(uint32_t kind, const tamis_filter_options* options,
                                            const tamis_engine* engine, const tamis_keys* keys,
                                            uint64_t num_chunks, tamis_filter** out);

/* Options of a view. */
typedef struct tamis_view_options {
  size_t struct_bytes; /* set by TAMIS_INIT */
  tamis_hash hash;     /* the hash of the keys; XXH64, seed 0 in Parquet files */
  const char* backend; /* NULL: the default */
  /* A counter to which insertions add the number of their keys, duplicates included. May be NULL.
   * The counter must outlive the view, and may lie in the same shared memory. */
  uint64_t* inserted;
  uint32_t read_only; /* 1: the library never writes to the blocks */
  uint32_t reserved;  /* 0 */
} tamis_view_options;

/* Creates a view of the blocks of a split-block filter in memory that the caller owns. Examples are
 * memory shared by the workers of a server, a page of a Parquet file, a value of a database, or an
 * array of another language. Blocks of an empty filter are all zeros. `bytes` must be a multiple of
 * 32, from 32 to 2^37 - 32. `blocks` must be a multiple of 4; a multiple of 32 is faster. The
 * memory must outlive the view. `options` may be NULL. To read a whole file in memory, use
 * tamis_filter_open_memory.
 *
 * Any number of threads and processes may query the blocks at the same time. Insertion requires
 * exclusive access to the blocks. */
TAMIS_C_API tamis_status tamis_filter_view(void* blocks, uint64_t bytes,
                                           const tamis_view_options* options, tamis_filter** out);

/* Copies a filter of tamis to new memory. The copy is never read-only. Returns TAMIS_CORRUPT if the
 * filter is mapped from a damaged file. */
TAMIS_C_API tamis_status tamis_filter_clone(const tamis_filter* filter, tamis_filter** out);
/* Creates a filter with half the number of blocks. The new filter equals, bit for bit, a filter of
 * that size with the same keys. Returns TAMIS_UNSUPPORTED unless the kind is TAMIS_SPLIT_BLOCK, and
 * TAMIS_INVALID_ARGUMENT if the number of blocks is odd. */
TAMIS_C_API tamis_status tamis_filter_fold(const tamis_filter* filter, tamis_filter** out);
/* Frees a filter. The memory of a view is not changed. */
TAMIS_C_API void tamis_filter_free(tamis_filter* filter);

/* ---- Description ---- */

/* The size and the properties of a filter. */
typedef struct tamis_filter_info {
  size_t struct_bytes; /* set by TAMIS_INIT */
  uint32_t kind;       /* TAMIS_SPLIT_BLOCK ...; 0 for filters of other libraries and joins */
  uint32_t abilities;  /* TAMIS_CAN_...; for a filter of another library only TAMIS_CAN_ERASE */
  /* Name of the other library's format, such as "guava:utf8"; NULL for other filters. Valid while
   * the program runs. */
  const char* format;
  /* 1: the filter cannot be changed, because it is mapped, a read-only view, of a kind that never
   * changes, or a join filter. */
  uint32_t read_only;
  /* Types of all inserted keys: bit i stands for type i of core/FORMAT.md. 0: no keys. For a filter
   * of another library: the types that its format allows. For a view: bit 0, unknown. */
  uint32_t key_types;
  uint64_t bytes; /* size of the filter's contents */
  /* The members below are 0 for a filter of another library. A join filter has only the hash. */
  uint64_t capacity; /* number of keys that the filter was sized for; 0 for a view */
  /* Number of keys inserted minus number erased. Duplicates count. A scalable filter does not count
   * a key that one of its layers may already have. */
  uint64_t inserted;
  double bits_per_key; /* for `capacity` keys; 0 for a view */
  /* False-positive rate for `inserted` distinct keys; 0 for a view. */
  double fpr_by_count;
  /* Its meaning depends on the kind, see core/FORMAT.md: blocks; chunks, chunk buckets ... */
  uint64_t geometry[3];
  uint64_t seed;      /* of the hash; no function returns its secret */
  uint32_t hash_kind; /* TAMIS_HASH_... */
  uint32_t reserved;
} tamis_filter_info;
/* Describes a filter. Initialize `out` with TAMIS_INIT. O(1) or O(layers). */
TAMIS_C_API tamis_status tamis_filter_get_info(const tamis_filter* filter, tamis_filter_info* out);

/* Estimates the number of distinct inserted keys from the contents. O(bytes). */
TAMIS_C_API tamis_status tamis_filter_estimated_count(const tamis_filter* filter, double* out);
/* Computes the current false-positive rate from the contents. O(bytes). */
TAMIS_C_API tamis_status tamis_filter_expected_fpr(const tamis_filter* filter, double* out);
/* Returns the contents of a filter of tamis as in a file, or the blocks of a view. Valid until the
 * filter is changed or freed. Returns no bytes for a scalable filter, and TAMIS_UNSUPPORTED for a
 * filter of another library. */
TAMIS_C_API tamis_status tamis_filter_payload(const tamis_filter* filter, const void** data,
                                              uint64_t* bytes);
/* Sets the backend that a filter of tamis uses on the calling thread. `name` is a
 * tamis_backend_name. */
TAMIS_C_API tamis_status tamis_filter_set_backend(tamis_filter* filter, const char* name);

/* ---- One key. An integer is widened to 64 bits. `string` has `bytes` bytes, and may be NULL if
 * `bytes` is 0. A hash is a result of tamis_hash_keys with the filter's hash. ---- */

/* Query one key. */
TAMIS_C_API tamis_answer tamis_filter_contains_u64(const tamis_filter* filter, uint64_t key);
TAMIS_C_API tamis_answer tamis_filter_contains_string(const tamis_filter* filter,
                                                      const char* string, size_t bytes);
TAMIS_C_API tamis_answer tamis_filter_contains_hash(const tamis_filter* filter, uint64_t hash);

/* Inserts a key. Returns 1 if the key was inserted. Returns 0 if a cuckoo or scalable filter has no
 * room for the key; the filter is then unchanged. Returns -TAMIS_READ_ONLY for a filter that cannot
 * be changed. These functions and the next return -TAMIS_OUT_OF_MEMORY for a full Bloom filter of
 * RedisBloom. */
TAMIS_C_API tamis_answer tamis_filter_insert_u64(tamis_filter* filter, uint64_t key);
TAMIS_C_API tamis_answer tamis_filter_insert_string(tamis_filter* filter, const char* string,
                                                    size_t bytes);
TAMIS_C_API tamis_answer tamis_filter_insert_hash(tamis_filter* filter, uint64_t hash);

/* Inserts a key unless it may be in the filter. Returns 1 if the key was new and was inserted.
 * Returns 0 if the key may be in the filter, or if the filter is full. tamis_filter_contains_...
 * distinguishes these cases. */
TAMIS_C_API tamis_answer tamis_filter_insert_if_absent_u64(tamis_filter* filter, uint64_t key);
TAMIS_C_API tamis_answer tamis_filter_insert_if_absent_string(tamis_filter* filter,
                                                              const char* string, size_t bytes);
TAMIS_C_API tamis_answer tamis_filter_insert_if_absent_hash(tamis_filter* filter, uint64_t hash);

/* Erases one copy of a key. Returns 1 if a copy was found and erased. Erase only keys that were
 * inserted. Erasing another key may erase a copy of an inserted key. */
TAMIS_C_API tamis_answer tamis_filter_erase_u64(tamis_filter* filter, uint64_t key);
TAMIS_C_API tamis_answer tamis_filter_erase_string(tamis_filter* filter, const char* string,
                                                   size_t bytes);
TAMIS_C_API tamis_answer tamis_filter_erase_hash(tamis_filter* filter, uint64_t hash);

/* ---- Queries of many keys ---- */

/* Outputs of a query. Key i is the i-th key of the call. */
enum {
  /* uint64_t words in the order of Arrow: bit i % 64 of word i / 64 is 1 if key i may be in. Writes
   * (count + 63) / 64 words, with zeros after the last key. */
  TAMIS_BITS = 1,
  /* uint8_t: byte i is 1 if key i may be in, otherwise 0. */
  TAMIS_BYTES = 2,
  /* uint32_t or uint64_t: indices of the keys that may be in, ascending. `out` must have room for
   * all keys. Elements past *hits are unspecified. TAMIS_ROWS32 allows at most 2^32 keys. */
  TAMIS_ROWS32 = 3,
  TAMIS_ROWS64 = 4,
  /* No output: `out` is NULL and `capacity` is 0. */
  TAMIS_COUNT = 5
};
/* Queries keys on the threads of `engine`, or on the calling thread if `engine` is NULL. `out` has
 * room for `capacity` elements of the output. *hits becomes the number of keys that may be in.
 * `hits` may be NULL unless `output` is TAMIS_COUNT. */
TAMIS_C_API tamis_status tamis_filter_query(const tamis_filter* filter, const tamis_engine* engine,
                                            const tamis_keys* keys, uint32_t output, void* out,
                                            uint64_t capacity, uint64_t* hits);

/* Call tamis_filter_query with one output each, and its type. */
static inline tamis_status tamis_filter_contains_bitmap(const tamis_filter* filter,
                                                        const tamis_engine* engine,
                                                        const tamis_keys* keys, uint64_t* bits,
                                                        uint64_t words, uint64_t* hits) {
  return tamis_filter_query(filter, engine, keys, TAMIS_BITS, bits, words, hits);
}
static inline tamis_status tamis_filter_contains_bytes(const tamis_filter* filter,
                                                       const tamis_engine* engine,
                                                       const tamis_keys* keys, uint8_t* bytes,
                                                       uint64_t capacity, uint64_t* hits) {
  return tamis_filter_query(filter, engine, keys, TAMIS_BYTES, bytes, capacity, hits);
}
static inline tamis_status tamis_filter_select32(const tamis_filter* filter,
                                                 const tamis_engine* engine, const tamis_keys* keys,
                                                 uint32_t* rows, uint64_t capacity,
                                                 uint64_t* hits) {
  return tamis_filter_query(filter, engine, keys, TAMIS_ROWS32, rows, capacity, hits);
}
static inline tamis_status tamis_filter_select64(const tamis_filter* filter,
                                                 const tamis_engine* engine, const tamis_keys* keys,
                                                 uint64_t* rows, uint64_t capacity,
                                                 uint64_t* hits) {
  return tamis_filter_query(filter, engine, keys, TAMIS_ROWS64, rows, capacity, hits);
}
static inline tamis_status tamis_filter_count(const tamis_filter* filter,
                                              const tamis_engine* engine, const tamis_keys* keys,
                                              uint64_t* hits) {
  return tamis_filter_query(filter, engine, keys, TAMIS_COUNT, NULL, 0, hits);
}

/* Queries only the keys at the `num_selected` indices in `selection`, such as the rows that an
 * earlier predicate kept. Indices may repeat, and may be in any order. Writes the indices whose
 * keys may be in to `rows`, in the order of `selection`. `rows` has room for `capacity` elements,
 * at least num_selected, and may be the memory of `selection`. *hits becomes the number of indices
 * written. Returns TAMIS_INVALID_ARGUMENT if an index is not below keys->count. */
TAMIS_C_API tamis_status tamis_filter_select_from(const tamis_filter* filter,
                                                  const tamis_keys* keys, const uint32_t* selection,
                                                  uint64_t num_selected, uint32_t* rows,
                                                  uint64_t capacity, uint64_t* hits);

/* ---- Changes by many keys, in the order of the keys. Return TAMIS_READ_ONLY for a filter that
 * cannot be changed. The threads of `engine`, which may be NULL, change filters of tamis. The
 * calling thread changes other filters. Integers of 8 or 16 bits, pointers, views and times are
 * converted in runs. If memory runs out, earlier runs may have been inserted or erased. ---- */

/* Inserts keys. *inserted becomes the number of inserted keys: all except nulls and keys for which
 * a cuckoo or scalable filter has no room. `inserted` may be NULL. rejected[0 .. count - *inserted)
 * become the indices of the keys that were not inserted, ascending. `rejected` must have room for
 * all keys, or be NULL.
 *
 * If a filter of another library does not support one of the keys, returns an error and inserts
 * nothing. If a Bloom filter of RedisBloom has no room for a key, returns an error after inserting
 * the keys before it. */
TAMIS_C_API tamis_status tamis_filter_insert(tamis_filter* filter, const tamis_engine* engine,
                                             const tamis_keys* keys, uint64_t* inserted,
                                             uint64_t* rejected, uint64_t rejected_capacity);
/* Inserts the absent keys, one after the other. Bit i of `fresh` becomes 1 if key i was new and was
 * inserted. A key is not new if the filter answers "maybe" for it after the keys before it were
 * inserted. Bit i of `rejected` becomes 1 if key i was absent and the filter had no room for it.
 * `rejected` may be NULL. Both arrays have room for `words` elements, at least (count + 63) / 64.
 * *num_fresh becomes the number of new keys; `num_fresh` may be NULL. If a Bloom filter of
 * RedisBloom has no room for a key, returns an error. Then both arrays are unspecified, and the
 * keys before this key may have been inserted. */
TAMIS_C_API tamis_status tamis_filter_insert_if_absent(tamis_filter* filter,
                                                       const tamis_engine* engine,
                                                       const tamis_keys* keys, uint64_t* fresh,
                                                       uint64_t* rejected, uint64_t words,
                                                       uint64_t* num_fresh);
/* Erases one copy of each key, like tamis_filter_erase_u64. *erased becomes the number of erased
 * keys. `missing` gets the indices of the keys that were not erased, like `rejected` of
 * tamis_filter_insert. */
TAMIS_C_API tamis_status tamis_filter_erase(tamis_filter* filter, const tamis_engine* engine,
                                            const tamis_keys* keys, uint64_t* erased,
                                            uint64_t* missing, uint64_t missing_capacity);

/* ---- Whole filters ---- */

/* Empties a filter of tamis. */
TAMIS_C_API tamis_status tamis_filter_clear(tamis_filter* filter);
/* Adds all keys of `other`, which may be mapped, to `filter`. The two handles must differ. Both
 * must be filters of tamis with the same kind, geometry and hash, or filters of other libraries
 * with the same format and size. The kind must have TAMIS_CAN_MERGE. Otherwise returns
 * TAMIS_INCOMPATIBLE and a message with the reason. Returns TAMIS_UNSUPPORTED for two views. */
TAMIS_C_API tamis_status tamis_filter_merge(tamis_filter* filter, const tamis_filter* other);
/* Keeps the keys that are in both filters, and loses none of them. Both must be filters of tamis
 * with the same kind, geometry and hash; otherwise returns TAMIS_INCOMPATIBLE. Returns
 * TAMIS_UNSUPPORTED unless the kind has TAMIS_CAN_INTERSECT. */
TAMIS_C_API tamis_status tamis_filter_intersect(tamis_filter* filter, const tamis_filter* other);

#ifdef __cplusplus
}
#endif

#endif /* TAMIS_C_FILTER_H_ */
