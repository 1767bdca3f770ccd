#include "bench/suite/turns.h"

#include <algorithm>
#include <limits>

namespace tamis::bench {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// Which physical pages a filter gets changes its speed in the last-level cache, and differs from
// run to run: so repetitions take turns in several places, and medians are over these, too. A large
// filter has so many pages that they are alike.
constexpr size_t kPlaces = 4;
constexpr uint64_t kMaxPlaceBytes = 64 * kMiB;

}  // namespace

Turns::Turns(const SizeClass& size_class, std::vector<Contender> all)
    : size(size_class), contenders(std::move(all)) {
  const size_t places = size.bytes <= kMaxPlaceBytes ? kPlaces : 1;
  for (size_t i = 0; i < places; ++i) huge_places.emplace_back(ArenaBytes(size.bytes));
  uint64_t fewest = std::numeric_limits<uint64_t>::max();
  bool need_plain = false;
  for (const Contender& contender : contenders) {
    contender.subject->Open(arena(true), size.bytes);
    fewest = std::min(fewest, contender.subject->capacity());
    contender.subject->Close();
    need_plain = need_plain || !contender.huge_pages;
  }
  if (need_plain) plain.emplace(ArenaBytes(size.bytes), false);
  keys.emplace(size.bytes, fewest);
  lines.emplace(size.bytes, num_lines());
  answers.emplace(keys->num_queries(KeyForm::kU64));
}

uint64_t Turns::num_lines() const {
  return std::min<uint64_t>(keys->num_queries(KeyForm::kU64), kMaxLimitLines);
}

double Turns::LimitNs(const Case& c, bool huge_pages) const {
  const auto found = line_ns.find({c.threads, huge_pages});
  return found == line_ns.end() || IsAccelerator(c.backend) ? 0 : found->second;
}

double Turns::SecondsUntil(size_t count) const {
  return repetition_seconds * static_cast<double>(count - std::min(count, repetition));
}

void Turns::AddLimit(const Limit& sample, double per_second) {
  const auto same = [&](const Limit& limit) {
    return limit.name == sample.name && limit.threads == sample.threads &&
           limit.huge_pages == sample.huge_pages;
  };
  auto found = std::find_if(limits.begin(), limits.end(), same);
  if (found == limits.end()) found = limits.insert(limits.end(), sample);
  found->method = sample.method;
  found->per_second.push_back(per_second);
}

}  // namespace tamis::bench
