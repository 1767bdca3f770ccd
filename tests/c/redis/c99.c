/* The header in C99, and what a program in C does with a server from beginning to end. Its URL is
 * in TAMIS_REDIS_URL. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/c/redis.h>

/* The first failure ends the program. */
#define CHECK(condition)                                                                      \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, tamis_last_error()); \
      exit(1);                                                                                \
    }                                                                                         \
  } while (0)

#define KEYS 5000

static uint64_t numbers[KEYS];
static uint64_t bits[(KEYS + 63) / 64];
static uint32_t rows[KEYS];
static tamis_redis_options client;

static tamis_redis_filter* make_filter(void) {
  const tamis_keys keys = tamis_keys_u64(numbers, KEYS);
  tamis_redis_create_options options = TAMIS_INIT(tamis_redis_create_options);
  tamis_redis_filter* filter = NULL;
  uint64_t inserted = 0;
  options.capacity = 2 * KEYS;
  CHECK(tamis_redis_filter_create("c99", &options, &client, &filter) == TAMIS_OK);
  CHECK(tamis_redis_filter_insert(filter, &keys, &inserted) == TAMIS_OK);
  CHECK(inserted == KEYS);
  CHECK(tamis_redis_filter_insert_string(filter, "apple", 5) == 1);
  CHECK(tamis_redis_filter_create("c99", &options, &client, &filter) == TAMIS_INVALID_ARGUMENT);
  CHECK(strstr(tamis_last_error(), "there is a filter") != NULL);
  return filter;
}

static void check_filter(tamis_redis_filter* filter) {
  const tamis_keys keys = tamis_keys_u64(numbers, KEYS);
  const uint64_t* unanswered = NULL;
  uint64_t hits = 0;
  uint64_t i;
  CHECK(tamis_redis_filter_contains_bitmap(filter, &keys, bits, sizeof bits / 8, &hits) ==
        TAMIS_OK);
  CHECK(hits == KEYS);
  CHECK(bits[0] == UINT64_MAX);
  CHECK(tamis_redis_filter_select32(filter, &keys, rows, KEYS, &hits) == TAMIS_OK);
  CHECK(hits == KEYS);
  for (i = 0; i < KEYS; ++i) CHECK(rows[i] == i);
  CHECK(tamis_redis_filter_contains_string(filter, "apple", 5) == 1);
  CHECK(tamis_redis_filter_unanswered(filter, &unanswered, &hits) == TAMIS_OK);
  CHECK(hits == 0);
}

static void check_info(tamis_redis_filter* filter) {
  tamis_redis_info info = TAMIS_INIT(tamis_redis_info);
  CHECK(tamis_redis_filter_get_info(filter, &info) == TAMIS_OK);
  CHECK(info.capacity == 2 * KEYS);
  CHECK(info.hash_kind == TAMIS_HASH_XXH3);
  CHECK(info.rebuild == TAMIS_REDIS_NOT_REBUILT);
  CHECK(info.bad_segments == 0 && strcmp(info.problem, "") == 0);
  CHECK(info.num_nodes == 1 && info.nodes[0].segments == info.segments);
  CHECK(strstr(info.nodes[0].address, "127.0.0.1") != NULL);
}

static void check_local(tamis_redis_filter* filter) {
  const tamis_keys keys = tamis_keys_u64(numbers, KEYS);
  tamis_filter* local = NULL;
  uint64_t hits = 0;
  CHECK(tamis_redis_filter_pull(filter, &local) == TAMIS_OK);
  CHECK(tamis_filter_count(local, NULL, &keys, &hits) == TAMIS_OK);
  CHECK(hits == KEYS);
  CHECK(tamis_filter_insert_string(local, "pear", 4) == 1);
  CHECK(tamis_redis_filter_push(filter, local) == TAMIS_OK);
  CHECK(tamis_redis_filter_contains_string(filter, "pear", 4) == 1);
  tamis_filter_free(local);
}

static void check_near_copy(void) {
  tamis_redis_near_copy_options options = TAMIS_INIT(tamis_redis_near_copy_options);
  tamis_redis_near_copy_stats stats = TAMIS_INIT(tamis_redis_near_copy_stats);
  tamis_redis_near_copy* copy = NULL;
  uint64_t segments = 99;
  options.staleness_ms = 60000;
  CHECK(tamis_redis_near_copy_open("c99", &options, &client, &copy) == TAMIS_OK);
  CHECK(tamis_redis_near_copy_contains_u64(copy, numbers[7]) == 1);
  CHECK(tamis_redis_near_copy_insert_u64(copy, 12345678) == 1);
  CHECK(tamis_redis_near_copy_refresh(copy, &segments) == TAMIS_OK);
  CHECK(segments == 1);
  CHECK(tamis_redis_near_copy_get_stats(copy, &stats) == TAMIS_OK);
  CHECK(stats.refreshes == 2 && stats.age_ms < 60000);
  CHECK(strcmp(stats.last_error, "") == 0);
  tamis_redis_near_copy_free(copy);
}

static tamis_status source(tamis_redis_inserter* into, void* context) {
  const tamis_keys keys = tamis_keys_u64(numbers, *(const uint64_t*)context);
  return tamis_redis_inserter_insert(into, &keys, NULL);
}

static void check_rebuild(tamis_redis_filter* filter) {
  tamis_redis_rebuild_options options = TAMIS_INIT(tamis_redis_rebuild_options);
  tamis_redis_rebuild_result result = TAMIS_INIT(tamis_redis_rebuild_result);
  uint64_t count = 1000;
  options.grace_ms = -1;
  CHECK(tamis_redis_filter_rebuild(filter, source, &count, &options, &result) == TAMIS_OK);
  CHECK(result.keys == 1000 && result.ended_abandoned == 0);
  CHECK(tamis_redis_filter_contains_u64(filter, numbers[999]) == 1);
  CHECK(tamis_redis_filter_contains_string(filter, "apple", 5) == 0);
}

int main(void) {
  tamis_redis_filter* filter;
  uint64_t i;
  const tamis_redis_options defaults = TAMIS_INIT(tamis_redis_options);
  for (i = 0; i < KEYS; ++i) numbers[i] = i * i;
  client = defaults;
  client.url = getenv("TAMIS_REDIS_URL");
  CHECK(client.url != NULL);
  filter = make_filter();
  check_filter(filter);
  check_info(filter);
  check_local(filter);
  check_near_copy();
  check_rebuild(filter);
  CHECK(tamis_redis_filter_drop(filter) == TAMIS_OK);
  CHECK(tamis_redis_filter_contains_u64(filter, 1) == -TAMIS_CORRUPT);
  tamis_redis_filter_free(filter);
  CHECK(tamis_redis_filter_open("c99", NULL, &client, &filter) == TAMIS_INVALID_ARGUMENT);
  CHECK(tamis_redis_filter_contains_u64(NULL, 1) == -TAMIS_INVALID_ARGUMENT);
  CHECK(strcmp(tamis_last_error(), "filter is NULL") == 0);
  printf("tamis %s, filters on %s\n", tamis_version(), client.url);
  return 0;
}
