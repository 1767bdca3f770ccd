/* Bloom filters in Parquet files: reports whether they are worth their bytes, and finds the files
 * that may contain keys of a list. See docs/parquet.md. All functions return TAMIS_UNSUPPORTED in a
 * library built without Parquet (TAMIS_PARQUET=OFF). */
#ifndef TAMIS_C_PARQUET_H_
#define TAMIS_C_PARQUET_H_

#include "tamis/c/base.h"
#include "tamis/c/keys.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the footer and the filters of a file. *out becomes the JSON object that `tamis parquet info
 * --json` prints; free it with tamis_text_free. The report compares the filters with filters of the
 * rate `fpr`, in [1e-12, 0.5]; 0: 0.01. Returns TAMIS_CORRUPT if the file is not a Parquet file. If
 * only one filter cannot be read, its member `problem` contains the reason. */
TAMIS_C_API tamis_status tamis_parquet_info_json(const char* path, double fpr, char** out);

/* The meaning of keys. */
enum {
  /* Integers are compared by value: days for a date, units of the column for a time or timestamp.
   * Strings are compared by their bytes; a UUID has 16 bytes. */
  TAMIS_PARQUET_VALUES = 0,
  /* Strings as people write values: 42, 1.5, 12.30, 2026-01-31, 2026-01-31 12:30:00.5 ... In a
   * string column, a string is the value itself. */
  TAMIS_PARQUET_TEXT = 1,
  TAMIS_PARQUET_DOUBLES = 2, /* TAMIS_KEYS_U64 with the bits of doubles */
  /* Integers that count this unit since 1970-01-01 00:00. The column may have another unit. */
  TAMIS_PARQUET_MILLIS = 3,
  TAMIS_PARQUET_MICROS = 4,
  TAMIS_PARQUET_NANOS = 5
};

/* The detail of answers. More detail requires more queries. */
enum {
  TAMIS_PARQUET_GROUPS = 0, /* which row groups; a row group is queried until the first hit */
  TAMIS_PARQUET_HITS = 1,   /* also the number of keys that a row group may contain */
  TAMIS_PARQUET_PAIRS = 2   /* also the keys */
};

/* The outcome for a row group. The first three outcomes rule out all keys. Row groups with the
 * other outcomes are kept. */
enum {
  TAMIS_PARQUET_NO_VALUES = 0, /* all values of the column are null */
  TAMIS_PARQUET_BOUNDS = 1,    /* no key is between the smallest and the largest value */
  TAMIS_PARQUET_FILTER = 2,    /* the Bloom filter answers "no" for all keys */
  TAMIS_PARQUET_MAYBE = 3,     /* the filter answers "maybe" for some keys */
  TAMIS_PARQUET_NO_FILTER = 4, /* no filter, and some keys are between the bounds */
  TAMIS_PARQUET_DOUBT = 5      /* an error or an unsupported feature */
};

/* Options of a query of Parquet files. */
typedef struct tamis_parquet_options {
  size_t struct_bytes; /* set by TAMIS_INIT */
  const char* column;  /* path of the column, with dots between names: "id", "tags.list.element" */
  const char* backend; /* NULL: the default */
  uint32_t meaning;    /* meaning of the keys: TAMIS_PARQUET_VALUES ... */
  uint32_t detail;     /* TAMIS_PARQUET_GROUPS ... */
  uint32_t threads;    /* for tamis_parquet_pruner_run; 0: TAMIS_THREADS, or one per processor */
  uint32_t no_bounds;  /* 1: uses only the Bloom filters */
  uint32_t no_filters; /* 1: uses only the smallest and largest values */
  uint32_t reserved;   /* 0 */
} tamis_parquet_options;

/* Answers, and the memory that they point to, are valid only during the call of `take`. */
typedef struct tamis_parquet_group {
  uint32_t outcome; /* TAMIS_PARQUET_NO_VALUES ... */
  uint32_t reserved;
  uint64_t rows;     /* number of rows */
  uint64_t bytes;    /* compressed; uncompressed if the footer lacks the compressed size */
  uint64_t hits;     /* with TAMIS_PARQUET_GROUPS, a filter adds at most 1 */
  const char* doubt; /* the reason for TAMIS_PARQUET_DOUBT; otherwise "" */
  const uint32_t*
      keys; /* TAMIS_PARQUET_PAIRS: indices of the keys, in no particular order; empty in doubt */
  uint64_t num_keys; /* number of elements of `keys` */
} tamis_parquet_group;
/* The answer for one file. */
typedef struct tamis_parquet_file {
  uint64_t index;    /* index in `paths` */
  uint64_t bytes;    /* size of the file */
  const char* doubt; /* why the file could not be queried; num_groups is then 0. Otherwise "" */
  const tamis_parquet_group* groups; /* the answers for its row groups */
  uint64_t num_groups;               /* number of elements of `groups` */
  uint32_t kept;                     /* 0: certainly contains none of the keys */
  uint32_t reserved;
} tamis_parquet_file;

/* Receives the answer for one file. Return 0 to continue, and any other number to stop the run.
 * Calls do not overlap. They may come from threads that did not call tamis_parquet_pruner_run. The
 * function must not throw, and must not use the pruner that calls it. */
typedef int32_t (*tamis_parquet_take)(const tamis_parquet_file* file, void* context);

/* Keys to look for in many files. The keys are hashed once for each type that the column has in a
 * file. */
typedef struct tamis_parquet_pruner tamis_parquet_pruner;

/* Creates a pruner with a copy of the keys: at least 1 that is not null, and at most 2^32 - 1.
 * Hashes, times and TAMIS_KEYS_PARQUET_INT32 are not allowed. */
TAMIS_C_API tamis_status tamis_parquet_pruner_create(const tamis_keys* keys,
                                                     const tamis_parquet_options* options,
                                                     tamis_parquet_pruner** out);
TAMIS_C_API void tamis_parquet_pruner_free(tamis_parquet_pruner* pruner);

/* Queries `count` files, and calls `take` with their answers in the order of `paths`. Files and row
 * groups in doubt are kept, for example files that cannot be read. Returns TAMIS_CANCELLED if
 * `take` has stopped the run. */
TAMIS_C_API tamis_status tamis_parquet_pruner_run(const tamis_parquet_pruner* pruner,
                                                  const char* const* paths, uint64_t count,
                                                  tamis_parquet_take take, void* context);

/* Describes the keys for the types of the columns queried so far. *out becomes a JSON array of
 * objects; free it with tamis_text_free. Members of an object:
 *   - `type`
 *   - `problem`: why columns of the type cannot be queried; missing if they can
 *   - `misfits`: the number of keys that no column of the type can contain
 *   - `first_misfits`: the indices of the first ten of these keys */
TAMIS_C_API tamis_status tamis_parquet_pruner_types_json(const tamis_parquet_pruner* pruner,
                                                         char** out);

#ifdef __cplusplus
}
#endif

#endif /* TAMIS_C_PARQUET_H_ */
