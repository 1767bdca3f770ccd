/* A C99 program that uses the header from beginning to end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/c.h>

/* Ends the program at the first failure. */
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

static void check_filter(const tamis_filter* filter) {
  const tamis_keys keys = tamis_keys_u64(numbers, KEYS);
  uint64_t hits = 0;
  uint64_t i;
  CHECK(tamis_filter_contains_bitmap(filter, NULL, &keys, bits, sizeof bits / 8, &hits) ==
        TAMIS_OK);
  CHECK(hits == KEYS);
  CHECK(bits[0] == UINT64_MAX);
  CHECK(tamis_filter_select32(filter, NULL, &keys, rows, KEYS, &hits) == TAMIS_OK);
  CHECK(hits == KEYS);
  for (i = 0; i < KEYS; ++i) CHECK(rows[i] == i);
  CHECK(tamis_filter_contains_string(filter, "apple", 5) == 1);
}

static const char* const strings[] = {"apple", "pear"};
static const uint64_t lengths[] = {5, 4};

static tamis_filter* build_filter(uint32_t kind) {
  tamis_filter* filter = NULL;
  tamis_keys chunks[2];
  chunks[0] = tamis_keys_u64(numbers, KEYS);
  chunks[1] = tamis_keys_strings(strings, lengths, 2);
  CHECK(tamis_filter_build(kind, NULL, NULL, chunks, 2, &filter) == TAMIS_OK);
  return filter;
}

static tamis_filter* make_filter(uint32_t kind) {
  const tamis_keys keys = tamis_keys_u64(numbers, KEYS);
  const tamis_keys fruits = tamis_keys_strings(strings, lengths, 2);
  tamis_filter_options options = TAMIS_INIT(tamis_filter_options);
  tamis_filter* filter = NULL;
  uint64_t inserted = 0;
  options.capacity = KEYS + 2;
  CHECK(tamis_filter_create(kind, &options, &filter) == TAMIS_OK);
  CHECK(tamis_filter_insert(filter, NULL, &keys, &inserted, NULL, 0) == TAMIS_OK);
  CHECK(inserted == KEYS);
  CHECK(tamis_filter_insert(filter, NULL, &fruits, NULL, NULL, 0) == TAMIS_OK);
  return filter;
}

static void check_files(const tamis_filter* filter) {
  static const char path[] = "c99.tamis";
  tamis_open_options map = TAMIS_INIT(tamis_open_options);
  tamis_filter* other = NULL;
  uint64_t bytes = 0;
  void* memory;
  CHECK(tamis_filter_save(filter, path, NULL) == TAMIS_OK);
  CHECK(tamis_filter_open(path, NULL, &other) == TAMIS_OK);
  check_filter(other);
  tamis_filter_free(other);
  map.map = 1;
  CHECK(tamis_filter_open(path, &map, &other) == TAMIS_OK);
  check_filter(other);
  CHECK(tamis_filter_insert_u64(other, 1) == -TAMIS_READ_ONLY);
  tamis_filter_free(other);
  CHECK(remove(path) == 0);
  CHECK(tamis_filter_serialize(filter, NULL, NULL, 0, &bytes) == TAMIS_OK);
  memory = malloc(bytes);
  CHECK(memory != NULL);
  CHECK(tamis_filter_serialize(filter, NULL, memory, bytes, NULL) == TAMIS_OK);
  CHECK(tamis_filter_open_memory(memory, bytes, NULL, &other) == TAMIS_OK);
  check_filter(other);
  tamis_filter_free(other);
  free(memory);
}

static void check_plan(void) {
  tamis_plan_options options = TAMIS_INIT(tamis_plan_options);
  char* json = NULL;
  options.keys = 1000000;
  CHECK(tamis_plan_json(&options, NULL, &json) == TAMIS_OK);
  CHECK(strstr(json, "\"choice\": \"split-block\"") != NULL);
  tamis_text_free(json);
  options.is_static = 1;
  CHECK(tamis_plan_json(&options, NULL, &json) == TAMIS_OK);
  CHECK(strstr(json, "\"choice\": \"fuse8\"") != NULL);
  tamis_text_free(json);
}

static void check_kind(tamis_filter* filter) {
  check_filter(filter);
  check_files(filter);
  tamis_filter_free(filter);
}

int main(void) {
  uint32_t kind;
  uint64_t i;
  for (i = 0; i < KEYS; ++i) numbers[i] = i * i;
  for (kind = 0; kind < 16; ++kind) {
    if (tamis_kind_name(kind) == NULL || kind == TAMIS_SCALABLE) continue;
    check_kind(build_filter(kind));
    if (kind < TAMIS_FUSE8 || kind > TAMIS_FUSE32) check_kind(make_filter(kind));
  }
  check_plan();
  CHECK(strcmp(tamis_status_name(TAMIS_NOT_DURABLE), "NotDurable") == 0);
  CHECK(tamis_filter_contains_u64(NULL, 1) == -TAMIS_INVALID_ARGUMENT);
  CHECK(strcmp(tamis_last_error(), "filter is NULL") == 0);
  printf("tamis %s, backend %s\n", tamis_version(), tamis_backend_name(0));
  return 0;
}
