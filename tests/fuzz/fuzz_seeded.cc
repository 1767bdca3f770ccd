// Tests that fuzzing finds defects: this target has the defect that TAMIS_FUZZ_DEFECT names, for
// inputs that begin with "taMi". Without TAMIS_FUZZ_DEFECT, nothing may be found.
// `tests/campaigns/fuzz.py --self-test` runs this target.
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "tamis/error.h"
#include "tamis/formats/kvrocks.h"
#include "tests/fuzz/memory_file.h"

namespace tamis {
namespace {

// Lets the library read `size` bytes from `data` on.
void ReadChain(const std::byte* data, size_t size) {
  try {
    kvrocks::ReadChain(std::span(data, size));
  } catch (const FormatError&) {
    return;
  }
}

void* volatile kept;

void Work(std::chrono::seconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) continue;
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tamis;
  static const char* const text = std::getenv("TAMIS_FUZZ_DEFECT");
  const std::string_view defect = text == nullptr ? "" : text;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto all = std::as_bytes(std::span(data, size));
  const std::vector<std::byte> bytes(all.begin(), all.end());
  ReadChain(bytes.data(), size);
  if (static bool first = true; first && defect == "slow" && input.starts_with("taM")) {
    first = false;
    Work(std::chrono::seconds(2));  // not too long
  }
  if (!input.starts_with("taMi")) return 0;
  if (defect == "answer") {
    Require(input.find('\xFF') == std::string_view::npos);
  } else if (defect == "overrun") {
    constexpr size_t kRecord = 37;  // more than the input has
    ReadChain(bytes.data() + 4, kRecord);
  } else if (defect == "overflow") {
    volatile int most = INT_MAX;
    most = most + static_cast<int>(size);
  } else if (defect == "leak") {
    kept = std::malloc(size);
    kept = nullptr;
  } else if (defect == "slow") {
    Work(std::chrono::seconds(60));
  } else if (defect == "wait") {
    std::this_thread::sleep_for(std::chrono::seconds(5));
  } else if (defect == "hang") {
    std::this_thread::sleep_for(std::chrono::hours(24));
  } else if (defect == "memory") {
    kept = std::malloc(size_t{1} << 30);
    std::free(kept);
  }
  return 0;
}
