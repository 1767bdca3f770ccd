// The parts of the module API that the sources of RedisBloom's filters need, without a server.
// redis_bloom_peer compiles them with this header instead of Redis' own.
#ifndef TAMIS_TESTS_FORMATS_REDIS_BLOOM_REDISMODULE_H_
#define TAMIS_TESTS_FORMATS_REDIS_BLOOM_REDISMODULE_H_

#include <stddef.h>
#include <stdint.h>

#define REDISMODULE_OK 0
#define REDISMODULE_ERR 1

typedef struct RedisModuleString RedisModuleString;
typedef struct RedisModuleCtx RedisModuleCtx;

#ifdef __cplusplus
extern "C" {
#endif

extern void* (*RedisModule_Alloc)(size_t bytes);
extern void* (*RedisModule_Calloc)(size_t count, size_t bytes);
extern void* (*RedisModule_TryCalloc)(size_t count, size_t bytes);
extern void* (*RedisModule_Realloc)(void* memory, size_t bytes);
extern void (*RedisModule_Free)(void* memory);
extern const char* (*RedisModule_StringPtrLen)(const RedisModuleString* string, size_t* length);

#ifdef __cplusplus
}
#endif

#endif  // TAMIS_TESTS_FORMATS_REDIS_BLOOM_REDISMODULE_H_
