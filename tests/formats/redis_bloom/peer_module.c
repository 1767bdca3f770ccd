// Replaces the parts of the module that RedisBloom's filters use: memory and settings.
#include <stdlib.h>

#include "config.h"

void* (*RedisModule_Alloc)(size_t bytes) = malloc;
void* (*RedisModule_Calloc)(size_t count, size_t bytes) = calloc;
void* (*RedisModule_TryCalloc)(size_t count, size_t bytes) = calloc;
void* (*RedisModule_Realloc)(void* memory, size_t bytes) = realloc;
void (*RedisModule_Free)(void* memory) = free;
const char* (*RedisModule_StringPtrLen)(const RedisModuleString* string, size_t* length) = 0;

// The ranges that are checked when a header is loaded, and their lower bounds.
RM_Config rm_config = {
    .cf_bucket_size = {.value = 2, .min = 1, .max = 255},
    .cf_max_iterations = {.value = 20, .min = 1, .max = 65535},
    .cf_expansion_factor = {.value = 1, .min = 0, .max = 32768},
    .cf_max_expansions = {.value = 32, .min = 1, .max = 65536},
};
