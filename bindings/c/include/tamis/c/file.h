/* Filters in files, and the same bytes in memory. core/FORMAT.md is their format.
 *
 * Bytes from outside are checked in full before they are used; TAMIS_CORRUPT and TAMIS_UNSUPPORTED
 * say which check failed, at which offset. */
#ifndef TAMIS_C_FILE_H_
#define TAMIS_C_FILE_H_

#include "tamis/c/base.h"
#include "tamis/c/filter.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tamis_save_options {
  size_t struct_bytes;
  uint32_t replace_read_only; /* 1: replaces a file that this process may not write to, too */
  uint32_t version;           /* of the format: 1 for readers that know no other; 0: the newest */
  /* Whether the secret of a keyed hash is put into the file. 0: as in the file that the filter came
   * from, else not; 1: yes; -1: no. */
  int32_t with_secret;
  uint32_t reserved; /* 0 */
} tamis_save_options;

typedef struct tamis_open_options {
  size_t struct_bytes;
  const char* backend; /* NULL: the default */
  /* Of tamis_filter_map and tamis_filter_map_memory. 0: the header and the length are checked; 1:
   * all bytes, which the others always do. */
  uint32_t verify;
  uint32_t has_secret;  /* 1: the next two are that of the filter's keyed hash */
  uint64_t secret_low;  /* if the file does not have it: else TAMIS_SECRET */
  uint64_t secret_high; /* is the error, also for a wrong one */
} tamis_open_options;

/* Paths are names of files as the system has them, ended by a 0. Options may be NULL. */

/* Writes the filter to `path`, atomically: to a temporary file that is synchronized and then
 * renamed, so that `path` is always the old file or the whole new one. TAMIS_IO; TAMIS_NOT_DURABLE
 * if it HAS been saved and a power cut might undo it. */
TAMIS_C_API tamis_status tamis_filter_save(const tamis_filter* filter, const char* path,
                                           const tamis_save_options* options);

/* Reads a filter of any kind and verifies all of it. */
TAMIS_C_API tamis_status tamis_filter_open(const char* path, const tamis_open_options* options,
                                           tamis_filter** out);
/* Maps one, read-only and without a copy: pages are read when they are first asked, and processes
 * that map the same file share them. Replacing the file by tamis_filter_save is safe; writing into
 * it is not, and if it is truncated a lookup ends the process (SIGBUS). */
TAMIS_C_API tamis_status tamis_filter_map(const char* path, const tamis_open_options* options,
                                          tamis_filter** out);

/* How many bytes the filter has in a file, and those bytes: to `data`, which has room for
 * `capacity`. *written, which may be NULL, becomes their number. */
TAMIS_C_API tamis_status tamis_filter_serialized_bytes(const tamis_filter* filter,
                                                       const tamis_save_options* options,
                                                       uint64_t* out);
TAMIS_C_API tamis_status tamis_filter_serialize(const tamis_filter* filter,
                                                const tamis_save_options* options, void* data,
                                                uint64_t capacity, uint64_t* written);
/* A filter of such bytes: a copy. */
TAMIS_C_API tamis_status tamis_filter_deserialize(const void* data, uint64_t bytes,
                                                  const tamis_open_options* options,
                                                  tamis_filter** out);
/* The same without a copy, read-only, as of a region of shared memory: `data` is at a multiple of
 * 64, stays the caller's, and must outlive the filter. If it changes meanwhile, so do answers, but
 * nothing outside of it is read. */
TAMIS_C_API tamis_status tamis_filter_map_memory(const void* data, uint64_t bytes,
                                                 const tamis_open_options* options,
                                                 tamis_filter** out);

#ifdef __cplusplus
}
#endif

#endif /* TAMIS_C_FILE_H_ */
