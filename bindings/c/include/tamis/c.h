/* The C interface of tamis, also for other languages that can call C. Library: libtamis_c.
 *
 * tamis/tamis.h is the interface for C++. One program may use both, because libtamis_c exports
 * nothing of the C++ library inside it.
 *
 * Errors: functions return a tamis_status: TAMIS_OK or an error, and then tamis_last_error()
 * returns the message. Functions that query or change ONE key return a tamis_answer. A pointer is
 * TAMIS_INVALID_ARGUMENT if it is NULL where that is not allowed, if it is misaligned for its
 * elements, or if its size exceeds any memory. A failed call changes nothing and writes no output
 * unless its description says otherwise. If memory runs out during the call, part of the output may
 * be written. No exception leaves the library. The library prints nothing and ends no process.
 *
 * Pointers and handles: "may be NULL" is stated for every pointer that may. Functions whose last
 * argument is `out` create handles. The function named ..._free frees a handle, once; NULL is
 * allowed. Using or freeing a freed handle is undefined behavior.
 *
 * Threads: any number of threads may call functions that take a handle as const at a time.
 * Functions that take a handle as non-const need exclusive access to it. After fork, the child may
 * use the filters and views of its parent, unless a call was changing them at the time of the fork.
 * For its engines see tamis/c/engine.h.
 *
 * Options: structures named ..._options begin with struct_bytes, the size of the structure that the
 * program was compiled with. This allows later versions to add members. Initialize them with
 * TAMIS_INIT, which sets all other members to 0, the default:
 *
 *   tamis_filter_options options = TAMIS_INIT(tamis_filter_options);
 */
#ifndef TAMIS_C_H_
#define TAMIS_C_H_

#include "tamis/c/bank.h"
#include "tamis/c/base.h"
#include "tamis/c/engine.h"
#include "tamis/c/file.h"
#include "tamis/c/filter.h"
#include "tamis/c/keys.h"
#include "tamis/c/parquet.h"
#include "tamis/c/plan.h"

#endif /* TAMIS_C_H_ */
