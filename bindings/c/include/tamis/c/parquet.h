/* Bloom filters in Parquet files: what they are worth, and which files may hold keys of a list.
 * docs/parquet.md describes both. In a library that was built without (TAMIS_PARQUET=OFF) all
 * functions are TAMIS_UNSUPPORTED. */
#ifndef TAMIS_C_PARQUET_H_
#define TAMIS_C_PARQUET_H_

#include "tamis/c/base.h"
#include "tamis/c/keys.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the footer and the filters of a file. *out becomes a JSON object with the members that
 * `tamis parquet info --json` prints, which tamis_text_free gives back. `fpr` is that of
 * right-sized filters, in [1e-12, 0.5]; 0: 0.01. TAMIS_CORRUPT for what is no Parquet file; what is
 * wrong with one filter is in its `problem`. */
TAMIS_C_API tamis_status tamis_parquet_info_json(const char* path, double fpr, char** out);

/* What keys stand for. */
enum {
  /* Integers by their value: days of a date, units of the column of a time or timestamp. Strings by
   * their bytes, also the 16 of a UUID. */
  TAMIS_PARQUET_VALUES = 0,
  /* Strings as people write values: 42, 1.5, 12.30, 2026-01-31, 2026-01-31 12:30:00.5 ...; in
   * columns of strings the strings themselves. */
  TAMIS_PARQUET_TEXT = 1,
  TAMIS_PARQUET_DOUBLES = 2, /* TAMIS_KEYS_U64 that have the bits of doubles */
  /* Integers since 1970-01-01 00:00, whatever the unit of the column. */
  TAMIS_PARQUET_MILLIS = 3,
  TAMIS_PARQUET_MICROS = 4,
  TAMIS_PARQUET_NANOS = 5
};

/* How much an answer says. The more it says, the more is asked. */
enum {
  TAMIS_PARQUET_GROUPS = 0, /* which row groups: each is asked until the first hit */
  TAMIS_PARQUET_HITS = 1,   /* and how many keys each may hold */
  TAMIS_PARQUET_PAIRS = 2   /* and which */
};

/* What became of a row group. The first three hold none of the keys; all others are kept. */
enum {
  TAMIS_PARQUET_NO_VALUES = 0, /* all values of the column are null */
  TAMIS_PARQUET_BOUNDS = 1,    /* no key is between its smallest and its largest value */
  TAMIS_PARQUET_FILTER = 2,    /* its Bloom filter has none */
  TAMIS_PARQUET_MAYBE = 3,     /* its filter may have some */
  TAMIS_PARQUET_NO_FILTER = 4, /* it has no filter, and some keys are between its bounds */
  TAMIS_PARQUET_DOUBT = 5      /* something is wrong, or not known */
};

typedef struct tamis_parquet_options {
  size_t struct_bytes;
  const char* column;  /* its path, with dots between names: "id", "tags.list.element" */
  const char* backend; /* NULL: the default */
  uint32_t meaning;    /* of the keys: TAMIS_PARQUET_VALUES ... */
  uint32_t detail;     /* TAMIS_PARQUET_GROUPS ... */
  uint32_t threads;    /* of tamis_parquet_pruner_run; 0: one for each processor */
  uint32_t no_bounds;  /* 1: ask the Bloom filters alone */
  uint32_t no_filters; /* 1: ask smallest and largest values alone */
  uint32_t reserved;   /* 0 */
} tamis_parquet_options;

/* Answers, with all that they point to, are valid as long as the call that hands them over. */
typedef struct tamis_parquet_group {
  uint32_t outcome; /* TAMIS_PARQUET_NO_VALUES ... */
  uint32_t reserved;
  uint64_t rows;
  uint64_t bytes;       /* in the file, as far as its footer says */
  uint64_t hits;        /* with TAMIS_PARQUET_GROUPS 1 at most is counted */
  const char* doubt;    /* why; "" but for TAMIS_PARQUET_DOUBT */
  const uint32_t* keys; /* TAMIS_PARQUET_PAIRS: indices of them, in no order; none in doubt */
  uint64_t num_keys;
} tamis_parquet_group;
typedef struct tamis_parquet_file {
  uint64_t index; /* among the paths */
  uint64_t bytes;
  const char* doubt; /* why nothing could be asked of it, which has no groups then; else "" */
  const tamis_parquet_group* groups;
  uint64_t num_groups;
  uint32_t kept; /* 0: certainly without the keys */
  uint32_t reserved;
} tamis_parquet_file;

/* Takes the answer of one file; anything but 0 ends the work. It is called by one thread at a time,
 * which need not be that of the call, must not throw, and not use its pruner. */
typedef int32_t (*tamis_parquet_take)(const tamis_parquet_file* file, void* context);

/* Keys, to be asked of many files, hashed once for each type that the column has. */
typedef struct tamis_parquet_pruner tamis_parquet_pruner;

/* Copies the keys, of which there must be 1 at least that is not null, and 2^32 - 1 at most; not
 * hashes, and not TAMIS_KEYS_PARQUET_INT32. */
TAMIS_C_API tamis_status tamis_parquet_pruner_create(const tamis_keys* keys,
                                                     const tamis_parquet_options* options,
                                                     tamis_parquet_pruner** out);
TAMIS_C_API void tamis_parquet_pruner_free(tamis_parquet_pruner* pruner);

/* Asks `count` files, and hands over their answers in this order. Whatever is in doubt is kept:
 * also files that cannot be read. TAMIS_CANCELLED if `take` has ended it. */
TAMIS_C_API tamis_status tamis_parquet_pruner_run(const tamis_parquet_pruner* pruner,
                                                  const char* const* paths, uint64_t count,
                                                  tamis_parquet_take take, void* context);

/* What the keys are in the types that columns of that name have had so far: a JSON array of objects
 * with `type`, `problem` if such columns cannot be asked, `misfits`, the number of keys that no
 * such column can have, and `first_misfits`, the indices of the first ten. */
TAMIS_C_API tamis_status tamis_parquet_pruner_types_json(const tamis_parquet_pruner* pruner,
                                                         char** out);

#ifdef __cplusplus
}
#endif

#endif /* TAMIS_C_PARQUET_H_ */
