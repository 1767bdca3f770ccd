// Builds text from several pieces, for example error messages.
#ifndef TAMIS_DETAIL_STR_CAT_H_
#define TAMIS_DETAIL_STR_CAT_H_

#include <charconv>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include "tamis/cpp20.h"

namespace tamis::detail {

template <typename T>
concept StrCatNumber = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>;

class StrCatPiece {
 public:
  explicit StrCatPiece(std::string_view text) : text_(text) {}
  explicit StrCatPiece(std::same_as<char> auto character) : digits_{character}, text_(digits_, 1) {}
  explicit StrCatPiece(StrCatNumber auto number)
      : text_(digits_, std::to_chars(digits_, digits_ + sizeof(digits_), number).ptr) {}

  StrCatPiece(const StrCatPiece&) = delete;  // text_ may point into the object
  StrCatPiece& operator=(const StrCatPiece&) = delete;

  std::string_view text() const noexcept { return text_; }

 private:
  char digits_[20];  // the length of UINT64_MAX and INT64_MIN
  std::string_view text_;
};

inline std::string StrCatTexts(std::initializer_list<std::string_view> texts) {
  size_t size = 0;
  for (const std::string_view text : texts) size += text.size();
  std::string joined;
  joined.reserve(size);
  for (const std::string_view text : texts) joined += text;
  return joined;
}

// Returns all pieces, one after another. A piece is a string, a char, or an integer in the format
// of std::to_string. A bool or a double does not compile.
template <typename... Pieces>
std::string StrCat(const Pieces&... pieces) {
  return StrCatTexts({StrCatPiece(pieces).text()...});
}

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_STR_CAT_H_
