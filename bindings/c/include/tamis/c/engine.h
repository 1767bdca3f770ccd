/* Threads, and the choice of instructions by what they cost on a machine. */
#ifndef TAMIS_C_ENGINE_H_
#define TAMIS_C_ENGINE_H_

#include "tamis/c/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs calls with many keys on several threads, which sleep between calls. The results are those of
 * one thread. One engine is enough for a process: any number of threads may use it at the same
 * time. Functions take NULL in place of one, and then run on the calling thread alone.
 *
 * A child of fork may use an engine of its parent, make others, and exit, even if a call was under
 * way at the fork: engines start new threads in the child, and use no GPU there. They tell parent
 * and child apart by process IDs, so a child in a PID namespace of its own, where it may have the
 * ID of its parent, must leave its parent's engines alone. */
typedef struct tamis_engine tamis_engine;

typedef struct tamis_engine_options {
  size_t struct_bytes;
  /* The calling one included, at most 1024. 0: the environment variable TAMIS_THREADS, or one for
   * each processor that this process may run on. */
  uint32_t threads;
  uint32_t reserved; /* 0 */
  /* For every call. NULL: TAMIS_BACKEND, or what costs least by the calibration. */
  const char* backend;
  /* A file of `tamis backends --calibrate`; docs/engine.md says where that is. NULL: the figures of
   * a typical machine. */
  const char* calibration_path;
} tamis_engine_options;

/* `options` may be NULL, for the defaults. Starts no thread: the first call that needs them does.
 */
TAMIS_C_API tamis_status tamis_engine_create(const tamis_engine_options* options,
                                             tamis_engine** out);
/* No call may be under way. */
TAMIS_C_API void tamis_engine_free(tamis_engine* engine);

/* The most threads that a call may use, the calling one included. */
TAMIS_C_API tamis_status tamis_engine_threads(const tamis_engine* engine, uint32_t* out);

#ifdef __cplusplus
}
#endif

#endif /* TAMIS_C_ENGINE_H_ */
