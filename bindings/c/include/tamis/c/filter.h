/* Filters: creation, queries and changes. */
#ifndef TAMIS_C_FILTER_H_
#define TAMIS_C_FILTER_H_

#include "tamis/c/base.h"
#include "tamis/c/engine.h"
#include "tamis/c/keys.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A filter answers "maybe" for every key that was inserted, and "no" for almost all other keys. The
 * share of the others that get "maybe" is the false-positive rate.
 *
 * One handle type serves three sorts of filters: filters of tamis, views of memory that the caller
 * owns (tamis_filter_view), and filters of other libraries (docs/formats.md). All sorts take the
 * functions that query, insert and describe. A function that a sort or a kind does not have returns
 * TAMIS_UNSUPPORTED. */
typedef struct tamis_filter tamis_filter;

/* ---- Creation ---- */

/* Set capacity and fpr, or set bytes. tamis_filter_build takes neither capacity nor bytes. */
typedef struct tamis_filter_options {
  size_t struct_bytes;
  uint64_t capacity; /* keys to be inserted; at least 1 unless bytes is given */
  /* False-positive rate at capacity, in [1e-12, 0.5]. 0: 0.01 for Bloom filters, and for cuckoo
   * filters the rate of a full table. A fuse filter has the rate of its kind, which must be at most
   * this one. */
  double fpr;
  uint64_t bytes; /* if not 0, the size, rounded down to a size that the kind can have */
  tamis_hash hash;
  const char* backend;    /* NULL: the default */
  uint32_t no_huge_pages; /* 1: does not request huge pages */
  uint32_t reserved;      /* 0 */
} tamis_filter_options;

/* A 0 that is out of range stands for the default. */
typedef struct tamis_scalable_options {
  size_t struct_bytes;
  uint32_t layers;        /* any kind but TAMIS_COUNTING, TAMIS_SCALABLE and TAMIS_FUSE...; default
                             TAMIS_SPLIT_BLOCK */
  uint32_t no_huge_pages; /* as above */
  uint64_t initial_capacity; /* keys of the first layer; default 65536 */
  double fpr;                /* of the whole filter; default 0.01 */
  double growth;      /* capacity of a layer, as a multiple of the last, in [1, 1024]; default 2 */
  double tightening;  /* a layer may use up 1 - tightening of the error left: [0.01, 0.99]; 0.85 */
  uint64_t max_bytes; /* of all layers together; 0: no limit */
  tamis_hash hash;
  const char* backend; /* NULL: the default */
} tamis_scalable_options;

/* Creates an empty filter. The second function creates a scalable filter, and its `options` may be
 * NULL. Returns TAMIS_INVALID_ARGUMENT for options out of range and for the kinds
 * TAMIS_FUSE8 to TAMIS_FUSE32, TAMIS_OUT_OF_MEMORY, TAMIS_UNKNOWN_BACKEND, and TAMIS_UNSUPPORTED
 * for an unknown kind. */
TAMIS_C_API tamis_status tamis_filter_create(uint32_t kind, const tamis_filter_options* options,
                                             tamis_filter** out);
TAMIS_C_API tamis_status tamis_filter_create_scalable(const tamis_scalable_options* options,
                                                      tamis_filter** out);

/* Builds a filter from all its keys. Filters of the kinds TAMIS_FUSE8 to TAMIS_FUSE32 never change,
 * and this function is the only one that builds them. It builds all other kinds, too, except
 * TAMIS_SCALABLE.
 *
 * `keys` is an array of `num_chunks` chunks, whose layouts may differ. The filter does not depend
 * on how the keys are divided into chunks. It is sized for their number at `options->fpr`.
 * `options` may be NULL, and its capacity and bytes must be 0. The threads of `engine` build the
 * filter, or the calling thread if `engine` is NULL.
 *
 * Returns TAMIS_INVALID_ARGUMENT for options or keys out of range, and if a cuckoo filter has no
 * room for a key, as it takes only a few copies of each. It also returns this for keys that were
 * chosen so that no fuse filter can be built. A keyed hash prevents that. Other errors are those of
 * tamis_filter_create. */
