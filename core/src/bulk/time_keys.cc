#include "tamis/time_keys.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace tamis {
namespace {

__extension__ using Nanos = __int128;

constexpr int64_t NanosPer(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kDays:
      return 86'400'000'000'000;
    case TimeUnit::kSeconds:
      return 1'000'000'000;
    case TimeUnit::kMillis:
      return 1'000'000;
    case TimeUnit::kMicros:
      return 1'000;
    case TimeUnit::kNanos:
      break;
  }
  return 1;
}

bool FitsIn64Bits(Nanos nanos) { return nanos == static_cast<int64_t>(nanos); }

}  // namespace

struct TimeKeys::Converted {
  std::vector<int64_t> nanos;
  // The counts that need more than 64 bits.
  std::vector<Nanos> wide;
  std::vector<std::string_view> bytes;
};

TimeKeys::TimeKeys(std::span<const int64_t> counts, TimeUnit unit) : keys_(counts) {
  const int64_t factor = NanosPer(unit);
  if (factor != 1) {
    converted_ = std::make_unique<Converted>();
    const auto nanos_of = [factor](int64_t count) { return Nanos{count} * factor; };
    const bool fit = std::all_of(counts.begin(), counts.end(),
                                 [&](int64_t count) { return FitsIn64Bits(nanos_of(count)); });
    if (fit) {
      std::vector<int64_t>& nanos = converted_->nanos;
      nanos.reserve(counts.size());
      for (const int64_t count : counts) nanos.push_back(count * factor);
      keys_ = nanos;
    } else {
      converted_->wide.reserve(counts.size());  // so that views of them stay valid
      for (const int64_t count : counts) {
        const Nanos& nanos = converted_->wide.emplace_back(nanos_of(count));
        converted_->bytes.emplace_back(reinterpret_cast<const char*>(&nanos),
                                       FitsIn64Bits(nanos) ? sizeof(int64_t) : sizeof(nanos));
      }
      keys_ = converted_->bytes;
    }
  }
  keys_ = keys_.WithKeyType(KeyType::kTime);
}

TimeKeys::TimeKeys(TimeKeys&&) noexcept = default;
TimeKeys& TimeKeys::operator=(TimeKeys&&) noexcept = default;
TimeKeys::~TimeKeys() = default;

}  // namespace tamis
