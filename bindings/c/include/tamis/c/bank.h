/* Filter banks: thousands of split-block filters queried at once. For example: which of ten
 * thousand files may contain this key? See docs/bank.md. */
#ifndef TAMIS_C_BANK_H_
#define TAMIS_C_BANK_H_

#include "tamis/c/base.h"
#include "tamis/c/engine.h"
#include "tamis/c/file.h"
#include "tamis/c/filter.h"
#include "tamis/c/keys.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A set of filters, its members. The name of a member is a string of 1 to 4096 bytes of any value.
 * A query of 512 members of equal size reads eight cache lines per key. The answers equal the
 * answers of separate filters. The index of a member is its position in answers. An index is valid
 * until the bank is changed or saved. Indexes may have gaps. */
typedef struct tamis_bank tamis_bank;

/* Options of a bank. */
typedef struct tamis_bank_options {
  size_t struct_bytes; /* set by TAMIS_INIT */
  /* False-positive rate of filters built from keys, in [1e-12, 0.5]. 0: the rate follows from
   * `false_members` and `members`, or is 0.01 if both are 0. */
  double fpr;
  /* Expected number of false-positive members per lookup in a bank of `members` members. Set both
   * members, or leave both 0. */
  double false_members;
  uint64_t members; /* number of members */
  tamis_hash hash;  /* the hash of all filters */
  /* Added filters wait until 512 of them have equal size, or until all waiting filters together
   * have more bytes than this. 0: 64 MiB. */
  uint64_t buffer_bytes;
  const char* backend;    /* NULL: the default */
  uint32_t no_huge_pages; /* 1: does not request huge pages */
  uint32_t reserved;      /* 0 */
} tamis_bank_options;

/* Creates an empty bank. `options` may be NULL. */
TAMIS_C_API tamis_status tamis_bank_create(const tamis_bank_options* options, tamis_bank** out);
/* Reads a file written by tamis_bank_save. `options` may be NULL. With tamis_open_options.map the
 * bank is read-only, and functions that change it return TAMIS_READ_ONLY. */
TAMIS_C_API tamis_status tamis_bank_open(const char* path, const tamis_open_options* options,
                                         tamis_bank** out);
/* Calls tamis_bank_flush and saves the bank like tamis_filter_save. `options` may be NULL. A mapped
 * bank can also be saved. */
TAMIS_C_API tamis_status tamis_bank_save(tamis_bank* bank, const char* path,
                                         const tamis_save_options* options);
/* Frees a bank. NULL is ignored. */
TAMIS_C_API void tamis_bank_free(tamis_bank* bank);

/* The size and the properties of a bank. */
typedef struct tamis_bank_info {
  size_t struct_bytes; /* set by TAMIS_INIT */
  uint64_t members;
  uint64_t indexes;   /* a multiple of 64, above the index of every member */
  uint64_t row_words; /* indexes / 64: words in one row of answers */
  uint64_t bytes;     /* size of all groups, including free places, and of waiting filters */
  double fpr;         /* of filters built from keys */
  uint32_t hash_kind; /* TAMIS_HASH_... */
  uint32_t read_only; /* 1: the bank is mapped */
  uint64_t seed;      /* of the hash; no function returns its secret */
} tamis_bank_info;
/* Initialize `out` with TAMIS_INIT. O(members / 512). */
TAMIS_C_API tamis_status tamis_bank_get_info(const tamis_bank* bank, tamis_bank_info* out);
/* Computes the expected number of false-positive members per lookup from the contents of all
 * members. O(bytes). */
TAMIS_C_API tamis_status tamis_bank_expected_false_members(const tamis_bank* bank, double* out);

/* ---- Members. `name` has `name_bytes` bytes. ---- */

/* Adds a copy of a split-block filter. Returns TAMIS_INCOMPATIBLE if the hash of the filter differs
 * from the hash of the bank, TAMIS_UNSUPPORTED for another kind, and TAMIS_INVALID_ARGUMENT if the
 * name is in use. A group of filters of equal size takes the memory of 512 filters, even if it
 * contains fewer. So build filters of only a few different sizes. */
TAMIS_C_API tamis_status tamis_bank_add_filter(tamis_bank* bank, const char* name,
                                               size_t name_bytes, const tamis_filter* filter);
/* Builds a filter from `keys` and adds it. Its size follows from the number of keys and the bank's
 * rate, and is rounded up to one of few sizes. `engine` may be NULL. If the keys are hashes, they
 * must be made with the bank's hash. */