TAMIS_C_API tamis_status tamis_filter_build(uint32_t kind, const tamis_filter_options* options,
                                            const tamis_engine* engine, const tamis_keys* keys,
                                            uint64_t num_chunks, tamis_filter** out);

typedef struct tamis_view_options {
  size_t struct_bytes;
  tamis_hash hash;     /* the hash of the keys; XXH64, seed 0 in Parquet files */
  const char* backend; /* NULL: the default */
  /* A counter to which insertions add the number of their keys, duplicates included. May be NULL.
   * It must outlive the view, and can be in the same shared memory. */
  uint64_t* inserted;
  uint32_t read_only; /* 1: the library never writes to the blocks */
  uint32_t reserved;  /* 0 */
} tamis_view_options;

/* Creates a view of the blocks of a split-block filter in memory that the caller owns, such as
 * memory that the workers of a server share, a page of a Parquet file, a value of a database, or an
 * array of another language. Blocks of an empty filter are all zeros. `bytes` is a multiple of 32,
 * from 32 to 2^37 - 32. `blocks` is a multiple of 4, and better of 32. The memory must outlive the
 * view. `options` may be NULL. tamis_filter_open_memory reads whole files in memory.
 *
 * Any number of threads and processes may query the blocks while nobody writes to them. Insertion
 * needs exclusive access to them. */
TAMIS_C_API tamis_status tamis_filter_view(void* blocks, uint64_t bytes,
                                           const tamis_view_options* options, tamis_filter** out);

/* Copies a filter of tamis into memory of its own. The copy is never read-only. Returns
 * TAMIS_CORRUPT if the filter is mapped from a damaged file. */
TAMIS_C_API tamis_status tamis_filter_clone(const tamis_filter* filter, tamis_filter** out);
/* Creates a filter of half the blocks. It is bit for bit the filter that the same keys give at that
 * size. Returns TAMIS_UNSUPPORTED unless the kind is TAMIS_SPLIT_BLOCK, and TAMIS_INVALID_ARGUMENT
 * if the number of blocks is odd. */
TAMIS_C_API tamis_status tamis_filter_fold(const tamis_filter* filter, tamis_filter** out);
/* Leaves the memory of a view as it is. */
TAMIS_C_API void tamis_filter_free(tamis_filter* filter);

/* ---- Description ---- */

typedef struct tamis_filter_info {
  size_t struct_bytes;
  uint32_t kind;      /* TAMIS_SPLIT_BLOCK ...; 0 for a filter of another library */
  uint32_t abilities; /* TAMIS_CAN_...; for a filter of another library only TAMIS_CAN_ERASE */
  /* The name of the other library's format, such as "guava:utf8". NULL for other filters. Valid for
   * as long as the program runs. */
  const char* format;
  /* 1: it cannot be changed, because it is mapped, a read-only view, or of a kind that never
   * changes. */
  uint32_t read_only;
  /* Of all keys inserted: bit i is type i of core/FORMAT.md; 0: none. A filter of another library
   * has the types that its format takes, and a view has bit 0: unknown. */
  uint32_t key_types;
  uint64_t bytes; /* of the filter itself */
  /* The members from here on are 0 for a filter of another library. */
  uint64_t capacity; /* keys it was sized for; 0 for a view */
  /* Keys inserted, duplicates included, less those erased. A scalable filter leaves out keys that
   * one of its layers may have. */
  uint64_t inserted;
  double bits_per_key; /* of the capacity; 0 for a view */
  /* The false-positive rate by the number of inserted keys, as if all were distinct; 0 for a view.
   */
  double fpr_by_count;
  uint64_t geometry[3]; /* by kind, see core/FORMAT.md: blocks; chunks, chunk buckets ... */
  uint64_t seed;        /* of the hash; no function returns its secret */
  uint32_t hash_kind;   /* TAMIS_HASH_... */
  uint32_t reserved;
} tamis_filter_info;
/* Initialize `out` with TAMIS_INIT. O(1), or O(layers). */
TAMIS_C_API tamis_status tamis_filter_get_info(const tamis_filter* filter, tamis_filter_info* out);

