/* A filter on a Redis server or cluster, in C. TAMIS_REDIS_URL says where:
 * `redis/local_cluster.sh cluster -- example_redis_c` starts one for it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <tamis/c/redis.h>

enum { NUMBERS = 100000 };

/* What a failed call has to say. */
static int fail(void) {
  fprintf(stderr, "%s\n", tamis_last_error());
  return 1;
}

int main(void) {
  static uint64_t numbers[NUMBERS];
  for (uint64_t i = 0; i < NUMBERS; ++i) numbers[i] = 4930000000000 + 7 * i;
  const tamis_keys keys = tamis_keys_u64(numbers, NUMBERS);

  tamis_redis_options client = TAMIS_INIT(tamis_redis_options);
  client.url = getenv("TAMIS_REDIS_URL");
  tamis_redis_create_options options = TAMIS_INIT(tamis_redis_create_options);
  options.capacity = 1000000;
  options.fpr = 0.01;
  tamis_redis_filter* phones = NULL;
  if (tamis_redis_filter_create("phones", &options, &client, &phones) != TAMIS_OK) return fail();

  /* If servers do not have some of the keys, these can be inserted again. */
  uint64_t inserted = 0;
  if (tamis_redis_filter_insert(phones, &keys, &inserted) != TAMIS_OK) {
    const uint64_t* rows = NULL;
    uint64_t count = 0;
    tamis_redis_filter_unanswered(phones, &rows, &count);
    fprintf(stderr, "%llu of the keys may not be in: %s\n", (unsigned long long)count,
            tamis_last_error());
    return 1;
  }

  /* -1 to -100 is an error, and not "no". */
  if (tamis_redis_filter_contains_u64(phones, numbers[5]) != 1) return fail();

  /* A copy in memory, whose "no" may be a second old. */
  tamis_redis_near_copy_options near_options = TAMIS_INIT(tamis_redis_near_copy_options);
  near_options.staleness_ms = 1000;
  tamis_redis_near_copy* near_copy = NULL;
  if (tamis_redis_near_copy_open("phones", &near_options, &client, &near_copy) != TAMIS_OK)
    return fail();
  if (tamis_redis_near_copy_contains_u64(near_copy, numbers[5]) != 1) return fail();
  tamis_redis_near_copy_free(near_copy);

  /* All of it as a filter of libtamis_c. */
  tamis_filter* local = NULL;
  uint64_t hits = 0;
  if (tamis_redis_filter_pull(phones, &local) != TAMIS_OK) return fail();
  if (tamis_filter_count(local, NULL, &keys, &hits) != TAMIS_OK) return fail();
  tamis_filter_free(local);

  printf("%llu inserted, %llu found\n", (unsigned long long)inserted, (unsigned long long)hits);
  if (tamis_redis_filter_drop(phones) != TAMIS_OK) return fail();
  tamis_redis_filter_free(phones);
  return inserted == NUMBERS && hits == NUMBERS ? 0 : 1;
}
