// Moved to tamis/layout/bloom.h. This path stays for programs that include it.
#ifndef TAMIS_BLOOM_H_
#define TAMIS_BLOOM_H_

#include "tamis/layout/bloom.h"  // IWYU pragma: export

#endif  // TAMIS_BLOOM_H_
