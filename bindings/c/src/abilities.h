// Abilities as bits: TAMIS_CAN_...
#ifndef TAMIS_BINDINGS_C_SRC_ABILITIES_H_
#define TAMIS_BINDINGS_C_SRC_ABILITIES_H_

#include <cstdint>

#include "tamis/filters/filter_kinds.h"

namespace tamis::c {

uint32_t AbilityBits(const Abilities& abilities) noexcept;

// Throws Error(kInvalidArgument) for an unknown bit.
Abilities ReadAbilities(uint32_t bits);

}  // namespace tamis::c

#endif  // TAMIS_BINDINGS_C_SRC_ABILITIES_H_
