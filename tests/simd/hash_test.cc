// The hash kernels of every backend give the hashes of the portable one, which
// tests/core/hash_test.cc compares with the xxHash library and with SipHash by the paper.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "tamis/detail/kernels.h"
#include "tests/simd/kernel_test_util.h"
#include "tests/test_util.h"

namespace tamis {
namespace {

class HashKernelTest : public BackendTest {};

std::vector<BatchSpec> AllSpecs() {
  std::vector<BatchSpec> specs(std::begin(kBatchSpecs), std::end(kBatchSpecs));
  for (const detail::Source source : {detail::Source::kSip13, detail::Source::kSip24}) {
    for (const uint64_t seed : {uint64_t{0}, 0x8123456789ABCDEF}) specs.push_back({source, seed});
  }
  return specs;
}

TEST_P(HashKernelTest, EqualsPortable) {
  std::vector<size_t> sizes(71);
  std::iota(sizes.begin(), sizes.end(), size_t{0});
  sizes.push_back(1000);
  for (const BatchSpec& spec : AllSpecs()) {
    for (const size_t n : sizes) {
      // The four pairs of slacks: input and output aligned to a vector or not, for most n.
      for (const size_t in_slack : {0, 1}) {
        const GuardedArray<uint64_t> values(RandomValues(n, /*seed=*/n), in_slack);
        std::vector<uint64_t> want(n);
        portable().hash(spec.Make(values.data(), n), want.data());
        for (const size_t out_slack : {16, 17}) {
          const auto got = GuardedArray<uint64_t>::Output(n, out_slack);
          kernels().hash(spec.Make(values.data(), n), got.data());
          ASSERT_EQ(got.vector(), want)
              << spec << ", n = " << n << ", slacks " << in_slack << " and " << out_slack;
          ASSERT_TRUE(got.Intact()) << spec << ", n = " << n;
        }
        kernels().hash(spec.Make(values.data(), n), values.data());
        ASSERT_EQ(values.vector(), want) << spec << ", in place, n = " << n;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, HashKernelTest,
                         testing::ValuesIn(Backends().begin(), Backends().end()), BackendName());

}  // namespace
}  // namespace tamis
