// Writes JSON from left to right.
#ifndef TAMIS_BINDINGS_C_SRC_JSON_TEXT_H_
#define TAMIS_BINDINGS_C_SRC_JSON_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace tamis::c {

class JsonText {
 public:
  // Open begins an object with '{' or an array with '['. Close ends it with '}' or ']'.
  void Open(char bracket) {
    Next();
    text_ += bracket;
    first_ = true;
  }
  void Close(char bracket) {
    text_ += bracket;
    first_ = false;
  }
  // Writes the name of a member, in front of its value.
  void Name(std::string_view name) {
    String(name);
    text_ += ':';
    first_ = true;
  }
  // Writes a string. Replaces invalid UTF-8 by U+FFFD.
  void String(std::string_view value);
  void Number(uint64_t value);
  void Number(double value);  // null if it is not finite
  void Bool(bool value);

  template <typename Value>
  void Member(std::string_view name, Value value) {
    Name(name);
    Number(value);
  }

  const std::string& text() const { return text_; }

 private:
  void Next() {
    if (!first_) text_ += ',';
    first_ = false;
  }

  std::string text_;
  bool first_ = true;  // the next value does not follow another, so it gets no comma
};

}  // namespace tamis::c

#endif  // TAMIS_BINDINGS_C_SRC_JSON_TEXT_H_
