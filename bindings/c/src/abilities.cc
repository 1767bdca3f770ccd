#include "bindings/c/src/abilities.h"

#include "bindings/c/src/guard.h"
#include "tamis/detail/str_cat.h"
#include "tamis/plan/plan.h"

namespace tamis::c {

uint32_t AbilityBits(const Abilities& abilities) noexcept {
  uint32_t bits = 0, bit = 1;
  for (const AbilityInfo& info : kAbilities) {
    if (abilities.*info.ability) bits |= bit;
    bit <<= 1;
  }
  return bits;
}

Abilities ReadAbilities(uint32_t bits) {
  Abilities abilities;
  uint32_t bit = 1;
  for (const AbilityInfo& info : kAbilities) {
    abilities.*info.ability = (bits & bit) != 0;
    bits &= ~bit;
    bit <<= 1;
  }
  if (bits != 0)
    Refuse(detail::StrCat("must has unknown bits: ", bits, "; allowed: the bits TAMIS_CAN_..."));
  return abilities;
}

}  // namespace tamis::c
