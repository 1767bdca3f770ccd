#include "core/src/engine/calibration/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace tamis::detail {
namespace {

// So that no text can exhaust the stack, or the patience of those who look for repeated names.
constexpr int kMaxDepth = 16;
constexpr size_t kMaxMembers = 64;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  JsonValue Document() {
    JsonValue value = Value(0);
    SkipSpace();
    if (at_ != text_.size()) Fail("nothing may follow the value");
    return value;
  }

 private:
  [[noreturn]] void Fail(const std::string& problem) const { FailAt(at_, problem); }

  [[noreturn]] static void FailAt(uint64_t offset, const std::string& problem) {
    throw JsonError(offset, problem);
  }

  // The next character, or 0 at the end; a 0 in the text is nowhere allowed, so they need not
  // differ.
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void SkipSpace() {
    while (Peek() == ' ' || Peek() == '\t' || Peek() == '\n' || Peek() == '\r') ++at_;
  }

  bool Accept(char c) {
    SkipSpace();
    if (Peek() != c) return false;
    ++at_;
    return true;
  }

  void Expect(char c) {
    if (!Accept(c)) Fail(std::string("expected '") + c + "'");
  }

  JsonValue Value(int depth) {
    SkipSpace();
    if (depth > kMaxDepth) Fail("nested more than " + std::to_string(kMaxDepth) + " levels deep");
    JsonValue value;
    value.offset = at_;
    if (Accept('{')) {
      value.kind = JsonValue::Kind::kObject;
      if (!Accept('}')) Members(value, depth);
    } else if (Accept('[')) {
      value.kind = JsonValue::Kind::kArray;
      if (!Accept(']')) Elements(value, depth);
    } else if (Peek() == '"') {
      value.kind = JsonValue::Kind::kString;
      value.string = String();
    } else {
      value.kind = JsonValue::Kind::kNumber;
      value.number = Number();
    }
    return value;
  }

  void Members(JsonValue& object, int depth) {
    do {
      SkipSpace();
      const uint64_t offset = at_;
      std::string name = String();
      for (const JsonValue& member : object.children) {
        if (member.name == name) FailAt(offset, "a second \"" + name + "\" in one object");
      }
      if (object.children.size() == kMaxMembers) {
        FailAt(offset, "more than " + std::to_string(kMaxMembers) + " names in one object");
      }
      Expect(':');
      object.children.push_back(Value(depth + 1));
      object.children.back().name = std::move(name);
    } while (Accept(','));
    Expect('}');
  }

  void Elements(JsonValue& array, int depth) {
    do {
      array.children.push_back(Value(depth + 1));
    } while (Accept(','));
    Expect(']');
  }

  std::string String() {
    if (Peek() != '"') Fail("expected a string");
    ++at_;
    std::string string;
    while (Peek() != '"') {
      if (at_ == text_.size()) Fail("the text ends within a string");
      if (static_cast<unsigned char>(Peek()) < 0x20) Fail("a control character within a string");
      if (Peek() == '\\') {
        Escape(string);
      } else {
        string += text_[at_++];
      }
    }
    ++at_;
    return string;
  }

  void Escape(std::string& string) {
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
    const uint64_t offset = at_++;
    const char name = Peek();
    ++at_;
    if (const size_t i = kNames.find(name); i != std::string_view::npos) {
      string += kValues[i];
    } else if (name == 'u') {
      AppendUtf8(CodeUnit(offset), string);
    } else {
      FailAt(offset, "an unknown escape in a string");
    }
  }

  // The four digits of a \u escape that begins at `offset`.
  unsigned CodeUnit(uint64_t offset) {
    unsigned unit = 0;
    const std::string_view digits = text_.substr(std::min(at_, text_.size()), 4);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), unit, 16);
    if (error != std::errc() || end != digits.data() + 4) {
      FailAt(offset, "\\u needs four hexadecimal digits");
    }
    if (unit >= 0xD800 && unit < 0xE000) FailAt(offset, "surrogate pairs are not supported");
    at_ += 4;
    return unit;
  }

  static void AppendUtf8(unsigned unit, std::string& string) {
    if (unit < 0x80) {
      string += static_cast<char>(unit);
      return;
    }
    if (unit < 0x800) {
      string += static_cast<char>(0xC0 | (unit >> 6));
    } else {
      string += static_cast<char>(0xE0 | (unit >> 12));
      string += static_cast<char>(0x80 | ((unit >> 6) & 0x3F));
    }
    string += static_cast<char>(0x80 | (unit & 0x3F));
  }

  bool SkipDigits() {
    const size_t begin = at_;
    while (Peek() >= '0' && Peek() <= '9') ++at_;
    return at_ != begin;
  }

  // The grammar of RFC 8259, section 6, which is narrower than what from_chars takes.
  double Number() {
    const size_t begin = at_;
    if (Peek() == '-') ++at_;
    const bool zero = Peek() == '0';
    const size_t digits = at_;
    bool valid = SkipDigits() && !(zero && at_ - digits > 1);
    if (valid && Peek() == '.') {
      ++at_;
      valid = SkipDigits();
    }
    if (valid && (Peek() == 'e' || Peek() == 'E')) {
      ++at_;
      if (Peek() == '+' || Peek() == '-') ++at_;
      valid = SkipDigits();
    }
    if (!valid) FailAt(begin, "expected an object, an array, a string or a number");
    double number = 0;
    const auto result = std::from_chars(text_.data() + begin, text_.data() + at_, number);
    if (result.ec != std::errc() || !std::isfinite(number)) {
      FailAt(begin, "a number out of range: " + std::string(text_.substr(begin, at_ - begin)));
    }
    return number;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

const char* JsonKindName(JsonValue::Kind kind) noexcept {
  constexpr const char* kNames[] = {"an object", "an array", "a string", "a number"};
  return kNames[static_cast<size_t>(kind)];
}

JsonValue ParseJson(std::string_view text) { return Parser(text).Document(); }

std::string JsonString(std::string_view string) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string json = "\"";
  for (const char c : string) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20) {
      json += "\\u00";
      json += kDigits[byte >> 4];
      json += kDigits[byte & 15];
      continue;
    }
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
  return json + '"';
}

std::string JsonNumber(double number) {
  char buffer[32];  // the longest takes 24
  return {buffer, std::to_chars(buffer, buffer + sizeof(buffer), number).ptr};
}

}  // namespace tamis::detail
