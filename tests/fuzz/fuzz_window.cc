// Opens untrusted bytes as a window. For any bytes, the outcome is an Error or a window that can be
// used, and is saved as it was read. The checksums of the window are then replaced by the right
// ones, so that mutations reach the other checks.
#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tamis/engine/windowed_filter.h"
#include "tamis/error.h"
#include "tests/fuzz/memory_file.h"

namespace tamis {
namespace {

using std::chrono::nanoseconds;

template <typename F>
void Use(const std::string& path, const Bytes& bytes) {
  try {
    WindowedFilter<F> window = WindowedFilter<F>::Load(path);
    static const std::filesystem::path name =
        std::filesystem::temp_directory_path() / ("tamis_window." + std::to_string(getpid()));
    if (XXH3_64bits(bytes.data(), bytes.size()) % 32 == 0) {  // because saving waits for the disk
      window.Save(name);
      std::ifstream file(name, std::ios::binary);
      const Bytes saved{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
      // A window with filters of version 1 is saved in version 2.
      Require(saved.size() != bytes.size() || saved == bytes);
    }
    if (window.span() != nanoseconds(0)) {
      window.Advance(window.time().value_or(nanoseconds(0)));
      window.Advance(nanoseconds(1));
    }
    const std::vector<uint64_t> keys = {1, 2, 3, 1'000'000};
    std::vector<uint64_t> fresh(1);
    window.InsertIfAbsent(keys, Bitmap(fresh));
    Require(window.Contains(uint64_t{1'000'000}));
    Require(window.window() < 4 || window.Count(keys) == keys.size());
    window.expected_fpr();
    if (window.span() != nanoseconds(0)) window.Advance(nanoseconds::max());
    window.Insert(keys);
    Require(window.Contains(uint64_t{1'000'000}));
  } catch (const FormatError& error) {
    Require(error.offset() <= bytes.size());
  } catch (const Error& error) {
    Require(error.code() == ErrorCode::kSecret);
  }
}

void Open(const Bytes& bytes) {
  static MemoryFile file;
  const std::string path = file.Write(bytes);
  Use<SplitBlockBloomFilter>(path, bytes);
  Use<BloomFilter>(path, bytes);
}

void Put(Bytes& bytes, size_t at, uint64_t value) { std::memcpy(&bytes[at], &value, 8); }

// Puts the right checksums into the header and at the end, if the lengths allow this.
bool Seal(Bytes& bytes) {
  constexpr size_t kHeader = 128;
  if (bytes.size() < kHeader + 8) return false;
  Put(bytes, 120, XXH3_64bits(bytes.data(), 120));
  uint32_t filters = 0;
  uint64_t length = 0;
  std::memcpy(&filters, &bytes[20], 4);
  std::memcpy(&length, &bytes[56], 8);
  if (filters == 0 || filters > 64 || length < 192 || length > bytes.size()) return false;
  const size_t step = (length + 63) / 64 * 64;
  if (kHeader + filters * step + 8 != bytes.size()) return false;
  Bytes headers(bytes.begin(), bytes.begin() + kHeader);
  for (size_t i = 0; i < filters; ++i) {
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(kHeader + i * step);
    headers.insert(headers.end(), begin, begin + 192);
  }
  Put(bytes, bytes.size() - 8, XXH3_64bits(headers.data(), headers.size()));
  return true;
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tamis::Bytes bytes(data, data + size);
  tamis::Open(bytes);
  if (tamis::Seal(bytes)) tamis::Open(bytes);
  return 0;
}
