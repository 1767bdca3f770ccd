#include "bench/suite/turns.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "bench/workload.h"

namespace tamis::bench {
namespace {

// The physical pages of a filter differ from run to run, and change its speed in the last-level
// cache. So repetitions use several places in memory in turns, and medians are over these places.
// For a large filter this is not necessary, because it has many pages.
constexpr size_t kTurnPlaces = 4;
constexpr uint64_t kMaxPlaceBytes = 64 * kMiB;

// Returns the bytes that a filter of that size needs. Kinds need different numbers of bytes per
// key. So this opens a filter of about that size and reads its bytes and capacity.
uint64_t BytesFor(Subject& subject, const SizeClass& size) {
  if (size.num_keys == 0) return size.bytes;
  Arena arena(ArenaBytes(size.bytes));
  subject.Open(arena, size.bytes);
  const auto bytes = static_cast<double>(subject.bytes());
  const auto keys = static_cast<double>(subject.capacity());
  subject.Close();
  if (keys == static_cast<double>(size.num_keys)) return size.bytes;
  return static_cast<uint64_t>(std::ceil(static_cast<double>(size.num_keys) * bytes / keys));
}

bool AsksForColumns(const Contender& contender) {
  return std::any_of(contender.others.begin(), contender.others.end(),
                     [](const Case& c) { return ColumnLength(c.form) > 0; });
}

}  // namespace

Turns::Turns(const SizeClass& size_class, std::vector<Contender> all, bool strings)
    : size(size_class), contenders(std::move(all)) {
  uint64_t most = size.bytes;
  for (Contender& contender : contenders) {
    contender.bytes = BytesFor(*contender.subject, size);
    most = std::max(most, contender.bytes);
  }
  const size_t places = most <= kMaxPlaceBytes ? kTurnPlaces : 1;
  for (size_t i = 0; i < places; ++i) huge_places.emplace_back(ArenaBytes(most));
  uint64_t fewest = std::numeric_limits<uint64_t>::max();
  bool need_plain = false;
  for (const Contender& contender : contenders) {
    contender.subject->Open(arena(true), contender.bytes);
    fewest = std::min(fewest, contender.subject->capacity());
    contender.subject->Close();
    need_plain = need_plain || !contender.huge_pages;
  }
  if (need_plain) plain.emplace(ArenaBytes(most), false);
  const bool columns = std::any_of(contenders.begin(), contenders.end(), AsksForColumns);
  std::vector<KeyType> forms;
  if (strings) forms.assign(std::begin(kViewForms), std::end(kViewForms));
  if (columns) forms.insert(forms.end(), std::begin(kColumnForms), std::end(kColumnForms));
  keys.emplace(size.bytes, fewest, forms);
  lines.emplace(size.bytes, num_lines());
  answers.emplace(keys->num_queries(KeyType::kU64));
}

uint64_t Turns::num_lines() const {
  return std::min<uint64_t>(keys->num_queries(KeyType::kU64), kMaxLimitLines);
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
