/* Compares the structures for a set of keys. */
#ifndef TAMIS_C_PLAN_H_
#define TAMIS_C_PLAN_H_

#include "tamis/c/base.h"
#include "tamis/c/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Requirements for a structure. */
typedef struct tamis_plan_options {
  size_t struct_bytes; /* set by TAMIS_INIT */
  uint64_t keys;       /* number of distinct keys, at least 1 */
  double fpr;          /* false-positive rate, in [1e-12, 0.5]; 0: 0.01 */
  uint32_t must;       /* TAMIS_CAN_...: required abilities */
  uint32_t has_range;  /* 1: the keys are integers from range_low to range_high, inclusive */
  uint64_t range_low;  /* smallest key */
  uint64_t range_high; /* largest key */
  uint64_t max_bytes;  /* largest size allowed; 0: the memory of this machine */
  uint64_t batch_keys; /* keys per lookup, to predict its time; 0: 1,000,000 */
  uint64_t key_bytes;  /* mean size of a key, for exact structures without a range; 0: 8 */
  /* 1: the set never changes. Fuse filters are then candidates, and filters are ordered by size. */
  uint32_t is_static;
  uint32_t reserved; /* 0 */
} tamis_plan_options;

/* Compares the filters and exact structures for a job: sizes, true error rates, costs, abilities,
 * and advice. *out becomes the JSON object that `tamis plan --json` prints; free it with
 * tamis_text_free. If `engine` is not NULL, the plan also contains the times of lookups, predicted
 * by the engine's calibration. */
TAMIS_C_API tamis_status tamis_plan_json(const tamis_plan_options* options,
                                         const tamis_engine* engine, char** out);

#ifdef __cplusplus
}
#endif

#endif /* TAMIS_C_PLAN_H_ */
