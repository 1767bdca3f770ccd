/* A user's program in C: includes installed headers, and links one library. */
#include <stdio.h>
#include <tamis/c.h>

int main(void) {
  tamis_filter_options options = TAMIS_INIT(tamis_filter_options);
  tamis_filter* filter = NULL;
  options.capacity = 1000;
  if (tamis_filter_create(TAMIS_CUCKOO16, &options, &filter) != TAMIS_OK) return 1;
  if (tamis_filter_insert_u64(filter, 42) != 1) return 1;
  printf("tamis %s for C, backend %s\n", tamis_version(), tamis_backend_name(0));
  const int found = tamis_filter_contains_u64(filter, 42) == 1;
  tamis_filter_free(filter);
  return found ? 0 : 1;
}
