// Shared by the tests of the C library: handles that free themselves, arrays surrounded by junk,
// and pairs of filters of both interfaces.
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
#include "tests/c/key_sets.h"

namespace tamis {

struct Free {
  void operator()(tamis_bank* bank) const { tamis_bank_free(bank); }
  void operator()(tamis_filter* filter) const { tamis_filter_free(filter); }
  void operator()(tamis_engine* engine) const { tamis_engine_free(engine); }
  void operator()(char* text) const { tamis_text_free(text); }
};
using CBank = std::unique_ptr<tamis_bank, Free>;
using CFilter = std::unique_ptr<tamis_filter, Free>;
using CEngine = std::unique_ptr<tamis_engine, Free>;
using CText = std::unique_ptr<char, Free>;

// Returns the handle created by make(arguments..., &handle).
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
  EXPECT_EQ(tamis_filter_serialize(filter, nullptr, nullptr, 0, &bytes), TAMIS_OK);
  std::vector<std::byte> data(bytes);
  EXPECT_EQ(tamis_filter_serialize(filter, nullptr, data.data(), bytes, &written), TAMIS_OK)
      << tamis_last_error();
  EXPECT_EQ(written, bytes);
  return data;
}

inline tamis_open_options Mapping() {
  auto options = TAMIS_INIT(tamis_open_options);
  options.map = 1;
  return options;
}

inline CFilter Mapped(const std::string& path) {
  const tamis_open_options options = Mapping();
  return Made<tamis_filter>(tamis_filter_open, path.c_str(), &options);
}

// Expects that every output of a query equals the output of the C++ library on the calling thread.
inline void ExpectSameAnswers(const tamis_filter* c, const tamis_engine* engine,
                              const Queryable& cpp, const KeySets::Set& keys) {
  const size_t n = keys.cpp.size();
  const size_t words = BitmapWords(n);
  std::vector<uint64_t> bits(words, ~uint64_t{0}), cpp_bits(words);
  uint64_t hits = ~uint64_t{0};
  ASSERT_EQ(tamis_filter_contains_bitmap(c, engine, &keys.c, bits.data(), words, &hits), TAMIS_OK)
      << tamis_last_error();
  EXPECT_EQ(hits, cpp.Contains(keys.cpp, Bitmap(cpp_bits)));
  EXPECT_EQ(bits, cpp_bits);
  std::vector<uint8_t> bytes(n, 9), cpp_bytes(n);
  ASSERT_EQ(tamis_filter_contains_bytes(c, engine, &keys.c, bytes.data(), n, &hits), TAMIS_OK);
  EXPECT_EQ(hits, cpp.Contains(keys.cpp, std::span<uint8_t>(cpp_bytes)));
  EXPECT_EQ(bytes, cpp_bytes);
  std::vector<uint32_t> rows32(n), cpp32(n);
  ASSERT_EQ(tamis_filter_select32(c, engine, &keys.c, rows32.data(), n, &hits), TAMIS_OK);
  EXPECT_EQ(hits, cpp.Select(keys.cpp, std::span<uint32_t>(cpp32)));
  rows32.resize(hits), cpp32.resize(hits);
  EXPECT_EQ(rows32, cpp32);
  std::vector<uint64_t> rows64(n), cpp64(n);
  ASSERT_EQ(tamis_filter_select64(c, engine, &keys.c, rows64.data(), n, &hits), TAMIS_OK);
  rows64.resize(hits), cpp64.resize(cpp.Select(keys.cpp, std::span<uint64_t>(cpp64)));
  EXPECT_EQ(rows64, cpp64);
  ASSERT_EQ(tamis_filter_count(c, engine, &keys.c, &hits), TAMIS_OK);
  EXPECT_EQ(hits, cpp.Count(keys.cpp));
}

// Expects the status, and a part of the message.
inline void ExpectStatus(tamis_status got, tamis_status wanted, const std::string& text) {
  EXPECT_EQ(got, wanted) << tamis_status_name(got) << ": " << tamis_last_error();
  EXPECT_NE(std::string(tamis_last_error()).find(text), std::string::npos) << tamis_last_error();
}

}  // namespace tamis

#endif  // TAMIS_TESTS_C_C_TEST_UTIL_H_
