/* Filters in files, and the same bytes in memory. core/FORMAT.md specifies the format.
 *
 * All bytes are checked before use, except for a mapped filter without tamis_open_options.verify.
 * The messages of TAMIS_CORRUPT and TAMIS_UNSUPPORTED name the failed check and its offset. */
#ifndef TAMIS_C_FILE_H_
#define TAMIS_C_FILE_H_

#include "tamis/c/base.h"
#include "tamis/c/filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A filter of another library ignores `version` and `with_secret`. */
typedef struct tamis_save_options {
  size_t struct_bytes;        /* set by TAMIS_INIT */
  uint32_t replace_read_only; /* 1: also replaces a file that this process may not write */
  uint32_t version;           /* of the format: 1 for readers that support only 1; 0: the newest */
  /* Whether to write the secret of a keyed hash to the file. 1: yes; -1: no; 0: yes if the filter
   * was read from a file that contains its secret. */
  int32_t with_secret;
  /* 1: saves a filter of another library with a header that names its format, and a checksum. 0:
   * saves the bytes that the other library reads. */
  uint32_t imported;
  /* Not 0: saves the filter or bank in several files of this many bytes, a multiple of 65,536. The
   * last may be shorter. The path must be a name and ".0000"; the other files end in ".0001" and so
   * on, and all must be new (TAMIS_BUSY). All functions open them by the path of the first. 0: one
   * file. Not for filters of other libraries. */
  uint64_t shard_bytes;
} tamis_save_options;

/* Options of opening a file. */
typedef struct tamis_open_options {
  size_t struct_bytes; /* set by TAMIS_INIT */
  const char* backend; /* NULL: the default */
  /* Name of another library's format, such as "guava:utf8", as returned by tamis_format_name. The
   * bytes of such a filter do not name their format. NULL: a file of tamis. */
  const char* format;
  /* 1: maps the file, read-only and without a copy. Pages are read when they are first used, and
   * processes that map the same file share them. Formats of other libraries cannot be mapped,
   * except for "dcso". */
  uint32_t map;
  uint32_t verify; /* 1: checks all bytes of a mapped file. 0: its header and length */
  /* 1: secret_low and secret_high are the secret of the filter's keyed hash. Required if the file
   * does not contain the secret. A missing or wrong secret causes TAMIS_SECRET. */
  uint32_t has_secret;
  uint32_t reserved; /* 0 */
  uint64_t secret_low;
  uint64_t secret_high;
} tamis_open_options;

/* A path is a file name of the operating system, terminated by a 0. On Windows it is UTF-8.
 * `options` may be NULL. */

/* Writes a filter to `path` atomically: writes a temporary file, synchronizes it, and renames it.
 * `path` always names the old file or the complete new file. Returns TAMIS_IO if the file was not
 * saved, and TAMIS_NOT_DURABLE if the file HAS been saved but a power cut might undo this. A view
 * cannot be saved. */
TAMIS_C_API tamis_status tamis_filter_save(const tamis_filter* filter, const char* path,
                                           const tamis_save_options* options);

/* Opens a file of any kind of filter, a file saved with tamis_save_options.imported, or a file of
 * tamis_open_options.format. Reads and verifies all bytes unless the file is mapped.
 * tamis_filter_save may replace a mapped file, except on Windows (TAMIS_BUSY). Do not write into a
 * mapped file. Otherwise answers become wrong, and a query of a truncated file ends the process
 * (SIGBUS). */
TAMIS_C_API tamis_status tamis_filter_open(const char* path, const tamis_open_options* options,
                                           tamis_filter** out);
/* Opens a filter from the bytes of a file in memory. Files saved with tamis_save_options.imported
 * are not supported. With tamis_open_options.map, the filter is read-only and uses the bytes in
 * place, for example in shared memory. Then `data` must be a multiple of 64 and must outlive the
 * filter. If the bytes change, answers change, but the library reads nothing outside the bytes. */
TAMIS_C_API tamis_status tamis_filter_open_memory(const void* data, uint64_t bytes,
                                                  const tamis_open_options* options,
                                                  tamis_filter** out);
/* Writes the bytes of the file that tamis_filter_save would write to `data`, which has room for
 * `capacity` bytes. *written becomes the number of bytes; `written` may be NULL. If `data` is NULL
 * and `capacity` is 0, only sets *written, in O(1) or O(layers). Returns TAMIS_UNSUPPORTED with
 * tamis_save_options.imported. */
TAMIS_C_API tamis_status tamis_filter_serialize(const tamis_filter* filter,
                                                const tamis_save_options* options, void* data,
                                                uint64_t capacity, uint64_t* written);

/* Returns the name of format `index` of another library. Indexes count from 0 in the order of
 * names. Returns NULL past the last. Valid while the program runs. */
TAMIS_C_API const char* tamis_format_name(size_t index);

#ifdef __cplusplus
}
#endif

#endif /* TAMIS_C_FILE_H_ */
