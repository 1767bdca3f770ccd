// Moved to tamis/layout/counting.h. This path stays for programs that include it.
#ifndef TAMIS_COUNTING_H_
#define TAMIS_COUNTING_H_

#include "tamis/layout/counting.h"  // IWYU pragma: export

#endif  // TAMIS_COUNTING_H_
