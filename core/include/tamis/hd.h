// Moved to tamis/detail/hd.h. This path stays for programs that include it.
#ifndef TAMIS_HD_H_
#define TAMIS_HD_H_

#include "tamis/detail/hd.h"  // IWYU pragma: export

#endif  // TAMIS_HD_H_