TAMIS_C_API tamis_status tamis_bank_add_keys(tamis_bank* bank, const tamis_engine* engine,
                                             const char* name, size_t name_bytes,
                                             const tamis_keys* keys);
/* Removes a member. Returns 1 if a member had this name, and 0 otherwise. */
TAMIS_C_API tamis_answer tamis_bank_remove(tamis_bank* bank, const char* name, size_t name_bytes);
/* Returns a copy of a member's filter, bit for bit. Returns TAMIS_INVALID_ARGUMENT for an unknown
 * name. */
TAMIS_C_API tamis_status tamis_bank_extract(const tamis_bank* bank, const char* name,
                                            size_t name_bytes, tamis_filter** out);
/* Adds all members of `other`, which may be mapped and must have the same hash. Returns
 * TAMIS_INVALID_ARGUMENT if a name is in both banks. If memory runs out, some members may have been
 * added. */
TAMIS_C_API tamis_status tamis_bank_merge(tamis_bank* bank, const tamis_bank* other);
/* tamis_bank_flush moves all waiting members into groups. tamis_bank_compact also moves members
 * from the emptiest groups to other groups of the same size, and drops the bits of removed
 * members. */
TAMIS_C_API tamis_status tamis_bank_flush(tamis_bank* bank);
TAMIS_C_API tamis_status tamis_bank_compact(tamis_bank* bank);

/* Returns 1 if a member has this name, and sets *index to the member's index. `index` may be
 * NULL. */
TAMIS_C_API tamis_answer tamis_bank_find(const tamis_bank* bank, const char* name,
                                         size_t name_bytes, uint64_t* index);
/* Writes the indexes of all members, ascending. `indexes` has room for `capacity` elements, at
 * least tamis_bank_info.members. */
TAMIS_C_API tamis_status tamis_bank_members(const tamis_bank* bank, uint64_t* indexes,
                                            uint64_t capacity);
/* Returns the name of the member with this index: *name_bytes bytes followed by a 0. Valid until
 * the bank is changed, saved or freed. Returns TAMIS_INVALID_ARGUMENT for an unknown index. */
TAMIS_C_API tamis_status tamis_bank_name(const tamis_bank* bank, uint64_t index, const char** name,
                                         size_t* name_bytes);

/* ---- Queries. `engine` may be NULL. A null key is in no member. ---- */

/* Writes one row for each key, in order: bit i of a row, least significant bit first, is 1 if the
 * member with index i may have the key. `rows` has room for `words` elements, at least keys->count
 * * tamis_bank_info.row_words. *hits becomes the number of bits that are 1; `hits` may be NULL. */
TAMIS_C_API tamis_status tamis_bank_contains_bitmap(const tamis_bank* bank,
                                                    const tamis_engine* engine,
                                                    const tamis_keys* keys, uint64_t* rows,
                                                    uint64_t words, uint64_t* hits);
/* Writes all pairs of a key and a member that may have it, ordered by key, then by member: the
 * index of the key to key_indices[i], and the index of the member to members[i]. Both arrays have
 * room for `capacity` elements. *hits becomes the number of pairs. If *hits exceeds `capacity`,
 * returns TAMIS_INVALID_ARGUMENT and writes only *hits. */
TAMIS_C_API tamis_status tamis_bank_select(const tamis_bank* bank, const tamis_engine* engine,
                                           const tamis_keys* keys, uint64_t* key_indices,
                                           uint64_t* members, uint64_t capacity, uint64_t* hits);
/* Counts the keys that each member may have. counts[i] becomes the count of the member with index
 * i, or 0 if no member has this index. `counts` has room for `capacity` elements, at least
 * tamis_bank_info.indexes. */
TAMIS_C_API tamis_status tamis_bank_count_per_member(const tamis_bank* bank,
                                                     const tamis_engine* engine,
                                                     const tamis_keys* keys, uint64_t* counts,
                                                     uint64_t capacity);
/* Writes the indexes of the largest counts to `members`, at most `capacity` of them. Ignores counts
 * below `at_least`, which must not be 0. Larger counts come first. Equal counts are in the order of
 * their indexes. `counts` has `num_counts` elements. *found becomes the number of indexes
 * written. */
TAMIS_C_API tamis_status tamis_bank_best_members(const uint64_t* counts, uint64_t num_counts,
                                                 uint64_t at_least, uint64_t* members,
                                                 uint64_t capacity, uint64_t* found);

#ifdef __cplusplus
}
#endif

#endif /* TAMIS_C_BANK_H_ */
