// The keys of tests/golden/spark/SparkFilters.java, by number.
#ifndef TAMIS_TESTS_FORMATS_SPARK_TEST_KEYS_H_
#define TAMIS_TESTS_FORMATS_SPARK_TEST_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "tamis/formats/guava.h"
#include "tamis/formats/spark.h"
#include "tests/formats/guava_test_keys.h"

namespace tamis {

// A sort of keys in Java. The keys are the same as for Guava.
struct SparkSort {
  const char* name;
  GuavaFunnel funnel;

  GuavaTestKeys MakeKeys(size_t n) const { return {funnel, n}; }
};
inline constexpr SparkSort kSparkSorts[] = {{"long", GuavaFunnel::kLong},
                                            {"int", GuavaFunnel::kInt},
                                            {"string", GuavaFunnel::kUtf8},
                                            {"binary", GuavaFunnel::kBytes}};

// A version and its seed, as in the names of files.
struct SparkVariant {
  const char* name;
  SparkVersion version;
  int32_t seed;
};
inline constexpr SparkVariant kSparkVariants[] = {{"v1", SparkVersion::kV1, 0},
                                                  {"v2", SparkVersion::kV2, 0},
                                                  {"v2_seed", SparkVersion::kV2, -559038737}};

inline std::string SparkTestName(const char* keys, const SparkVariant& variant) {
  return std::string(keys) + "_" + variant.name;
}

}  // namespace tamis

#endif  // TAMIS_TESTS_FORMATS_SPARK_TEST_KEYS_H_
