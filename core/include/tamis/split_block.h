// Moved to tamis/layout/split_block.h. This path stays for programs that include it.
#ifndef TAMIS_SPLIT_BLOCK_H_
#define TAMIS_SPLIT_BLOCK_H_

#include "tamis/layout/split_block.h"  // IWYU pragma: export

#endif  // TAMIS_SPLIT_BLOCK_H_
