/* Filter banks: thousands of split-block filters that are asked at once. Which of the filters of
 * ten thousand files may have this key? docs/bank.md describes them. */
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

/* Its members are filters, and have names: strings of 1 to 4096 bytes, of any value. A key is
 * looked up in 512 of equal size by reading eight cache lines; answers are those of the separate
 * filters. A member has an index, its place in answers, until the bank is changed or saved; there
 * may be gaps. */
typedef struct tamis_bank tamis_bank;

typedef struct tamis_bank_options {
  size_t struct_bytes;
  /* False-positive rate of filters that are made of keys, in [1e-12, 0.5]. 0: by the next two, or
   * 0.01. */
  double fpr;
  /* How many members that a key is not in are to be expected to have it all the same, if there are
   * so many as the next says. Both or none. */
  double false_members;
  uint64_t members;
  tamis_hash hash; /* of all filters */
  /* Filters that were added wait until there are 512 of a size, or they have more bytes than this.
   * 0: 64 MiB. */
  uint64_t buffer_bytes;
  const char* backend;    /* NULL: the default */
  uint32_t no_huge_pages; /* 1: the kernel is not asked for huge pages */
  uint32_t reserved;      /* 0 */
} tamis_bank_options;

/* `options` may be NULL, for the defaults. */
TAMIS_C_API tamis_status tamis_bank_create(const tamis_bank_options* options, tamis_bank** out);
/* Reads a file of tamis_bank_save. With tamis_open_options.map the bank is read-only, and functions
 * that change it return TAMIS_READ_ONLY. */
TAMIS_C_API tamis_status tamis_bank_open(const char* path, const tamis_open_options* options,
                                         tamis_bank** out);
/* As tamis_filter_save, after tamis_bank_flush; also of a mapped one. */
TAMIS_C_API tamis_status tamis_bank_save(tamis_bank* bank, const char* path,
                                         const tamis_save_options* options);
TAMIS_C_API void tamis_bank_free(tamis_bank* bank);

typedef struct tamis_bank_info {
  size_t struct_bytes;
  uint64_t members;
  uint64_t indexes;   /* a multiple of 64; those of all members are below it */
  uint64_t row_words; /* indexes / 64: of a row of answers */
  uint64_t bytes;     /* of all filters, with the room for others of their size */
  double fpr;         /* of filters that are made of keys */
  uint32_t hash_kind; /* TAMIS_HASH_... */
  uint32_t read_only; /* 1: it is mapped */
  uint64_t seed;      /* of the hash; its secret is told nobody */
} tamis_bank_info;
/* `out` is made by TAMIS_INIT. O(members / 512). */
TAMIS_C_API tamis_status tamis_bank_get_info(const tamis_bank* bank, tamis_bank_info* out);
/* How many members are expected to have a key that is in none of them: by their contents, all of
 * which are read. */
TAMIS_C_API tamis_status tamis_bank_expected_false_members(const tamis_bank* bank, double* out);

/* ---- Members. `name` has `name_bytes` bytes. ---- */

/* Adds a copy of a split-block filter of the bank's hash (else TAMIS_INCOMPATIBLE; of another kind
 * TAMIS_UNSUPPORTED). A name that is taken is TAMIS_INVALID_ARGUMENT. A group of filters takes the
 * memory of 512 of them, however many it has: build them to few sizes. */
TAMIS_C_API tamis_status tamis_bank_add_filter(tamis_bank* bank, const char* name,
                                               size_t name_bytes, const tamis_filter* filter);
/* Adds the filter of these keys, of a size for the bank's rate, rounded up to one of few. Ready
 * hashes are made with the bank's hash. */
TAMIS_C_API tamis_status tamis_bank_add_keys(tamis_bank* bank, const tamis_engine* engine,
                                             const char* name, size_t name_bytes,
                                             const tamis_keys* keys);
