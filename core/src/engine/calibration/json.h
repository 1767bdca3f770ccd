// The part of JSON (RFC 8259) that our own files need: objects, arrays, strings and numbers.
#ifndef TAMIS_CORE_SRC_ENGINE_CALIBRATION_JSON_H_
#define TAMIS_CORE_SRC_ENGINE_CALIBRATION_JSON_H_

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tamis::detail {

struct JsonValue {
  enum class Kind : uint8_t { kObject, kArray, kString, kNumber };

  Kind kind = Kind::kObject;
  uint64_t offset = 0;  // bytes from the start of the text to this value
  double number = 0;    // finite
  std::string string;
  std::vector<JsonValue> children;  // the elements of an array, the members of an object
  std::string name;                 // of this member of an object, which no other one has
};

// What is wrong with a text, and at which byte of it.
struct JsonError : std::runtime_error {
  JsonError(uint64_t at, const std::string& problem) : std::runtime_error(problem), offset(at) {}

  uint64_t offset;
};

// "an object", "an array", "a string" or "a number".
const char* JsonKindName(JsonValue::Kind kind) noexcept;

// Reads a text that holds one value. Strict: no comments, no trailing commas, no repeated names,
// nothing after the value, at most 16 levels of nesting and 64 names in an object; of \u escapes
// only those of one UTF-16 unit. Throws JsonError.
JsonValue ParseJson(std::string_view text);

// As a JSON string, quotes included. Bytes past ASCII are taken for UTF-8 and stay as they are.
std::string JsonString(std::string_view string);

// The shortest decimal that reads back as the same finite number.
std::string JsonNumber(double number);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_ENGINE_CALIBRATION_JSON_H_
