/* Inserts a million keys into a filter, and queries a thousand others, in C. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <tamis/c.h>

enum { KNOWN = 1000000, QUERIES = 1000 };

/* Prints the error of a failed call. */
static int fail(void) {
  fprintf(stderr, "%s\n", tamis_last_error());
  return 1;
}

int main(void) {
  static uint64_t known[KNOWN], queries[QUERIES];
  for (uint64_t i = 0; i < KNOWN; ++i) known[i] = i * i;
  for (uint64_t i = 0; i < QUERIES; ++i) queries[i] = i * 1000;

  tamis_filter_options options = TAMIS_INIT(tamis_filter_options);
  options.capacity = KNOWN;
  options.fpr = 0.01;
  tamis_filter* filter = NULL;
  if (tamis_filter_create(TAMIS_SPLIT_BLOCK, &options, &filter) != TAMIS_OK) return fail();

  /* With an engine instead of NULL, several threads insert. */
  tamis_keys keys = tamis_keys_u64(known, KNOWN);
  if (tamis_filter_insert(filter, NULL, &keys, NULL, NULL, 0) != TAMIS_OK) return fail();

  /* One bit for each query: 1 is "maybe in the set", 0 is "certainly not". */
  uint64_t words[(QUERIES + 63) / 64], hits = 0;
  keys = tamis_keys_u64(queries, QUERIES);
  if (tamis_filter_contains_bitmap(filter, NULL, &keys, words, (QUERIES + 63) / 64, &hits) !=
      TAMIS_OK) {
    return fail();
  }
  printf("%u of %d may be in the set\n", (unsigned)hits, QUERIES);

  /* One key: returns 1, 0, or the negative number of an error. */
  if (tamis_filter_contains_u64(filter, 1000000) != 1) return 1;

  /* A copy in memory of your own, such as a message or shared memory. */
  uint64_t bytes = 0;
  if (tamis_filter_serialize(filter, NULL, NULL, 0, &bytes) != TAMIS_OK) return fail();
  void* const memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (memory == NULL) return 1;
  if (tamis_filter_serialize(filter, NULL, memory, bytes, NULL) != TAMIS_OK) return fail();
  tamis_filter_free(filter);

  /* Other programs query it in place. */
  tamis_open_options in_place = TAMIS_INIT(tamis_open_options);
  in_place.map = 1;
  tamis_filter* shared = NULL;
  if (tamis_filter_open_memory(memory, bytes, &in_place, &shared) != TAMIS_OK) return fail();
  uint64_t again = 0;
  if (tamis_filter_count(shared, NULL, &keys, &again) != TAMIS_OK) return fail();
  tamis_filter_free(shared);
  free(memory);

  /* The smallest filter for keys that never change is built from all of them at once. */
  keys = tamis_keys_u64(known, KNOWN);
  tamis_filter* built = NULL;
  if (tamis_filter_build(TAMIS_FUSE8, NULL, NULL, &keys, 1, &built) != TAMIS_OK) return fail();
  if (tamis_filter_contains_u64(built, 1000000) != 1) return 1;
  tamis_filter_free(built);
  return again == hits ? 0 : 1;
}
