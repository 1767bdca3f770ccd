#include "tamis/time_keys.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "tamis/detail/compiler.h"

namespace tamis {
namespace {

// A signed integer of 128 bits in memory.
struct Nanos {
  int64_t low;
  int64_t high;
};

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

}  // namespace

struct TimeKeys::Converted {
  std::vector<int64_t> nanos;
  // The counts that need more than 64 bits.
  std::vector<Nanos> wide;
  std::vector<std::string_view> bytes;
};

TimeKeys::TimeKeys(std::span<const int64_t> counts, TimeUnit unit, const uint8_t* validity,
                   uint64_t first_bit)
    : keys_(Keys(counts).WithValidity(validity, first_bit)) {
  const int64_t factor = NanosPer(unit);
  if (factor != 1) {
    converted_ = std::make_unique<Converted>();
    const auto overflows = [factor](int64_t count) {
      int64_t nanos;
      return detail::MultiplyOverflows(count, factor, &nanos);
    };
    std::vector<int64_t>& nanos_or_counts = converted_->nanos;
    nanos_or_counts.assign(counts.begin(), counts.end());
    for (size_t i = 0; validity != nullptr && i < counts.size(); ++i) {
      if (!keys_.IsValid(i)) nanos_or_counts[i] = 0;
    }
    if (std::none_of(nanos_or_counts.begin(), nanos_or_counts.end(), overflows)) {
      for (int64_t& count : nanos_or_counts) count *= factor;
      keys_ = nanos_or_counts;
    } else {
      converted_->wide.reserve(counts.size());  // so that views of them stay valid
      for (const int64_t count : nanos_or_counts) {
        Nanos& nanos = converted_->wide.emplace_back();
        const bool wide = detail::MultiplyOverflows(count, factor, &nanos.low);
        nanos.high = detail::SignedHighProduct(count, factor);
        converted_->bytes.emplace_back(reinterpret_cast<const char*>(&nanos),
                                       wide ? sizeof(nanos) : sizeof(nanos.low));
      }
      keys_ = converted_->bytes;
    }
  }
  keys_ = keys_.WithKeyType(KeyType::kTime).WithValidity(validity, first_bit);
}

TimeKeys::TimeKeys(TimeKeys&&) noexcept = default;
TimeKeys& TimeKeys::operator=(TimeKeys&&) noexcept = default;
TimeKeys::~TimeKeys() = default;

}  // namespace tamis
