// Options of callers, as the library for C++ has them.
#ifndef TAMIS_BINDINGS_C_REDIS_SRC_OPTIONS_H_
#define TAMIS_BINDINGS_C_REDIS_SRC_OPTIONS_H_

#include <chrono>
#include <cstdint>

#include "tamis/c/redis.h"
#include "tamis/filter.h"
#include "tamis/memory.h"
#include "tamis/redis/near_copy.h"
#include "tamis/redis/split_block_filter.h"

namespace tamis::c {

struct ClientOfServers {
  redis::ServerOptions servers;
  redis::ClientOptions client;
};

// Those of the library for C++ say what is out of range. NULL: the defaults.
ClientOfServers ReadClient(const tamis_redis_options* options);
redis::CreateOptions ReadCreate(const tamis_redis_create_options* options);
// Of a filter that is there already.
FilterOptions ReadExpected(const tamis_redis_create_options& options);
redis::NearCopyOptions ReadNearCopy(const tamis_redis_near_copy_options* options);

// What is out of the type's range is out of those of all options as well.
std::chrono::milliseconds Milliseconds(uint64_t ms);

}  // namespace tamis::c

#endif  // TAMIS_BINDINGS_C_REDIS_SRC_OPTIONS_H_
