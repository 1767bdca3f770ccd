// Moved to tamis/layout/cuckoo.h. This path stays for programs that include it.
#ifndef TAMIS_CUCKOO_H_
#define TAMIS_CUCKOO_H_

#include "tamis/layout/cuckoo.h"  // IWYU pragma: export

#endif  // TAMIS_CUCKOO_H_
