/* The layouts of many keys in memory. */
#ifndef TAMIS_C_KEYS_H_
#define TAMIS_C_KEYS_H_

#include "tamis/c/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The layout of tamis_keys::data. Integers are widened to 64 bits, signed integers with their sign.
 * So -1 is the same key in all signed widths, and 255 is the same key in 8 and 64 bits. */
enum {
  TAMIS_KEYS_U8 = 1,
  TAMIS_KEYS_I8 = 2,
  TAMIS_KEYS_U16 = 3,
  TAMIS_KEYS_I16 = 4,
  TAMIS_KEYS_U32 = 5,
  TAMIS_KEYS_I32 = 6,
  TAMIS_KEYS_U64 = 7,
  TAMIS_KEYS_I64 = 8,
  /* uint64_t: hashes made by tamis_hash_keys with the filter's hash. */
  TAMIS_KEYS_HASHES = 9,
  /* Contiguous strings: int32_t offsets into `bytes`, one more than the number of strings. String i
   * is bytes[offsets[i] .. offsets[i + 1]). Arrow: utf8 and binary. */
  TAMIS_KEYS_STRINGS32 = 10,
  /* Like TAMIS_KEYS_STRINGS32, with int64_t offsets. Arrow: large_utf8 and large_binary. */
  TAMIS_KEYS_STRINGS64 = 11,
  /* One const void* per string, with its length in `lengths`. NULL is allowed for a string of
   * length 0 and for a null key. */
  TAMIS_KEYS_POINTERS = 12,
  /* Contiguous strings of `width` bytes each, at any address: Arrow's fixed_size_binary, and
   * Parquet's FIXED_LEN_BYTE_ARRAY and INT96. */
  TAMIS_KEYS_FIXED = 13,
  /* int32_t, at any address, hashed by their 4 bytes as Apache Parquet does for INT32. The same
   * numbers as TAMIS_KEYS_I32 are OTHER keys. */
  TAMIS_KEYS_PARQUET_INT32 = 14,
  /* Views of 16 bytes each, at any address: Arrow's utf8_view and binary_view. A view begins with
   * the length, an int32_t. A string of at most 12 bytes follows the length. For a longer string,
   * its first 4 bytes follow, then the index of its buffer and its offset in the buffer, int32_t
   * each. `bytes` is an array of `num_bytes` buffers, const void* each, and `lengths` contains the
   * size of each: ArrowArray.buffers + 2, .n_buffers - 3, and .buffers[n_buffers - 1]. */
  TAMIS_KEYS_VIEWS = 15,
  /* int64_t: times since 1970-01-01 00:00 UTC, or durations, in a unit. They are hashed as
   * nanoseconds, so a time is the same key in every unit: see tamis/time_keys.h. The integer that
   * counts the unit is ANOTHER key, except in nanoseconds. */
  TAMIS_KEYS_DAYS = 16,
  TAMIS_KEYS_SECONDS = 17,
  TAMIS_KEYS_MILLIS = 18,
  TAMIS_KEYS_MICROS = 19,
  TAMIS_KEYS_NANOS = 20
};

/* Keys [offset, offset + count) of arrays that the caller owns. The arrays must not change during a
 * call. Set members that a layout does not use to 0. If `count` is 0, the arrays may be NULL.
 *
 * With `validity`, bit offset + i, least significant bit first, is 1 if key i is valid and 0 if it
 * is null. A null is not a key: it is never in a filter, and never inserted or erased. Its element
 * may have any value. `offset`, `count`, `validity`, `data` and `bytes` equal ArrowArray.offset,
 * .length, .buffers[0], [1] and [2] of Apache Arrow. */
typedef struct tamis_keys {
  uint32_t layout;    /* TAMIS_KEYS_... */
  uint32_t width;     /* FIXED: bytes per value, at least 1 */
  uint64_t count;     /* nulls included; at most 2^48 */
  uint64_t offset;    /* number of elements before the first key in all arrays */
  const void* data;   /* elements, aligned to their size unless the layout allows any address */
  const void* bytes;  /* STRINGS32 and STRINGS64: the strings; VIEWS: the buffers */
  uint64_t num_bytes; /* size of `bytes`; larger offsets are an error. UINT64_MAX: unknown */
  const uint64_t* lengths; /* POINTERS: size of each string; VIEWS: size of each buffer */
  const uint8_t* validity; /* NULL: all keys are valid */
} tamis_keys;

/* Returns `count` integers as keys. */
static inline tamis_keys tamis_keys_u64(const uint64_t* values, uint64_t count) {
  tamis_keys keys = {TAMIS_KEYS_U64, 0, count, 0, NULL, NULL, 0, NULL, NULL};
  keys.data = values;
  return keys;
}

/* Returns `count` separate strings as keys. */
static inline tamis_keys tamis_keys_strings(const char* const* strings, const uint64_t* lengths,
                                            uint64_t count) {
  tamis_keys keys = {TAMIS_KEYS_POINTERS, 0, count, 0, NULL, NULL, 0, NULL, NULL};
  keys.data = strings;
  keys.lengths = lengths;
  return keys;
}

/* Computes the hashes of the keys that are not null, in the order of the keys, for
 * TAMIS_KEYS_HASHES. `hash` may be NULL, for the default. `hashes` has room for `capacity`
 * elements, at least the number of valid keys. *num_hashes becomes the number of hashes;
 * `num_hashes` may be NULL. */
TAMIS_C_API tamis_status tamis_hash_keys(const tamis_keys* keys, const tamis_hash* hash,
                                         uint64_t* hashes, uint64_t capacity, uint64_t* num_hashes);

#ifdef __cplusplus
}
#endif

#endif /* TAMIS_C_KEYS_H_ */
