// JSON, for the files that read or write it. This header adds seconds to the compile time.
#ifndef TAMIS_CORE_SRC_BASE_JSON_H_
#define TAMIS_CORE_SRC_BASE_JSON_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// Disables the parser's internal assertions, because the library never aborts.
#define JSON_ASSERT(condition) static_cast<void>(0)
#include <nlohmann/json.hpp>

namespace tamis::detail {

// Makes Json a type of this library alone. Otherwise the linker could merge its functions with a
// program's own copy of nlohmann-json that was compiled with other settings.
template <typename T>
struct JsonAllocator : std::allocator<T> {
  JsonAllocator() = default;
  template <typename U>
  JsonAllocator(const JsonAllocator<U>& other) : std::allocator<T>(other) {}
};
using Json = nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, int64_t,
                                  uint64_t, double, JsonAllocator>;

// Returns indented lines without a newline at the end. Bytes that are not UTF-8 become U+FFFD.
inline std::string JsonText(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BASE_JSON_H_