/* Whether there was a member of that name, which is no answer from then on. */
TAMIS_C_API tamis_answer tamis_bank_remove(tamis_bank* bank, const char* name, size_t name_bytes);
/* The filter of a member, bit for bit. TAMIS_INVALID_ARGUMENT if there is none of that name. */
TAMIS_C_API tamis_status tamis_bank_extract(const tamis_bank* bank, const char* name,
                                            size_t name_bytes, tamis_filter** out);
/* Adds all members of another bank of the same hash, which may be mapped; TAMIS_INVALID_ARGUMENT if
 * a name is in both. If memory runs out, some are added. */
TAMIS_C_API tamis_status tamis_bank_merge(tamis_bank* bank, const tamis_bank* other);
/* Puts all members that wait into groups; the second also fills groups from others of their size,
 * and drops the bits of what was removed. */
TAMIS_C_API tamis_status tamis_bank_flush(tamis_bank* bank);
TAMIS_C_API tamis_status tamis_bank_compact(tamis_bank* bank);

/* Whether there is a member of that name; *index, which may be NULL, becomes its index. */
TAMIS_C_API tamis_answer tamis_bank_find(const tamis_bank* bank, const char* name,
                                         size_t name_bytes, uint64_t* index);
/* The indexes of all members, ascending. `indexes` has room for `capacity`, which is at least
 * tamis_bank_info.members. */
TAMIS_C_API tamis_status tamis_bank_members(const tamis_bank* bank, uint64_t* indexes,
                                            uint64_t capacity);
/* The name of the member of that index: *name_bytes bytes and a 0 after them, valid until the bank
 * is changed, saved or freed. TAMIS_INVALID_ARGUMENT if there is none. */
TAMIS_C_API tamis_status tamis_bank_name(const tamis_bank* bank, uint64_t index, const char** name,
                                         size_t* name_bytes);

/* ---- Queries. `engine` may be NULL. A null key is in no member. ---- */

/* Writes a row for each key, one after the other: bit i of a row, least significant bit first, is 1
 * if the member of index i may have the key. `rows` has room for `words`, at least keys->count *
 * row_words. *hits, which may be NULL, becomes the number of bits that are 1. */
TAMIS_C_API tamis_status tamis_bank_contains_bitmap(const tamis_bank* bank,
                                                    const tamis_engine* engine,
                                                    const tamis_keys* keys, uint64_t* rows,
                                                    uint64_t words, uint64_t* hits);
/* All pairs of a key and a member that may have it, by key, then by member: the index of the one in
 * key_indices[i], that of the other in members[i]. Both have room for `capacity`. *hits becomes the
 * number of pairs, also if these are more: then that is TAMIS_INVALID_ARGUMENT, and nothing is
 * written but *hits. */
TAMIS_C_API tamis_status tamis_bank_select(const tamis_bank* bank, const tamis_engine* engine,
                                           const tamis_keys* keys, uint64_t* key_indices,
                                           uint64_t* members, uint64_t capacity, uint64_t* hits);
/* How many of the keys each member may have: counts[i] for that of index i, 0 where there is none.
 * `capacity` is at least tamis_bank_info.indexes. */
TAMIS_C_API tamis_status tamis_bank_count_per_member(const tamis_bank* bank,
                                                     const tamis_engine* engine,
                                                     const tamis_keys* keys, uint64_t* counts,
                                                     uint64_t capacity);
/* The indexes of those of `num_counts` counts that are at least `at_least`, which is not 0: the
 * largest first, of equal ones the lower index. `members` has room for `capacity`: no more are
 * written. *found becomes how many are. */
TAMIS_C_API tamis_status tamis_bank_best_members(const uint64_t* counts, uint64_t num_counts,
                                                 uint64_t at_least, uint64_t* members,
                                                 uint64_t capacity, uint64_t* found);

#ifdef __cplusplus
}
#endif

#endif /* TAMIS_C_BANK_H_ */
