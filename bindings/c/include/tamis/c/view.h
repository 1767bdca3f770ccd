/* Split-block filters in memory that somebody else owns: shared memory of the workers of a server,
 * a page of a Parquet file, a value of a database, an array of another language. */
#ifndef TAMIS_C_VIEW_H_
#define TAMIS_C_VIEW_H_

#include "tamis/c/base.h"
#include "tamis/c/keys.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Asks, and fills, 32-byte blocks like those of a TAMIS_SPLIT_BLOCK filter, wherever they are;
 * empty ones are all zeros. The memory must outlive the view. Any number of threads and processes
 * may ask while nobody writes to the blocks; insertion needs exclusive access to them. Calls run on
 * the calling thread. Filters of all kinds in memory, to be asked only: tamis_filter_map_memory. */
typedef struct tamis_view tamis_view;

typedef struct tamis_view_options {
  size_t struct_bytes;
  tamis_hash hash;     /* what the keys were hashed with; XXH64, seed 0 in Parquet files */
  const char* backend; /* NULL: the default */
  /* A counter to which insertions add the number of their keys, duplicates included; may be NULL.
   * It must outlive the view, too, and can be in the same shared memory. */
  uint64_t* inserted;
} tamis_view_options;

/* `bytes` is a multiple of 32, from 32 to 2^37 - 32; `blocks` are at a multiple of 4, better of 32.
 * The second makes one that can be asked only. `options` may be NULL. */
TAMIS_C_API tamis_status tamis_view_create(void* blocks, uint64_t bytes,
                                           const tamis_view_options* options, tamis_view** out);
TAMIS_C_API tamis_status tamis_view_create_const(const void* blocks, uint64_t bytes,
                                                 const tamis_view_options* options,
                                                 tamis_view** out);
/* Leaves the blocks alone. */
TAMIS_C_API void tamis_view_free(tamis_view* view);

/* As tamis_filter_estimated_count and tamis_filter_expected_fpr. */
TAMIS_C_API tamis_status tamis_view_estimated_count(const tamis_view* view, double* out);
TAMIS_C_API tamis_status tamis_view_expected_fpr(const tamis_view* view, double* out);

/* As the functions of filters with these names. Those that insert return 1, or -TAMIS_READ_ONLY for
 * a view that can be asked only. */
TAMIS_C_API tamis_answer tamis_view_contains_u64(const tamis_view* view, uint64_t key);
TAMIS_C_API tamis_answer tamis_view_contains_string(const tamis_view* view, const char* string,
                                                    size_t bytes);
TAMIS_C_API tamis_answer tamis_view_contains_hash(const tamis_view* view, uint64_t hash);
TAMIS_C_API tamis_answer tamis_view_insert_u64(tamis_view* view, uint64_t key);
TAMIS_C_API tamis_answer tamis_view_insert_string(tamis_view* view, const char* string,
                                                  size_t bytes);
TAMIS_C_API tamis_answer tamis_view_insert_hash(tamis_view* view, uint64_t hash);

TAMIS_C_API tamis_status tamis_view_contains_bitmap(const tamis_view* view, const tamis_keys* keys,
                                                    uint64_t* bits, uint64_t words, uint64_t* hits);
TAMIS_C_API tamis_status tamis_view_contains_bytes(const tamis_view* view, const tamis_keys* keys,
                                                   uint8_t* bytes, uint64_t capacity,
                                                   uint64_t* hits);
TAMIS_C_API tamis_status tamis_view_select32(const tamis_view* view, const tamis_keys* keys,
                                             uint32_t* indices, uint64_t capacity, uint64_t* hits);
TAMIS_C_API tamis_status tamis_view_select64(const tamis_view* view, const tamis_keys* keys,
                                             uint64_t* indices, uint64_t capacity, uint64_t* hits);
TAMIS_C_API tamis_status tamis_view_count(const tamis_view* view, const tamis_keys* keys,
                                          uint64_t* hits);
/* All keys but nulls, straight into the blocks. */
TAMIS_C_API tamis_status tamis_view_insert(tamis_view* view, const tamis_keys* keys);

#ifdef __cplusplus
}
#endif

#endif /* TAMIS_C_VIEW_H_ */
