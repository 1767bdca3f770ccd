// Words of texts in several scripts.
#include "text/words.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace tamis::text::words_test {

using Strings = std::vector<std::string>;

Strings WordsOf(std::string_view text) {
  Strings words;
  Words reader(text);
  for (std::string_view word = reader.Next(); !word.empty(); word = reader.Next()) {
    words.emplace_back(word);
  }
  EXPECT_EQ(reader.Next(), "");
  return words;
}

// Concatenates UTF-8 texts of code points.
std::string Utf8(const std::vector<uint32_t>& text) {
  std::string bytes;
  for (const uint32_t c : text) {
    if (c < 0x80) {
      bytes += static_cast<char>(c);
    } else if (c < 0x800) {
      bytes += {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))};
    } else if (c < 0x10000) {
      bytes += {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3F)),
                static_cast<char>(0x80 | (c & 0x3F))};
    } else {
      bytes += {static_cast<char>(0xF0 | c >> 18), static_cast<char>(0x80 | (c >> 12 & 0x3F)),
                static_cast<char>(0x80 | (c >> 6 & 0x3F)), static_cast<char>(0x80 | (c & 0x3F))};
    }
  }
  return bytes;
}

TEST(WordsTest, Ascii_LettersDigitsAndUnderscores) {
  EXPECT_EQ(WordsOf("The quick-brown fox's 2nd  snake_case, v1.2!\n"),
            (Strings{"The", "quick", "brown", "fox", "s", "2nd", "snake_case", "v1", "2"}));
  EXPECT_EQ(WordsOf(""), Strings{});
  EXPECT_EQ(WordsOf(" \t.,;:!?\"'()[]{}<>/\\|@#$%^&*+=~`-\x7F\n"), Strings{});
  EXPECT_EQ(WordsOf("a"), Strings{"a"});
}

TEST(WordsTest, LatinGreekAndCyrillic_WithMarks) {
  const std::string cafe = Utf8({'c', 'a', 'f', 0xE9}), decomposed = Utf8({'e', 0x301});
  EXPECT_EQ(WordsOf(cafe + Utf8({0x2014}) + decomposed), (Strings{cafe, decomposed}));
  const std::string mir = Utf8({0x41C, 0x438, 0x440}), kai = Utf8({0x3BA, 0x3B1, 0x3AF});
  EXPECT_EQ(WordsOf(Utf8({0xAB}) + mir + Utf8({0xBB, 0xA0}) + kai + Utf8({0x37E})),
            (Strings{mir, kai}));
}

TEST(WordsTest, Arabic_WordsWithMarksAndItsOwnPunctuation) {
  // "kitab, jadid?" with a fatha on the first letter, the Arabic comma and question mark.
  const std::string book = Utf8({0x643, 0x64E, 0x62A, 0x627, 0x628});
  const std::string again = Utf8({0x62C, 0x62F, 0x64A, 0x62F});
  EXPECT_EQ(WordsOf(book + Utf8({0x60C, ' '}) + again + Utf8({0x61F})), (Strings{book, again}));
  // Persian writes a zero-width non-joiner within words. Digits are parts of words.
  const std::string persian = Utf8({0x645, 0x6CC, 0x200C, 0x631, 0x648, 0x645});
  const std::string digits = Utf8({0x6F1, 0x6F2});
  EXPECT_EQ(WordsOf(persian + " " + digits + Utf8({0x6D4})), (Strings{persian, digits}));
}

// A blank in two or three bytes, a surrogate, and code points that do not exist.
TEST(WordsTest, BytesThatAreNotUtf8_AreLetters) {
  for (const std::string text : {"a\xC0\xA0z", "a\xE0\x80\xA0z", "a\xED\xA0\x80z",
                                 "a\xF4\x90\x80\x80z", "a\xF8\x88\x80\x80z"}) {
    EXPECT_EQ(WordsOf(text), Strings{text});
  }
}

// Symbols of several code points, such as a woman with a laptop and a red heart, have no words.
TEST(WordsTest, JoinersAndVariationSelectors_BeginNoWord) {
  EXPECT_EQ(WordsOf(Utf8({0x1F469, 0x200D, 0x1F4BB, ' ', 0x2764, 0xFE0F, 0x200D})), Strings{});
  const std::string joined = Utf8({'a', 0x200D, 'b', 0xFE0F});
  EXPECT_EQ(WordsOf(Utf8({0x200C}) + joined + Utf8({0x2764, 0xFE0F})), Strings{joined});
}

TEST(WordsTest, ScriptsWithoutSpaces_HaveAWordPerCharacter) {
  const auto each = [](const std::vector<uint32_t>& text) {
    Strings words;
    for (const uint32_t c : text) words.push_back(Utf8({c}));
    return words;
  };
  const std::vector<std::vector<uint32_t>> texts = {
      {0x4E2D, 0x6587, 0x5B57, 0x7B26},           // Chinese
      {0x3053, 0x308C, 0x306F, 0x30C6, 0x30B9},   // Japanese, hiragana and katakana
      {0x20000, 0x2A6D6, 0x30000},                // Han beyond U+FFFF
      {0xE2A, 0xE27, 0xE31, 0xE2A, 0xE14, 0xE35}  // Thai
  };
  for (const std::vector<uint32_t>& text : texts) EXPECT_EQ(WordsOf(Utf8(text)), each(text));
  // Punctuation of CJK separates nothing more, and Latin words within stay whole.
  EXPECT_EQ(WordsOf(Utf8({0x300C, 0x4E2D, 0x300D, 0x3001}) + "UTF8" + Utf8({0x6587, 0x3002})),
            (Strings{Utf8({0x4E2D}), "UTF8", Utf8({0x6587})}));
  // Korean is written with spaces.
  const std::string korean = Utf8({0xD55C, 0xAD6D}), language = Utf8({0xC5B4});
  EXPECT_EQ(WordsOf(korean + " " + language), (Strings{korean, language}));
}

TEST(WordsTest, Symbols_AreNotParts) {
  EXPECT_EQ(WordsOf("a" + Utf8({0x1F600}) + "b" + Utf8({0x20AC}) + "1" + Utf8({0x2192, 0xFF0C})),
            (Strings{"a", "b", "1"}));
}

TEST(WordsTest, BytesThatAreNotUtf8_CountAsLetters) {
  EXPECT_EQ(WordsOf("a\xFF\xC3 \x80"), (Strings{"a\xFF\xC3", "\x80"}));
  EXPECT_EQ(WordsOf("\xE4\xB8"), Strings{"\xE4\xB8"});
}

// Words are parts of the text, in order, and no ASCII letter is lost.
TEST(WordsTest, RandomBytes_GiveWordsInOrder) {
  std::mt19937_64 random(47);
  for (int i = 0; i < 2000; ++i) {
    std::string text, letters, found;
    for (size_t n = random() % 60; n > 0; --n) {
      text += random() % 2 == 0 ? static_cast<char>(random()) : static_cast<char>('a' + n % 3);
    }
    for (const char c : text) letters += c >= 'a' && c <= 'z' ? std::string(1, c) : "";
    const char* last = text.data();
    Words words(text);
    for (std::string_view word = words.Next(); !word.empty(); word = words.Next()) {
      EXPECT_GE(word.data(), last);
      last = word.data() + word.size();
      for (const char c : word) found += c >= 'a' && c <= 'z' ? std::string(1, c) : "";
    }
    EXPECT_LE(last, text.data() + text.size());
    EXPECT_EQ(found, letters);
  }
}

}  // namespace tamis::text::words_test