/* Estimates the number of distinct keys inserted from the contents. O(bytes). */
TAMIS_C_API tamis_status tamis_filter_estimated_count(const tamis_filter* filter, double* out);
/* Computes the false-positive rate at the present fill from the contents. O(bytes). */
TAMIS_C_API tamis_status tamis_filter_expected_fpr(const tamis_filter* filter, double* out);
/* Returns the contents of a filter of tamis as they are in a file, or the blocks of a view. Valid
 * until the filter is changed or freed. A scalable filter has none. */
TAMIS_C_API tamis_status tamis_filter_payload(const tamis_filter* filter, const void** data,
                                              uint64_t* bytes);
/* Sets the instructions that a filter of tamis uses on the calling thread: a tamis_backend_name. */
TAMIS_C_API tamis_status tamis_filter_set_backend(tamis_filter* filter, const char* name);

/* ---- One key. An integer is a key by its value widened to 64 bits. `string` has `bytes` bytes,
 * and may be NULL if `bytes` is 0. A hash is a result of tamis_hash_keys. ---- */

TAMIS_C_API tamis_answer tamis_filter_contains_u64(const tamis_filter* filter, uint64_t key);
TAMIS_C_API tamis_answer tamis_filter_contains_string(const tamis_filter* filter,
                                                      const char* string, size_t bytes);
TAMIS_C_API tamis_answer tamis_filter_contains_hash(const tamis_filter* filter, uint64_t hash);

/* Inserts a key. Returns 1 if it was inserted, 0 if a cuckoo or scalable filter has no room for it
 * and has not changed, and -TAMIS_READ_ONLY for a filter that cannot be changed. A full Bloom
 * filter of RedisBloom returns -TAMIS_OUT_OF_MEMORY, here and below. */
TAMIS_C_API tamis_answer tamis_filter_insert_u64(tamis_filter* filter, uint64_t key);
TAMIS_C_API tamis_answer tamis_filter_insert_string(tamis_filter* filter, const char* string,
                                                    size_t bytes);
TAMIS_C_API tamis_answer tamis_filter_insert_hash(tamis_filter* filter, uint64_t hash);

/* Inserts a key unless it may be in. Returns 1 if it was inserted, and so is new. Returns 0 if it
 * may be in, or if the filter is full: tamis_filter_contains_... then tells these apart. */
TAMIS_C_API tamis_answer tamis_filter_insert_if_absent_u64(tamis_filter* filter, uint64_t key);
TAMIS_C_API tamis_answer tamis_filter_insert_if_absent_string(tamis_filter* filter,
                                                              const char* string, size_t bytes);
TAMIS_C_API tamis_answer tamis_filter_insert_if_absent_hash(tamis_filter* filter, uint64_t hash);

/* Erases one copy of a key. Returns 1 if it was found and erased. Erase only keys that were
 * inserted: for another key the filter may find, and remove, the copy of a key that is in. */
TAMIS_C_API tamis_answer tamis_filter_erase_u64(tamis_filter* filter, uint64_t key);
TAMIS_C_API tamis_answer tamis_filter_erase_string(tamis_filter* filter, const char* string,
                                                   size_t bytes);
TAMIS_C_API tamis_answer tamis_filter_erase_hash(tamis_filter* filter, uint64_t hash);

/* ---- Queries of many keys ---- */

/* What a query writes. Key i is the i-th key of the call. */
enum {
  /* uint64_t words: bit i % 64 of word i / 64 is 1 if key i may be in, which is Arrow's order.
   * (count + 63) / 64 words are written, with 0 in the bits past the last key. */
  TAMIS_BITS = 1,
  TAMIS_BYTES = 2,  /* uint8_t: byte i is 1 if key i may be in, otherwise 0 */
  TAMIS_ROWS32 = 3, /* uint32_t: the indices of the keys that may be in, ascending. There must be */
  TAMIS_ROWS64 = 4, /* uint64_t: room for all keys. Elements past *hits are unspecified. */
  TAMIS_COUNT = 5   /* nothing: `out` is NULL, `capacity` is 0 */
};
/* Queries keys by the threads of `engine`, or on the calling thread if `engine` is NULL. `out` has
 * room for `capacity` elements of the output. *hits, which may be NULL unless `output` is
 * TAMIS_COUNT, becomes the number of keys that may be in. TAMIS_ROWS32 takes at most 2^32 keys. */
