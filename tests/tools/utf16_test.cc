// Text of a console of Windows, converted to UTF-8 in parts.
#include "tools/os/windows/utf16.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace tamis::tools::utf16_test {

TEST(Utf16DecoderTest, Decode_CutAnywhere_GivesTheSameText) {
  // Characters of 1 to 4 bytes, at both ends of each range.
  const std::u16string_view units =
      u"a\u007F\u0080\u07FF\u0800\uD7FF\uE000\uFFFF\U00010000\U0001F600\U0010FFFFz";
  const std::string text =
      "a\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF"
      "\xF0\x90\x80\x80\xF0\x9F\x98\x80\xF4\x8F\xBF\xBFz";
  for (size_t cut = 0; cut <= units.size(); ++cut) {
    os::Utf16Decoder decoder;
    std::string decoded = decoder.Decode(units.substr(0, cut));
    decoded += decoder.Decode(units.substr(cut));
    EXPECT_EQ(decoded, text) << cut;
  }
}

TEST(Utf16DecoderTest, Decode_HalfACharacter_WaitsForTheOtherHalf) {
  os::Utf16Decoder decoder;
  EXPECT_EQ(decoder.Decode(u"\xD83D"), "");
  EXPECT_EQ(decoder.Decode(u""), "");
  EXPECT_EQ(decoder.Decode(u"\xDE00"), "\xF0\x9F\x98\x80");
}

TEST(Utf16DecoderTest, Decode_UnpairedSurrogates_BecomeReplacementCharacters) {
  const std::string replacement = "\xEF\xBF\xBD";
  os::Utf16Decoder decoder;
  EXPECT_EQ(decoder.Decode(u"\xDE00x"), replacement + "x");
  EXPECT_EQ(decoder.Decode(u"\xD83Dx"), replacement + "x");
  EXPECT_EQ(decoder.Decode(u"\xD83D\xD83D\xDE00"), replacement + "\xF0\x9F\x98\x80");
}

}  // namespace tamis::tools::utf16_test
