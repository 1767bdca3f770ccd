/* Filters that other libraries wrote, or are to read, bit for bit. docs/formats.md describes them.
 */
#ifndef TAMIS_C_FOREIGN_H_
#define TAMIS_C_FOREIGN_H_

#include "tamis/c/base.h"
#include "tamis/c/file.h"
#include "tamis/c/keys.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A format and the form of its keys have a name, such as "guava:utf8", as the bytes of a filter do
 * not say which they are. Keys of the other sort, as strings for a filter of integers, are
 * TAMIS_INVALID_ARGUMENT, and so are ready hashes. */
typedef struct tamis_foreign tamis_foreign;

/* The name of format `index`, counted from 0 in the order of their names; NULL past the last. Valid
 * for as long as the program runs. */
TAMIS_C_API const char* tamis_foreign_format_name(size_t index);

/* Reads what the other library wrote, in a file or in memory. */
TAMIS_C_API tamis_status tamis_foreign_load(const char* path, const char* format,
                                            tamis_foreign** out);
TAMIS_C_API tamis_status tamis_foreign_deserialize(const void* data, uint64_t bytes,
                                                   const char* format, tamis_foreign** out);
/* Reads a file of tamis_foreign_save_imported, or of `tamis import`, which says its format. */
TAMIS_C_API tamis_status tamis_foreign_open(const char* path, tamis_foreign** out);
TAMIS_C_API void tamis_foreign_free(tamis_foreign* filter);

/* What the other library reads, byte for byte: into a file, as tamis_filter_save; and to `data`,
 * which has room for `capacity` bytes. *written, which may be NULL, becomes how many there are.
 * With `data` NULL and `capacity` 0 that is all that happens. */
TAMIS_C_API tamis_status tamis_foreign_save(const tamis_foreign* filter, const char* path,
                                            const tamis_save_options* options);
TAMIS_C_API tamis_status tamis_foreign_serialize(const tamis_foreign* filter, void* data,
                                                 uint64_t capacity, uint64_t* written);
/* The same into a file with a header that says the format, and a checksum. */
TAMIS_C_API tamis_status tamis_foreign_save_imported(const tamis_foreign* filter, const char* path,
                                                     const tamis_save_options* options);

typedef struct tamis_foreign_info {
  size_t struct_bytes;
  const char* format; /* its name */
  uint64_t bytes;     /* of its bits, in memory */
  uint32_t key_forms; /* what its keys are: as in tamis_filter_info */
  uint32_t reserved;
  double estimated_count; /* of distinct keys */
  double expected_fpr;    /* at the present fill */
} tamis_foreign_info;
/* `out` is made by TAMIS_INIT. O(bytes). */
TAMIS_C_API tamis_status tamis_foreign_get_info(const tamis_foreign* filter,
                                                tamis_foreign_info* out);

/* One key, and many, as the functions of tamis/c/filter.h of these names. */
TAMIS_C_API tamis_answer tamis_foreign_contains_u64(const tamis_foreign* filter, uint64_t key);
TAMIS_C_API tamis_answer tamis_foreign_contains_string(const tamis_foreign* filter,
                                                       const char* string, size_t bytes);
TAMIS_C_API tamis_status tamis_foreign_contains_bitmap(const tamis_foreign* filter,
                                                       const tamis_keys* keys, uint64_t* bits,
                                                       uint64_t words, uint64_t* hits);
TAMIS_C_API tamis_status tamis_foreign_contains_bytes(const tamis_foreign* filter,
                                                      const tamis_keys* keys, uint8_t* bytes,
                                                      uint64_t capacity, uint64_t* hits);
TAMIS_C_API tamis_status tamis_foreign_select64(const tamis_foreign* filter, const tamis_keys* keys,
                                                uint64_t* indices, uint64_t capacity,
                                                uint64_t* hits);
TAMIS_C_API tamis_status tamis_foreign_count(const tamis_foreign* filter, const tamis_keys* keys,
                                             uint64_t* hits);

/* Inserts all keys but nulls. A key that the format cannot have is an error, and then none is
 * inserted; so is a key for which a filter of Redis has no room, with those before it inserted.
 * *inserted, which may be NULL, becomes the number of inserted keys, also of keys that were in. */
TAMIS_C_API tamis_status tamis_foreign_insert(tamis_foreign* filter, const tamis_keys* keys,
                                              uint64_t* inserted);
/* The union. TAMIS_INCOMPATIBLE unless the other has the same format and size. */
TAMIS_C_API tamis_status tamis_foreign_merge(tamis_foreign* filter, const tamis_foreign* other);

#ifdef __cplusplus
}
#endif

#endif /* TAMIS_C_FOREIGN_H_ */
