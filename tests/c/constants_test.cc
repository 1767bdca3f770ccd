// Numbers in the header equal those of the C++ library.
#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <string>

#include "tamis/filters/filter_kinds.h"
#include "tamis/plan/plan.h"
#include "tests/c/c_test_util.h"

namespace tamis::constants_test {

static_assert(TAMIS_SPLIT_BLOCK == static_cast<uint32_t>(FilterKind::kSplitBlock));
static_assert(TAMIS_CUCKOO8 == static_cast<uint32_t>(FilterKind::kCuckoo8));
static_assert(TAMIS_CUCKOO12 == static_cast<uint32_t>(FilterKind::kCuckoo12));
static_assert(TAMIS_CUCKOO16 == static_cast<uint32_t>(FilterKind::kCuckoo16));
static_assert(TAMIS_BLOOM == static_cast<uint32_t>(FilterKind::kBloom));
static_assert(TAMIS_COUNTING == static_cast<uint32_t>(FilterKind::kCounting));
static_assert(TAMIS_SCALABLE == static_cast<uint32_t>(FilterKind::kScalable));
static_assert(TAMIS_FUSE8 == static_cast<uint32_t>(FilterKind::kFuse8));
static_assert(TAMIS_FUSE12 == static_cast<uint32_t>(FilterKind::kFuse12));
static_assert(TAMIS_FUSE16 == static_cast<uint32_t>(FilterKind::kFuse16));
static_assert(TAMIS_FUSE32 == static_cast<uint32_t>(FilterKind::kFuse32));
static_assert(TAMIS_HASH_XXH3 == static_cast<uint32_t>(HashKind::kXxh3));
static_assert(TAMIS_HASH_XXH64 == static_cast<uint32_t>(HashKind::kXxh64));
static_assert(TAMIS_HASH_SIPHASH13 == static_cast<uint32_t>(HashKind::kSipHash13));
static_assert(TAMIS_HASH_SIPHASH24 == static_cast<uint32_t>(HashKind::kSipHash24));

TEST(CConstantsTest, EveryKindHasItsNumber) {
  constexpr uint32_t kKinds[] = {TAMIS_SPLIT_BLOCK, TAMIS_CUCKOO8,  TAMIS_CUCKOO12, TAMIS_CUCKOO16,
                                 TAMIS_BLOOM,       TAMIS_COUNTING, TAMIS_SCALABLE, TAMIS_FUSE8,
                                 TAMIS_FUSE12,      TAMIS_FUSE16,   TAMIS_FUSE32};
  EXPECT_EQ(std::size(kKinds), FilterKinds().size()) << "a kind is missing in tamis/c/base.h";
  for (const FilterKindInfo& info : FilterKinds()) {
    const auto kind = static_cast<uint32_t>(info.kind);
    EXPECT_STREQ(tamis_kind_name(kind), info.name);
    uint32_t number = 0;
    ASSERT_EQ(tamis_kind_by_name(info.name, &number), TAMIS_OK);
    EXPECT_EQ(number, kind);
  }
}

TEST(CConstantsTest, EveryAbilityHasItsBit) {
  struct {
    const char* name;
    uint32_t bit;
  } constexpr kBits[] = {{"erase", TAMIS_CAN_ERASE},
                         {"grow", TAMIS_CAN_GROW},
                         {"merge", TAMIS_CAN_MERGE},
                         {"intersect", TAMIS_CAN_INTERSECT},
                         {"parallel-build", TAMIS_CAN_PARALLEL_BUILD},
                         {"parquet", TAMIS_CAN_PARQUET},
                         {"exact", TAMIS_CAN_EXACT}};
  ASSERT_EQ(std::size(kBits), std::size(kAbilities));
  for (size_t i = 0; i < std::size(kBits); ++i) {
    EXPECT_STREQ(kBits[i].name, kAbilities[i].name);
    EXPECT_EQ(kBits[i].bit, 1u << i);
  }
}

TEST(CConstantsTest, EveryErrorHasAStatus) {
  // Names come from the codes, so every status must have one.
  int known = 0;
  for (tamis_status status = 1; status < 100; ++status) {
    known += std::string(tamis_status_name(status)) != "unknown";
  }
  int codes = 0;
  while (std::string(ErrorCodeName(static_cast<ErrorCode>(codes))) != "Unknown") ++codes;
  EXPECT_EQ(known, codes);
}

}  // namespace tamis::constants_test
