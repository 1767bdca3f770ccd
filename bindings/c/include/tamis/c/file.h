/* Filters in files, and the same bytes in memory. core/FORMAT.md specifies the format.
 *
 * Bytes are checked in full before they are used. TAMIS_CORRUPT and TAMIS_UNSUPPORTED name the
 * check that failed, and its offset. */
#ifndef TAMIS_C_FILE_H_
#define TAMIS_C_FILE_H_

#include "tamis/c/base.h"
#include "tamis/c/filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A filter of another library ignores `version` and `with_secret`. */
typedef struct tamis_save_options {
  size_t struct_bytes;
  uint32_t replace_read_only; /* 1: replaces a file that this process may not write to, too */
  uint32_t version;           /* of the format: 1 for readers that know no other; 0: the newest */
  /* Whether the file contains the secret of a keyed hash. 0: if the file contained it from which
   * the filter was read; 1: yes; -1: no. */
  int32_t with_secret;
  /* 1: saves a filter of another library with a header that names its format, and a checksum. 0:
   * saves the bytes that the other library reads. */
  uint32_t imported;
} tamis_save_options;

typedef struct tamis_open_options {
  size_t struct_bytes;
  const char* backend; /* NULL: the default */
  /* The format of another library's filter, such as "guava:utf8": a tamis_format_name. The bytes of
   * such a filter do not say it. NULL: the file is one of tamis. */
  const char* format;
  /* 1: maps the file, read-only and without a copy. Pages are read when they are first used, and
   * processes that map the same file share them. Filters of other libraries cannot be mapped. */
  uint32_t map;
  uint32_t verify;      /* 1: checks all bytes of a mapped file. 0: its header and length */
  uint32_t has_secret;  /* 1: the next two are the secret of the filter's keyed hash */
  uint32_t reserved;    /* 0 */
  uint64_t secret_low;  /* if the file does not contain it: without it, or with a */
  uint64_t secret_high; /* wrong one, the result is TAMIS_SECRET */
} tamis_open_options;

/* A path is a file name as the system has it, ended by a 0. Options may be NULL. */

/* Writes a filter to `path` atomically, through a temporary file that is synchronized and then
 * renamed: `path` always names the old file or the whole new one. Returns TAMIS_IO, and
 * TAMIS_NOT_DURABLE if it HAS been saved and a power cut might undo it. A view cannot be saved. */
TAMIS_C_API tamis_status tamis_filter_save(const tamis_filter* filter, const char* path,
                                           const tamis_save_options* options);

/* Reads a file of any kind, of tamis_save_options.imported, or of a format. Verifies all of it. A
 * mapped file may be replaced by tamis_filter_save. Do not write into it: answers become wrong, and
 * a query of a truncated file ends the process (SIGBUS). */
TAMIS_C_API tamis_status tamis_filter_open(const char* path, const tamis_open_options* options,
                                           tamis_filter** out);
/* Reads the same bytes in memory, but not files of tamis_save_options.imported. With
 * tamis_open_options.map, the filter is read-only and uses them in place, such as in shared memory:
 * `data` is a multiple of 64, stays the caller's, and must outlive the filter. If the bytes change,
 * so do answers, but nothing outside of them is read. */
TAMIS_C_API tamis_status tamis_filter_open_memory(const void* data, uint64_t bytes,
                                                  const tamis_open_options* options,
                                                  tamis_filter** out);
/* Writes the bytes of the file that tamis_filter_save would write to `data`, which has room for
 * `capacity` bytes. *written, which may be NULL, becomes their number. If `data` is NULL and
 * `capacity` is 0, that is all it does, in O(1) or O(layers). TAMIS_UNSUPPORTED with
 * tamis_save_options.imported. */
TAMIS_C_API tamis_status tamis_filter_serialize(const tamis_filter* filter,
                                                const tamis_save_options* options, void* data,
                                                uint64_t capacity, uint64_t* written);

/* Returns the name of format `index` of another library, counted from 0 in the order of their
 * names, or NULL past the last. Valid for as long as the program runs. */
TAMIS_C_API const char* tamis_format_name(size_t index);

#ifdef __cplusplus
}
#endif

#endif /* TAMIS_C_FILE_H_ */
