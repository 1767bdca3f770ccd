#include "tamis/detail/str_cat.h"

#include <gtest/gtest.h>

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace tamis::detail::str_cat_test {

template <typename T>
concept IsPiece = std::constructible_from<StrCatPiece, T>;

static_assert(IsPiece<std::string> && IsPiece<std::string_view> && IsPiece<const char*>);
static_assert(IsPiece<char> && IsPiece<signed char> && IsPiece<unsigned char>);
static_assert(!IsPiece<bool> && !IsPiece<float> && !IsPiece<double> && !IsPiece<void*>);

template <typename T>
class StrCatNumberTest : public testing::Test {};
using Integers = testing::Types<signed char, unsigned char, short, unsigned short, int, unsigned,
                                long, unsigned long, long long, unsigned long long>;
TYPED_TEST_SUITE(StrCatNumberTest, Integers);

TYPED_TEST(StrCatNumberTest, IsWrittenAsByToString) {
  using Limits = std::numeric_limits<TypeParam>;
  const auto expect_same = [](TypeParam number) {
    const std::string text = std::to_string(number);
    EXPECT_EQ(StrCat(number), text);
    EXPECT_EQ(StrCat("a ", number, ", ", number, " b"), "a " + text + ", " + text + " b");
  };
  for (const TypeParam edge : {Limits::min(), TypeParam{0}, Limits::max()}) {
    for (int step = -110; step <= 110; ++step) {
      expect_same(static_cast<TypeParam>(static_cast<uint64_t>(edge) +
                                         static_cast<uint64_t>(int64_t{step})));
    }
  }
  // Tests numbers on both sides of each change of the number of digits.
  for (uint64_t power = 1; power <= uint64_t{Limits::max()} / 10; power *= 10) {
    for (const uint64_t number : {10 * power - 1, 10 * power}) {
      expect_same(static_cast<TypeParam>(number));
      expect_same(static_cast<TypeParam>(0 - number));
    }
  }
}

TEST(StrCatTest, Strings_OfAllTypes_AreJoined) {
  const std::string string = "string";
  const std::string_view view = "view and more";
  const char* const pointer = "pointer";
  const char array[] = "array";
  EXPECT_EQ(StrCat(string, ' ', view.substr(0, 4), ' ', pointer, ' ', array, ' ', "literal"),
            "string view pointer array literal");
  EXPECT_EQ(StrCat(std::string(1000, 'x'), 1, std::string(1000, 'y')),
            std::string(1000, 'x') + "1" + std::string(1000, 'y'));
  EXPECT_EQ(StrCat(std::string(1, '\0'), '\0'), std::string(2, '\0'));
}

TEST(StrCatTest, Nothing_IsAnEmptyString) {
  EXPECT_EQ(StrCat(), "");
  EXPECT_EQ(StrCat("", std::string()), "");
}

}  // namespace tamis::detail::str_cat_test
