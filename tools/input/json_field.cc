#include "tools/input/json_field.h"

#include <tamis/error.h>

#if TAMIS_SIMDJSON
#include <simdjson.h>

#include <cstdint>
#include <new>
#include <vector>

#include "tamis/detail/str_cat.h"
#include "tools/output/format.h"
#endif

namespace tamis::tools {

#if TAMIS_SIMDJSON

namespace {

using simdjson::ondemand::json_type;

static_assert(simdjson::SIMDJSON_PADDING <= kJsonPadding);

// The reading of nested values is recursive.
constexpr size_t kMostLevels = 1000;
constexpr const char* kNotJson = "not valid JSON";
constexpr const char* kTooDeep = "JSON of more than 1,000 levels";
constexpr const char* kMissing = "the field is missing";
constexpr const char* kOtherType = "the field is not a string or a number";

std::vector<std::string> PathOf(const std::string& field) {
  if (!field.starts_with('/')) return {field};
  std::vector<std::string> path;
  for (size_t i = 0; i < field.size(); ++i) {
    if (field[i] == '/') {
      path.emplace_back();
    } else if (field[i] != '~') {
      path.back() += field[i];
    } else if (++i < field.size() && (field[i] == '0' || field[i] == '1')) {
      path.back() += field[i] == '0' ? '~' : '/';
    } else {
      throw Error(ErrorCode::kInvalidArgument,
                  "--field: " + Quoted(field) +
                      " is not a JSON Pointer: in a pointer, write ~ as ~0 and / in a name as ~1");
    }
  }
  return path;
}

bool IsNumber(std::string_view text) {
  size_t i = text.starts_with('-') ? 1 : 0;
  const auto skip = [&](std::string_view any) {
    const bool has = i < text.size() && any.find(text[i]) != std::string_view::npos;
    if (has) ++i;
    return has;
  };
  const auto skip_digits = [&] {
    const size_t begin = i;
    while (skip("0123456789")) {
    }
    return i > begin;
  };
  if (!skip("0") && !skip_digits()) return false;
  if (skip(".") && !skip_digits()) return false;
  if (skip("eE")) {
    skip("+-");
    if (!skip_digits()) return false;
  }
  return i == text.size();
}

// The library checks only the values that are read. Therefore all values are read.
class SimdjsonField final : public JsonField {
 public:
  explicit SimdjsonField(const std::string& field) : path_(PathOf(field)) {}

  JsonValue Find(std::string_view json) override {
    found_ = {kMissing, {}, false, {}};
    simdjson::ondemand::document document;
    const simdjson::error_code error =
        parser_.iterate(json.data(), json.size(), json.size() + kJsonPadding).get(document);
    if (error == simdjson::MEMALLOC) throw std::bad_alloc();
    json_type type = {};
    if (error != simdjson::SUCCESS || document.type().get(type) != simdjson::SUCCESS) {
      return {kNotJson, {}, false, {}};
    }
    if (type != json_type::object && type != json_type::array) return found_;
    const char* const problem =
        type == json_type::object ? ReadObject(document, 1, 0) : ReadArray(document, 1, 0);
    if (problem != nullptr) return {problem, {}, false, {}};
    // At the end of the text, the document has no location.
    if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
      return {kNotJson, {}, false, {}};
    }
    return found_;
  }

 private:
  static constexpr size_t kOffPath = SIZE_MAX;

  // Reads a value. `at` is the number of names of the path that lead to it, or kOffPath. Returns
  // nullptr, or what is wrong with the value.
  const char* Read(simdjson::ondemand::value& value, size_t level, size_t at) {
    if (level > kMostLevels) return kTooDeep;
    const bool wanted = at == path_.size();
    if (wanted) found_.error = kOtherType;
    json_type type = {};
    if (value.type().get(type) != simdjson::SUCCESS) return kNotJson;
    if (type == json_type::object) return ReadObject(value, level, at);
    if (type == json_type::array) return ReadArray(value, level, at);
    if (type == json_type::string) {
      const std::string_view raw = wanted ? Token(value) : std::string_view();
      std::string_view text;
      if (value.get_string().get(text) != simdjson::SUCCESS) return kNotJson;
      if (wanted) found_ = {nullptr, text, true, raw};
      return nullptr;
    }
    const std::string_view token = Token(value);
    if (token == "null" || token == "true" || token == "false") return nullptr;
    if (!IsNumber(token)) return kNotJson;
    if (wanted) found_ = {nullptr, token, false, token};
    return nullptr;
  }

  // Returns a string or another scalar as it is written.
  static std::string_view Token(simdjson::ondemand::value& value) {
    const std::string_view token = value.raw_json_token();  // with the blanks behind it
    return token.substr(0, token.find_last_not_of(" \t\r\n") + 1);
  }

  template <typename Value>
  const char* ReadObject(Value& value, size_t level, size_t at) {
    simdjson::ondemand::object object;
    if (value.get_object().get(object) != simdjson::SUCCESS) return kNotJson;
    for (auto field : object) {
      std::string_view name;
      simdjson::ondemand::value child;
      if (field.unescaped_key().get(name) != simdjson::SUCCESS ||
          field.value().get(child) != simdjson::SUCCESS) {
        return kNotJson;
      }
      const bool on_path = at < path_.size() && name == path_[at];
      if (on_path)
        found_ = {kMissing, {}, false, {}};  // an earlier field of this name does not count
      if (const char* const problem = Read(child, level + 1, on_path ? at + 1 : kOffPath)) {
        return problem;
      }
    }
    return nullptr;
  }

  template <typename Value>
  const char* ReadArray(Value& value, size_t level, size_t at) {
    simdjson::ondemand::array array;
    if (value.get_array().get(array) != simdjson::SUCCESS) return kNotJson;
    size_t i = 0;
    for (auto element : array) {
      simdjson::ondemand::value child;
      if (element.get(child) != simdjson::SUCCESS) return kNotJson;
      const bool on_path = at < path_.size() && path_[at] == std::to_string(i);
      if (const char* const problem = Read(child, level + 1, on_path ? at + 1 : kOffPath)) {
        return problem;
      }
      ++i;
    }
    return nullptr;
  }

  const std::vector<std::string> path_;
  simdjson::ondemand::parser parser_;
  JsonValue found_;
};

}  // namespace

std::unique_ptr<JsonField> MakeJsonField(const std::string& field) {
  return std::make_unique<SimdjsonField>(field);
}

std::string JsonLibrary() {
  return detail::StrCat("simdjson ", +simdjson::SIMDJSON_VERSION_MAJOR, ".",
                        +simdjson::SIMDJSON_VERSION_MINOR, ".",
                        +simdjson::SIMDJSON_VERSION_REVISION);
}

#else

std::unique_ptr<JsonField> MakeJsonField(const std::string&) {
  throw Error(ErrorCode::kUnsupported,
              "--jsonl: this tamis was built without simdjson, which reads JSON. To get it: "
              "apt-get install libsimdjson-dev, and build tamis again");
}

std::string JsonLibrary() { return ""; }

#endif

}  // namespace tamis::tools