TAMIS_C_API tamis_status tamis_filter_query(const tamis_filter* filter, const tamis_engine* engine,
                                            const tamis_keys* keys, uint32_t output, void* out,
                                            uint64_t capacity, uint64_t* hits);

/* The same for each output, with its type. */
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

/* ---- Changes by many keys, in the order of the keys. Returns TAMIS_READ_ONLY for a filter that
 * cannot be changed. The threads of `engine` change filters of tamis. Other filters are changed on
 * the calling thread. If memory runs out with keys of 8 or 16 bits, pointers or views, some keys
 * may have been changed. ---- */

/* Inserts keys. *inserted, which may be NULL, becomes the number of inserted keys: all except nulls
 * and keys for which a cuckoo or scalable filter has no room. The indices of the other keys go,
 * ascending, to rejected[0 .. count - *inserted). `rejected` needs room for all keys, or is NULL.
 *
 * A filter of another library that cannot have one of the keys inserts none of them. A Bloom filter
 * of RedisBloom that has no room for a key has inserted the keys before it. Both are errors. */
TAMIS_C_API tamis_status tamis_filter_insert(tamis_filter* filter, const tamis_engine* engine,
                                             const tamis_keys* keys, uint64_t* inserted,
                                             uint64_t* rejected, uint64_t rejected_capacity);
/* Inserts the keys that are absent, one after the other. Bit i of `fresh` becomes whether key i was
 * new, and was inserted. A key is not new if the filter answers "maybe" for it at its turn. Bit i
 * of `rejected`, which may be NULL, becomes whether key i is absent and found no room. Both need
 * (count + 63) / 64 words, and have `words`. *num_fresh, which may be NULL, becomes the number of
 * new keys. After an error of a full Bloom filter of RedisBloom both outputs are unspecified, and
 * the keys before the one without room may have been inserted. */
TAMIS_C_API tamis_status tamis_filter_insert_if_absent(tamis_filter* filter,
                                                       const tamis_engine* engine,
                                                       const tamis_keys* keys, uint64_t* fresh,
                                                       uint64_t* rejected, uint64_t words,
                                                       uint64_t* num_fresh);
/* Erases one copy of each key: see tamis_filter_erase_u64. `erased` and `missing` are as `inserted`
 * and `rejected` of tamis_filter_insert. */
TAMIS_C_API tamis_status tamis_filter_erase(tamis_filter* filter, const tamis_engine* engine,
                                            const tamis_keys* keys, uint64_t* erased,
                                            uint64_t* missing, uint64_t missing_capacity);

/* ---- Whole filters ---- */

/* Empties a filter of tamis. */
TAMIS_C_API tamis_status tamis_filter_clear(tamis_filter* filter);
/* Adds all keys of `other`, which may be mapped, to `filter`. Both are filters of tamis with the
 * same geometry, hash and kind, which has TAMIS_CAN_MERGE, or filters of other libraries with the
 * same format and size. Otherwise returns TAMIS_INCOMPATIBLE, with the reason; for two views
 * TAMIS_UNSUPPORTED. The two may not be the same. */
TAMIS_C_API tamis_status tamis_filter_merge(tamis_filter* filter, const tamis_filter* other);
/* Keeps the keys that are in both filters of tamis, which are as for tamis_filter_merge. No key
 * that is in both is lost. Returns TAMIS_UNSUPPORTED unless the kind has TAMIS_CAN_INTERSECT. */
TAMIS_C_API tamis_status tamis_filter_intersect(tamis_filter* filter, const tamis_filter* other);

#ifdef __cplusplus
}
#endif

#endif /* TAMIS_C_FILTER_H_ */
