/* tamis for C and for every language that can call C: all of libtamis_c.
 *
 * tamis/tamis.h is the interface for C++. Both may be used in one program, as libtamis_c shows
 * nothing of the C++ library that is in it.
 *
 * Functions return a tamis_status, TAMIS_OK or what went wrong, of which tamis_last_error() then
 * has the text. Those that ask or change ONE key return a tamis_answer. A pointer that is NULL
 * where it may not be, at a place that its elements cannot be at, or with a size that no memory has
 * is TAMIS_INVALID_ARGUMENT. A failed call has changed nothing and written no output, unless its
 * description says so, or memory ran out under way: then there may be a part of the output. No
 * exception leaves the library, and it prints nothing and ends no process.
 *
 * "May be NULL" stands beside every pointer that may. Handles are made by functions whose last
 * argument is `out`, and given back once, by the function named ..._free, which takes NULL, too. To
 * use one after that, or to free it twice, is undefined.
 *
 * Threads: any number may call functions that take a handle as const, and one-key questions, while
 * nobody calls one that takes it otherwise; those need exclusive access to the handle. A child of
 * fork may use the filters and views of its parent, unless a call was changing them at the fork,
 * and its engines, as tamis/c/engine.h says.
 *
 * Structures named ..._options begin with struct_bytes, which is the size of the structure that the
 * program was compiled with: so later versions can have more members. Set it with TAMIS_INIT, which
 * sets all else to 0, the default:
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
