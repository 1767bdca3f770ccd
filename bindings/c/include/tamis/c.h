/* The C interface of tamis, also for other languages that can call C. Library: libtamis_c.
 *
 * tamis/tamis.h is the interface for C++. One program may use both interfaces, because libtamis_c
 * does not export the C++ library that it contains.
 *
 * Errors: functions return a tamis_status, which is TAMIS_OK or an error. After an error,
 * tamis_last_error() returns the message. Functions that query or change ONE key return a
 * tamis_answer. A call returns TAMIS_INVALID_ARGUMENT if a pointer is NULL where that is not
 * allowed, if it is misaligned for its elements, or if it would point to more bytes than any memory
 * has. A failed call changes nothing and writes no output unless its description says otherwise. If
 * memory runs out during the call, part of the output may be written. The library lets no exception
 * escape, prints nothing, and never ends the process.
 *
 * Pointers and handles: a pointer must not be NULL unless its description says that it may be.
 * Functions whose last argument is `out` create handles. Free each handle once, with the function
 * named ..._free, which ignores NULL. Using or freeing a freed handle is undefined behavior.
 *
 * Threads: functions that take a handle as const may run at the same time on any number of threads.
 * A function that takes a handle as non-const requires exclusive access to it. After fork, the
 * child may use a filter or view of its parent if no call was changing it at the time of the fork.
 * For engines see tamis/c/engine.h.
 *
 * Options: structures named ..._options begin with struct_bytes, the size of the structure in the
 * version that the program was compiled with. So later versions can add members. Initialize them
 * with TAMIS_INIT, which sets all other members to 0, the default:
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
#include "tamis/c/join.h"
#include "tamis/c/keys.h"
#include "tamis/c/parquet.h"
#include "tamis/c/plan.h"

#endif /* TAMIS_C_H_ */
