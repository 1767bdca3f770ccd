// Splits text into words.
//
// A word is a longest run of letters, digits, marks and underscores. In scripts that are written
// without spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese), each character is a
// word. Joiners and variation selectors continue a word, and do not begin one. Blanks, punctuation
// and symbols, emoji included, are not parts of words. Words are not changed: upper and lower case,
// for example, are different. A byte that is not a part of valid UTF-8 counts as a letter.
#ifndef TAMIS_TEXT_WORDS_H_
#define TAMIS_TEXT_WORDS_H_

#include <cstddef>
#include <string_view>

namespace tamis::text {

class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  // Returns the next word, or "" if there are no more words.
  std::string_view Next();

 private:
  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace tamis::text

#endif  // TAMIS_TEXT_WORDS_H_
