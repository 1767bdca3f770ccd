/* The layouts of many keys in memory. */
#ifndef TAMIS_C_KEYS_H_
#define TAMIS_C_KEYS_H_

#include "tamis/c/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What tamis_keys::data has. Integers are keys by their value widened to 64 bits: signed ones by
 * their sign, so -1 is the same key in all signed widths, and 255 of 8 bits is that of 64. */
enum {
  TAMIS_KEYS_U8 = 1,
  TAMIS_KEYS_I8 = 2,
  TAMIS_KEYS_U16 = 3,
  TAMIS_KEYS_I16 = 4,
  TAMIS_KEYS_U32 = 5,
  TAMIS_KEYS_I32 = 6,
  TAMIS_KEYS_U64 = 7,
  TAMIS_KEYS_I64 = 8,
  /* uint64_t: hashes made by tamis_hash_keys with the filter's own hash. */
  TAMIS_KEYS_HASHES = 9,
  /* Strings laid end to end: int32_t offsets into `bytes`, one more than there are strings. String
   * i is bytes[offsets[i] .. offsets[i + 1]). Arrow's utf8 and binary. */
  TAMIS_KEYS_STRINGS32 = 10,
  /* The same with int64_t offsets: large_utf8 and large_binary. */
  TAMIS_KEYS_STRINGS64 = 11,
  /* const void* for each string, as long as `lengths` says. NULL is the string of length 0, or what
   * stands where a key is null. */
  TAMIS_KEYS_POINTERS = 12,
  /* Strings of `width` bytes each, laid end to end, at any address: Arrow's fixed_size_binary, and
   * Parquet's FIXED_LEN_BYTE_ARRAY and INT96. */
  TAMIS_KEYS_FIXED = 13,
  /* int32_t, at any address, hashed as their 4 bytes: what Apache Parquet does with INT32. These
   * are OTHER keys than TAMIS_KEYS_I32. */
  TAMIS_KEYS_PARQUET_INT32 = 14,
  /* Views of 16 bytes each, at any address: Arrow's utf8_view and binary_view. An int32_t, the
   * bytes of the string, which follow if these are at most 12; else there are 4 of them, and two
   * int32_t: in which buffer they are, and where they begin in it. `bytes` is an array of
   * `num_bytes` such buffers, const void* each, and `lengths` has the bytes of each:
   * ArrowArray.buffers + 2, .n_buffers - 3, and .buffers[n_buffers - 1]. */
  TAMIS_KEYS_VIEWS = 15,
  /* int64_t: points in time since 1970-01-01 00:00 UTC, or durations, in a unit. All are hashed as
   * nanoseconds, so they are the same keys in every unit: see tamis/time_keys.h. Integers are OTHER
   * keys than the times that they count, but for nanoseconds. */
  TAMIS_KEYS_DAYS = 16,
  TAMIS_KEYS_SECONDS = 17,
  TAMIS_KEYS_MILLIS = 18,
  TAMIS_KEYS_MICROS = 19,
  TAMIS_KEYS_NANOS = 20
};

/* Keys [offset, offset + count) of arrays that stay the caller's; they must not change during a
 * call. Set members that a layout does not use to 0. Zero keys need no arrays.
 *
 * With `validity`, bit offset + i of it, least significant bit first, is 1 if key i is valid and 0
 * if it is null. Null is no key: it is never in, and never inserted or erased, whatever is in its
 * place. `offset`, `count`, `validity`, `data` and `bytes` are what an array of Apache Arrow has
 * (ArrowArray.offset, .length, .buffers[0], [1] and [2]). */
typedef struct tamis_keys {
  uint32_t layout;         /* TAMIS_KEYS_... */
  uint32_t width;          /* FIXED: the bytes of a value, at least 1 */
  uint64_t count;          /* nulls included; at most 2^48 */
  uint64_t offset;         /* elements that come before the first key in all arrays */
  const void* data;        /* elements, at a multiple of their size where no other is said */
  const void* bytes;       /* STRINGS32 and STRINGS64; VIEWS: its buffers */
  uint64_t num_bytes;      /* of `bytes`: offsets beyond are an error. UINT64_MAX: not known */
  const uint64_t* lengths; /* POINTERS: the bytes of each string; VIEWS: of each buffer */
  const uint8_t* validity; /* NULL: all are valid */
} tamis_keys;

/* `count` integers. */
static inline tamis_keys tamis_keys_u64(const uint64_t* values, uint64_t count) {
  tamis_keys keys = {TAMIS_KEYS_U64, 0, count, 0, NULL, NULL, 0, NULL, NULL};
  keys.data = values;
  return keys;
}

/* `count` strings, each anywhere in memory. */
static inline tamis_keys tamis_keys_strings(const char* const* strings, const uint64_t* lengths,
                                            uint64_t count) {
  tamis_keys keys = {TAMIS_KEYS_POINTERS, 0, count, 0, NULL, NULL, 0, NULL, NULL};
  keys.data = strings;
  keys.lengths = lengths;
  return keys;
}

/* The hashes of the keys that are not null, in their order, which TAMIS_KEYS_HASHES takes. `hash`
 * may be NULL, for the default. `hashes` has room for `capacity` of them, which is at least the
 * number of valid keys; *num_hashes becomes how many there are, and may be NULL. */
TAMIS_C_API tamis_status tamis_hash_keys(const tamis_keys* keys, const tamis_hash* hash,
                                         uint64_t* hashes, uint64_t capacity, uint64_t* num_hashes);

#ifdef __cplusplus
}
#endif

#endif /* TAMIS_C_KEYS_H_ */
