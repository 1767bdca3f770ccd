/* A user's program in C: sees what is installed, and links one library beside libtamis_c. No server
 * is asked. */
#include <stdio.h>
#include <string.h>
#include <tamis/c/redis.h>

int main(void) {
  tamis_redis_options client = TAMIS_INIT(tamis_redis_options);
  tamis_redis_filter* filter = NULL;
  client.url = "http://127.0.0.1";
  if (tamis_redis_filter_open("phones", NULL, &client, &filter) != TAMIS_INVALID_ARGUMENT) return 1;
  printf("tamis %s for C: %s\n", tamis_version(), tamis_last_error());
  return strstr(tamis_last_error(), "redis://") != NULL ? 0 : 1;
}
