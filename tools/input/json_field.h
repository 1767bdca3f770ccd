// Finds a field in JSON texts.
#ifndef TAMIS_TOOLS_INPUT_JSON_FIELD_H_
#define TAMIS_TOOLS_INPUT_JSON_FIELD_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace tamis::tools {

// Readable bytes that must follow a JSON text in memory. Their values do not matter.
inline constexpr size_t kJsonPadding = 64;

// The value of a field.
struct JsonValue {
  const char* error = nullptr;  // why the text has no such string or number
  std::string_view text;        // the unescaped bytes of a string, or a number as it is written
  bool is_string = false;
  std::string_view raw;  // the string or number as it is written: a part of the JSON text
};

class JsonField {
 public:
  virtual ~JsonField() = default;

  // Returns the field in `json`, which must be a complete JSON text in UTF-8. If an object has
  // several fields of one name, the last one counts. The result is valid until the next call.
  // `kJsonPadding` readable bytes must follow `json`.
  virtual JsonValue Find(std::string_view json) = 0;
};

// `field` is the name of a field of the outermost object, or a JSON Pointer (RFC 6901) that begins
// with a slash. Throws Error(kInvalidArgument) for an invalid pointer. Throws Error(kUnsupported)
// if tamis was built without simdjson.
std::unique_ptr<JsonField> MakeJsonField(const std::string& field);

// Returns the name and version of the library, such as "simdjson 3.0.1", or "" if tamis was built
// without the library.
std::string JsonLibrary();

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_JSON_FIELD_H_
