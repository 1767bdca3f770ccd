// The recipes of the golden files of RedisBloom, and the keys in them, by number.
#ifndef TAMIS_TESTS_FORMATS_REDIS_TEST_RECIPES_H_
#define TAMIS_TESTS_FORMATS_REDIS_TEST_RECIPES_H_

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace tamis {

// A decimal number, or up to 40 bytes with any values.
inline std::string RedisTestKey(uint64_t i) {
  if (i % 3 == 0) return std::to_string(i * 7919);
  std::string bytes;
  for (uint64_t j = 0; j < i % 37; ++j) bytes.push_back(static_cast<char>(31 * i + 7 * j));
  for (int j = 0; j < 4; ++j) bytes.push_back(static_cast<char>(i >> (8 * j)));
  return bytes;
}

inline std::vector<std::string> RedisTestKeys(uint64_t begin, uint64_t end) {
  std::vector<std::string> keys;
  for (uint64_t i = begin; i < end; ++i) keys.push_back(RedisTestKey(i));
  return keys;
}

// Keys [0, inserted) in a filter with these flags of RedisBloom: 1 NOROUND, 2 ENTS_IS_BITS, 4
// FORCE64, 8 NO_SCALING.
struct RedisBloomRecipe {
  const char* name;
  uint64_t capacity;
  double error_rate;
  uint32_t flags;
  uint32_t growth;
  uint64_t inserted;
};

inline constexpr RedisBloomRecipe kRedisBloomRecipes[] = {
    {"bf_default", 100, 0.01, 5, 2, 60},
    {"bf_empty", 1, 0.01, 5, 2, 0},
    {"bf_growing", 10, 0.1, 5, 2, 100},
    {"bf_same_size", 8, 0.25, 5, 1, 50},
    {"bf_non_scaling", 40, 0.01, 13, 2, 40},
    {"bf_many_hashes", 10, 1e-30, 5, 2, 12},
    {"bf_power_of_two", 20, 0.01, 4, 2, 90},
    {"bf_hash32", 20, 0.01, 0, 2, 90},
    {"bf_hash32_exact", 20, 0.01, 1, 2, 60},
    {"bf_log2_bits", 9, 0.01, 6, 2, 40},  // no current command makes such filters
};

// Keys [0, inserted). Keys [0, erased) are then erased. Rejected keys are left out.
struct RedisCuckooRecipe {
  const char* name;
  uint64_t capacity;
  uint16_t bucket_size;
  uint16_t max_iterations;
  uint16_t expansion;
  uint64_t inserted;
  uint64_t erased;
};

inline constexpr RedisCuckooRecipe kRedisCuckooRecipes[] = {
    {"cf_default", 64, 2, 20, 1, 40, 0},      {"cf_empty", 4, 2, 20, 1, 0, 0},
    {"cf_growing", 16, 2, 20, 1, 100, 0},     {"cf_expansion_4", 8, 2, 20, 3, 100, 0},
    {"cf_bucket_1", 16, 1, 20, 2, 60, 0},     {"cf_bucket_9", 36, 9, 50, 1, 60, 0},
    {"cf_erased", 16, 2, 20, 1, 100, 50},     {"cf_all_erased", 16, 2, 20, 2, 60, 60},
    {"cf_no_expansion", 32, 2, 20, 0, 64, 0},
};

inline void PrintTo(const RedisBloomRecipe& recipe, std::ostream* out) { *out << recipe.name; }
inline void PrintTo(const RedisCuckooRecipe& recipe, std::ostream* out) { *out << recipe.name; }

}  // namespace tamis

#endif  // TAMIS_TESTS_FORMATS_REDIS_TEST_RECIPES_H_
