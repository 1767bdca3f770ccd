// The list of backends, and the choice of a backend.
#include "tamis/backend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

#include "tamis/backends.h"
#include "tamis/detail/kernels.h"
#include "tamis/error.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/core/file_test_util.h"
#include "tests/core/scoped_env.h"

namespace tamis::backend_test {

constexpr const char* kVariable = "TAMIS_BACKEND";

std::string WithCase(std::string_view name, int (*convert)(int)) {
  std::string s(name);
  std::transform(s.begin(), s.end(), s.begin(),
                 [&](char c) { return static_cast<char>(convert(static_cast<unsigned char>(c))); });
  return s;
}

void ExpectUnknown(const std::function<void()>& act, const std::string& name) {
  ExpectError(act, ErrorCode::kUnknownBackend, "unknown backend \"" + name + "\"");
  for (const Backend& backend : Backends()) {
    ExpectError(act, ErrorCode::kUnknownBackend, std::string(backend.name));
  }
}

TEST(BackendsTest, PortableIsThereAndLast) {
  ASSERT_FALSE(Backends().empty());
  EXPECT_EQ(Backends().back().name, "portable");
  // Every supported machine has vector kernels, and this test runs where they are built.
#if TAMIS_HAVE_SIMD && (defined(__x86_64__) || defined(__aarch64__))
  EXPECT_GT(Backends().size(), 1u);
#endif
}

TEST(BackendsTest, NamesAreUniqueAndTablesComplete) {
  std::set<std::string_view> names;
  for (const Backend& backend : Backends()) {
    EXPECT_TRUE(names.insert(backend.name).second) << backend.name;
    EXPECT_FALSE(backend.description.empty()) << backend.name;
    ASSERT_NE(backend.kernels, nullptr) << backend.name;
    const detail::Kernels& k = *backend.kernels;
    EXPECT_TRUE(k.hash && k.xxh64_rests && k.sort_by_length && k.end_xxh3 && k.bits_to_bytes &&
                k.bits_to_indices32 && k.bits_to_indices64 && k.popcount && k.merge)
        << backend.name;
    EXPECT_TRUE(k.split_block.contains && k.split_block.insert && k.split_block.contains_one &&
                k.split_block.insert_one)
        << backend.name;
  }
}

TEST(BackendsTest, TheListStaysTheSame) {
  EXPECT_EQ(Backends().data(), Backends().data());
  EXPECT_EQ(&FindBackend("portable"), &Backends().back());
}

TEST(BackendsTest, AreFoundByNameInAnyCase) {
  for (const Backend& backend : Backends()) {
    EXPECT_EQ(&FindBackend(backend.name), &backend);
    EXPECT_EQ(&FindBackend(WithCase(backend.name, std::tolower)), &backend);
    EXPECT_EQ(&FindBackend(WithCase(backend.name, std::toupper)), &backend);
  }
}

TEST(BackendsTest, AnUnknownNameIsAnErrorThatListsTheValidOnes) {
  for (const std::string name : {"", "AVX9", "portabl", "portable ", "por table", "portablee"}) {
    ExpectUnknown([&] { FindBackend(name); }, name);
  }
}

TEST(DefaultBackendTest, IsTheBestWithoutTheVariable) {
  ScopedEnv env(kVariable, nullptr);
  EXPECT_EQ(&DefaultBackend(), &Backends().front());
  env.Set("");
  EXPECT_EQ(&DefaultBackend(), &Backends().front());
}

TEST(DefaultBackendTest, IsTheOneThatTheVariableNames) {
  ScopedEnv env(kVariable, nullptr);
  for (const Backend& backend : Backends()) {
    for (const std::string& name : {std::string(backend.name), WithCase(backend.name, std::tolower),
                                    WithCase(backend.name, std::toupper)}) {
      env.Set(name.c_str());
      EXPECT_EQ(&DefaultBackend(), &backend) << name;
      EXPECT_EQ(&SplitBlockBloomFilter({.capacity = 1}).backend(), &backend) << name;
    }
  }
}

TEST(DefaultBackendTest, AnUnknownNameInTheVariableIsAnError) {
  const ScopedEnv env(kVariable, "AVX9");
  ExpectUnknown([] { DefaultBackend(); }, "AVX9");
  ExpectUnknown([] { SplitBlockBloomFilter({.capacity = 1}); }, "AVX9");
}

TEST(DefaultBackendTest, AFilterThatIsGivenABackendDoesNotAsk) {
  const ScopedEnv env(kVariable, "AVX9");
  for (const Backend& backend : Backends()) {
    SplitBlockBloomFilter filter({.capacity = 1, .backend = &backend});
    EXPECT_EQ(&filter.backend(), &backend);
    filter.set_backend(Backends().front());
    EXPECT_EQ(&filter.backend(), &Backends().front());
  }
}

}  // namespace tamis::backend_test
