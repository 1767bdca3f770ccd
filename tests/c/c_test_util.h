// What the tests of the library for C share: handles that free themselves, arrays with junk around
// them, and filters of both interfaces side by side.
#ifndef TAMIS_TESTS_C_C_TEST_UTIL_H_
#define TAMIS_TESTS_C_C_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tamis/c.h"
#include "tamis/tamis.h"

namespace tamis {

struct Free {
  void operator()(tamis_bank* bank) const { tamis_bank_free(bank); }
  void operator()(tamis_filter* filter) const { tamis_filter_free(filter); }
  void operator()(tamis_foreign* filter) const { tamis_foreign_free(filter); }
  void operator()(tamis_engine* engine) const { tamis_engine_free(engine); }
  void operator()(tamis_view* view) const { tamis_view_free(view); }
  void operator()(char* text) const { tamis_text_free(text); }
};
using CBank = std::unique_ptr<tamis_bank, Free>;
using CFilter = std::unique_ptr<tamis_filter, Free>;
using CForeign = std::unique_ptr<tamis_foreign, Free>;
using CEngine = std::unique_ptr<tamis_engine, Free>;
using CView = std::unique_ptr<tamis_view, Free>;
using CText = std::unique_ptr<char, Free>;

// What make(arguments..., &handle) made.
template <typename Handle, typename... Parameters, typename... Arguments>
std::unique_ptr<Handle, Free> Made(tamis_status (*make)(Parameters...), Arguments... arguments) {
  Handle* handle = nullptr;
  EXPECT_EQ(make(arguments..., &handle), TAMIS_OK) << tamis_last_error();
  return std::unique_ptr<Handle, Free>(handle);
}

inline tamis_filter_options OptionsFor(uint64_t capacity) {
  auto options = TAMIS_INIT(tamis_filter_options);
  options.capacity = capacity;
  return options;
}

inline CFilter MakeC(uint32_t kind, uint64_t capacity, const tamis_hash& hash = {}) {
  tamis_filter_options options = OptionsFor(capacity);
  options.hash = hash;
  return Made<tamis_filter>(tamis_filter_create, kind, &options);
}

inline CEngine MakeEngine(uint32_t threads) {
  auto options = TAMIS_INIT(tamis_engine_options);
  options.threads = threads;
  return Made<tamis_engine>(tamis_engine_create, &options);
}

inline std::vector<std::byte> SerializedC(const tamis_filter* filter) {
  uint64_t bytes = 0, written = 0;
  EXPECT_EQ(tamis_filter_serialized_bytes(filter, nullptr, &bytes), TAMIS_OK);
  std::vector<std::byte> data(bytes);
  EXPECT_EQ(tamis_filter_serialize(filter, nullptr, data.data(), bytes, &written), TAMIS_OK)
      << tamis_last_error();
  EXPECT_EQ(written, bytes);
  return data;
}

// Expects the status, and a part of the message.
inline void ExpectStatus(tamis_status got, tamis_status wanted, const std::string& text) {
  EXPECT_EQ(got, wanted) << tamis_status_name(got) << ": " << tamis_last_error();
  EXPECT_NE(std::string(tamis_last_error()).find(text), std::string::npos) << tamis_last_error();
}

}  // namespace tamis

#endif  // TAMIS_TESTS_C_C_TEST_UTIL_H_
