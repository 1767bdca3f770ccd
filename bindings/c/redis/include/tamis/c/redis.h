/* Split-block filters on Redis servers, for C: all of libtamis_redis_c, which stands on libtamis_c.
 *
 * What tamis/c.h says of functions, handles, options, errors and keys is true of these, too;
 * tamis_last_error() has what they say. What their filters are, and promise, is in docs/redis.md.
 *
 * Threads: ONE at a time may use a handle of this library. Make one for each: any number of them,
 * here and on other machines, may insert and ask at the same time. A child of fork may go on with
 * the filters of its parent, as they connect anew.
 *
 * Functions block until they are done, or, for retry_for_ms, nothing of it succeeds. All but those
 * that free may be TAMIS_UNAVAILABLE, for servers that cannot be reached or refuse, and, if this
 * machine has no memory, TAMIS_OUT_OF_MEMORY.
 */
#ifndef TAMIS_C_REDIS_H_
#define TAMIS_C_REDIS_H_

#include "tamis/c.h"
#include "tamis/c/redis/filter.h"
#include "tamis/c/redis/near_copy.h"
#include "tamis/c/redis/rebuild.h"

#endif /* TAMIS_C_REDIS_H_ */
