// Files of windows: golden files, and damaged files.
#include <gtest/gtest.h>
#include <xxhash.h>

#include <cstring>
#include <string>
#include <vector>

#include "tamis/engine/windowed_filter.h"
#include "tamis/error.h"
#include "tamis/filters/any_filter.h"
#include "tests/core/file_test_util.h"
#include "tests/test_util.h"

namespace tamis::windowed_file_test {

using std::chrono::nanoseconds;
using namespace std::chrono_literals;

using BlockWindow = WindowedFilter<SplitBlockBloomFilter>;
using BloomWindow = WindowedFilter<BloomFilter>;

std::filesystem::path GoldenPath(const std::string& name) {
  return std::filesystem::path(TAMIS_GOLDEN_DIR) / (name + ".window");
}

// The keys of tests/golden/make_golden.py.
std::vector<uint64_t> Integers(uint64_t begin, uint64_t end) {
  std::vector<uint64_t> keys;
  for (uint64_t i = begin; i < end; ++i) keys.push_back(i * 0x9E3779B97F4A7C15);
  return keys;
}

std::vector<std::string> Strings(size_t n) {
  std::vector<std::string> keys(n);
  for (size_t m = 0; m < n; ++m) {
    for (size_t i = 0; i < m; ++i) keys[m].push_back(static_cast<char>(m + i));
  }
  return keys;
}

// Early versions of tamis recorded no types.
enum class Types { kRecorded, kUnknown };

Keys Typed(Keys keys, Types types) {
  return types == Types::kRecorded ? keys : keys.WithKeyType(KeyType::kUnknown);
}

BlockWindow TimeGolden(Types types) {
  BlockWindow window({.window = 20, .span = 10min, .fpr = 0.01, .filters = 3});
  window.Advance(1'799'999'700s);
  window.Insert(Typed(Integers(0, 12), types));
  window.Advance(1'800'000'150s);
  window.Insert(Typed(Strings(5), types));
  return window;
}

BloomWindow KeysGolden(Types types) {
  BloomWindow window({.window = 10, .fpr = 0.02, .filters = 2, .hash = {HashKind::kXxh64, 7}});
  window.Insert(Typed(Integers(0, 25), types));
  return window;
}

template <typename F>
void ExpectGolden(const WindowedFilter<F>& window, const std::string& name) {
  const TemporaryFolder folder;
  window.Save(folder / "window");
  EXPECT_EQ(ReadBytes(folder / "window"), ReadBytes(GoldenPath(name)));
  const WindowedFilter<F> loaded = WindowedFilter<F>::Load(GoldenPath(name));
  EXPECT_EQ(loaded.time(), window.time());
  EXPECT_EQ(loaded.max_keys(), window.max_keys());
  EXPECT_EQ(loaded.key_types(), window.key_types());
  loaded.Save(folder / "again");
  EXPECT_EQ(ReadBytes(folder / "again"), ReadBytes(GoldenPath(name)));
}

TEST(WindowedFileTest, Golden_IsReadAndWritten) {
  ExpectGolden(TimeGolden(Types::kUnknown), "window_v1_time");
  ExpectGolden(KeysGolden(Types::kUnknown), "window_v1_keys");
  ExpectGolden(TimeGolden(Types::kRecorded), "window_v1_time_types");
  ExpectGolden(KeysGolden(Types::kRecorded), "window_v1_keys_types");
  BlockWindow window = BlockWindow::Load(GoldenPath("window_v1_time"));
  EXPECT_TRUE(window.Contains(Integers(3, 4)[0]));
  window.Advance(1'800'000'600s);
  EXPECT_FALSE(window.Contains(Integers(3, 4)[0]));
  EXPECT_TRUE(window.Contains("\x04\x05\x06\x07"));
}

TEST(WindowedFileTest, Header_IsReadAlone) {
  EXPECT_TRUE(IsWindow(GoldenPath("window_v1_time")));
  EXPECT_FALSE(IsWindow(std::filesystem::path(TAMIS_GOLDEN_DIR) / "split_block_v2_empty.tamis"));
  const WindowHeader header = ReadWindowHeader(GoldenPath("window_v1_time"));
  EXPECT_EQ(header.kind, FilterKind::kSplitBlock);
  EXPECT_EQ(header.filters, 3u);
  EXPECT_EQ(header.window, 20u);
  EXPECT_EQ(header.span, 10min);
  EXPECT_EQ(header.time, nanoseconds(1'800'000'150s));
  EXPECT_EQ(ReadWindowHeader(GoldenPath("window_v1_keys")).time, std::nullopt);
}

// A window that was saved continues as if it had not been saved.
TEST(WindowedFileTest, ByKeys_Continues) {
  const TemporaryFolder folder;
  for (const uint64_t n : {0, 1, 33, 34, 99, 100, 1000, 1033}) {
    BlockWindow window({.window = 100, .hash = HashOf(HashKind::kSipHash13, n)});
    const std::vector<uint64_t> keys = RandomKeys(3000, n);
    window.Insert(Keys(keys).Slice(0, n));
    window.Save(folder / "window", {.with_secret = true});
    BlockWindow loaded = BlockWindow::Load(folder / "window");
    window.Insert(Keys(keys).Slice(n, 777));
    loaded.Insert(Keys(keys).Slice(n, 777));
    window.Save(folder / "one");
    loaded.Save(folder / "two", {.with_secret = false});
    EXPECT_EQ(loaded.Count(keys), window.Count(keys));
    ExpectError([&] { BlockWindow::Load(folder / "two"); }, ErrorCode::kSecret, "");
    loaded = BlockWindow::Load(folder / "two", {.secret = window.hash().secret});
    EXPECT_EQ(loaded.Count(keys), window.Count(keys));
  }
}

TEST(WindowedFileTest, OtherFiles_Throw) {
  const TemporaryFolder folder;
  ExpectError([&] { BloomWindow::Load(GoldenPath("window_v1_time")); }, ErrorCode::kUnsupported,
              "kind of this WindowedFilter");
  ExpectError([&] { Load(GoldenPath("window_v1_time")); }, ErrorCode::kUnsupported,
              "belongs to a window");
  const auto filter = std::filesystem::path(TAMIS_GOLDEN_DIR) / "split_block_v2_empty.tamis";
  ExpectError([&] { BlockWindow::Load(filter); }, ErrorCode::kCorrupt, "magic");
  ExpectError([&] { BlockWindow::Load(folder / "none"); }, ErrorCode::kIo, "");
  ExpectError([&] { BlockWindow::Load(folder.path()); }, ErrorCode::kIo, "");
  ExpectError([&] { TimeGolden(Types::kRecorded).Save(folder / "old", {.version = 1}); },
              ErrorCode::kInvalidArgument, "version 1");
  EXPECT_EQ(folder.NumFiles(), 0u);
}

// Checksums cover every bit, and every length is compared.
TEST(WindowedFileTest, Damage_Throws) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "window";
  const Bytes whole = ReadBytes(GoldenPath("window_v1_time"));
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    Bytes bytes = whole;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    WriteBytes(path, bytes);
    EXPECT_THROW(BlockWindow::Load(path), FormatError) << bit;
  }
  for (size_t n = 0; n < whole.size(); ++n) {
    WriteBytes(path, Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(n)));
    EXPECT_THROW(BlockWindow::Load(path), FormatError) << n;
  }
  Bytes longer = whole;
  longer.push_back(0);
  WriteBytes(path, longer);
  EXPECT_THROW(BlockWindow::Load(path), FormatError);
}

// Returns the file with right checksums of the window. All filters have `filter_bytes` bytes.
Bytes Sealed(Bytes bytes, size_t filter_bytes) {
  const auto put = [&](size_t at, uint64_t value) { std::memcpy(&bytes[at], &value, 8); };
  put(120, XXH3_64bits(bytes.data(), 120));
  const size_t step = (filter_bytes + 63) / 64 * 64;
  Bytes headers(bytes.begin(), bytes.begin() + 128);
  for (size_t at = 128; at + step + 8 <= bytes.size(); at += step) {
    headers.insert(headers.end(), bytes.begin() + static_cast<ptrdiff_t>(at),
                   bytes.begin() + static_cast<ptrdiff_t>(at + 192));
  }
  put(bytes.size() - 8, XXH3_64bits(headers.data(), headers.size()));
  return bytes;
}

// Files whose checksums are right, but whose fields are not.
TEST(WindowedFileTest, Crafted_Throws) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "window";
  const Bytes whole = ReadBytes(GoldenPath("window_v1_time"));
  uint64_t length = 0;
  std::memcpy(&length, &whole[56], 8);
  ASSERT_EQ(Sealed(whole, length), whole);
  const auto refused = [&](size_t at, auto value, const std::string& check,
                           ErrorCode code = ErrorCode::kCorrupt) {
    Bytes bytes = whole;
    std::memcpy(&bytes[at], &value, sizeof(value));
    WriteBytes(path, Sealed(bytes, length));
    ExpectFormatError([&] { BlockWindow::Load(path); }, check, at, code);
  };
  for (const uint32_t version : {0u, 2u, ~0u}) {
    refused(8, version, "version", ErrorCode::kUnsupported);
  }
  refused(12, uint32_t{64}, "header length");
  for (const uint32_t kind : {0u, 2u, 7u, ~0u}) {
    refused(16, kind, "filter kind", ErrorCode::kUnsupported);
  }
  refused(16, static_cast<uint32_t>(FilterKind::kBloom), "filter kind", ErrorCode::kUnsupported);
  for (const uint32_t filters : {0u, 1u, 65u, ~0u}) refused(20, filters, "filters");
  refused(24, uint64_t{0}, "window");
  for (const int64_t span :
       {int64_t{-1}, int64_t{windowed::kMaxSpan.count()} + 1, INT64_MIN, INT64_MAX}) {
    refused(32, span, "span");
  }
  refused(48, uint32_t{2}, "time flag");
  refused(52, uint32_t{1}, "reserved");
  refused(64, uint64_t{1}, "reserved");
  refused(112, uint64_t{1}, "reserved");
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{191}, length * 4, ~uint64_t{0}}) {
    refused(56, bytes, "filter length");
  }
  // Another window makes the filters of another capacity.
  Bytes bytes = whole;
  bytes[24] = 30;
  WriteBytes(path, Sealed(bytes, length));
  ExpectFormatError([&] { BlockWindow::Load(path); }, "capacity", 128 + 56);
  // Two filters, although there are three.
  bytes = whole;
  bytes[20] = 2;
  WriteBytes(path, Sealed(bytes, length));
  EXPECT_THROW(BlockWindow::Load(path), FormatError);
  // A time is an error in a window by keys, and so is a full newest filter.
  bytes = ReadBytes(GoldenPath("window_v1_keys"));
  std::memcpy(&length, &bytes[56], 8);
  const Bytes by_keys = bytes;
  bytes[48] = 1;
  WriteBytes(path, Sealed(bytes, length));
  ExpectFormatError([&] { BloomWindow::Load(path); }, "time flag", 48);
  bytes = by_keys;
  bytes[40] = 1;
  WriteBytes(path, Sealed(bytes, length));
  ExpectFormatError([&] { BloomWindow::Load(path); }, "time", 40);
  const size_t step = (length + 63) / 64 * 64;
  bytes = by_keys;  // the full filter twice
  std::copy_n(bytes.begin() + 128, step, bytes.begin() + static_cast<ptrdiff_t>(128 + step));
  WriteBytes(path, Sealed(bytes, length));
  ExpectFormatError([&] { BloomWindow::Load(path); }, "inserted", 128 + step + 64);
  // Any time is valid.
  for (const int64_t time : {INT64_MIN, int64_t{-1}, INT64_MAX}) {
    bytes = whole;
    std::memcpy(&bytes[40], &time, 8);
    uint64_t blocks_length = 0;
    std::memcpy(&blocks_length, &bytes[56], 8);
    WriteBytes(path, Sealed(bytes, blocks_length));
    BlockWindow window = BlockWindow::Load(path);
    EXPECT_EQ(window.time(), nanoseconds(time));
    window.Advance(nanoseconds::max());
    window.Insert(uint64_t{1});
    EXPECT_TRUE(window.Contains(uint64_t{1}));
  }
}

}  // namespace tamis::windowed_file_test
