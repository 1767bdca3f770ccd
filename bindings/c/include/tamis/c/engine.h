/* Engines: threads, and backends selected by measured costs. */
#ifndef TAMIS_C_ENGINE_H_
#define TAMIS_C_ENGINE_H_

#include "tamis/c/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs calls with many keys on several threads, which sleep between calls. The results do not
 * depend on the number of threads. One engine is enough for a process, because any number of
 * threads may use it at the same time. Functions accept NULL instead of an engine, and then run on
 * the calling thread only.
 *
 * After fork, the child may use an engine of its parent, create other engines, and exit, even if a
 * call was running at the time of the fork. In the child, an engine starts new threads and uses no
 * GPU. It recognizes the child by the process ID. A child in its own PID namespace may have the
 * same process ID as its parent, so such a child must not use the engines of its parent. */
typedef struct tamis_engine tamis_engine;

/* Options of an engine. */
typedef struct tamis_engine_options {
  size_t struct_bytes; /* set by TAMIS_INIT */
  /* Number of threads, including the calling thread, at most 1024. 0: the environment variable
   * TAMIS_THREADS, or one thread per processor that this process may use. */
  uint32_t threads;
  uint32_t reserved; /* 0 */
  /* The backend of every call. NULL: the environment variable TAMIS_BACKEND. If the variable is not
   * set, the calibration selects the cheapest backend for each call. */
  const char* backend;
  /* A file written by `tamis backends --calibrate`; docs/engine.md describes its location. NULL:
   * the costs of a typical machine. */
  const char* calibration_path;
} tamis_engine_options;

/* Creates an engine. `options` may be NULL. The first call with several threads starts them. */
TAMIS_C_API tamis_status tamis_engine_create(const tamis_engine_options* options,
                                             tamis_engine** out);
/* Frees an engine. No call may be running. */
TAMIS_C_API void tamis_engine_free(tamis_engine* engine);

/* Returns the largest number of threads that a call may use, including the calling thread. */
TAMIS_C_API tamis_status tamis_engine_threads(const tamis_engine* engine, uint32_t* out);

#ifdef __cplusplus
}
#endif

#endif /* TAMIS_C_ENGINE_H_ */
