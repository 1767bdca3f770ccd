#include "tamis/join/join_probe.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis {
namespace {

// Costs fall if a sample costs less than this share of the sample before (bench/NOTES_JOIN.md).
constexpr double kStillFalls = 0.95;
// A filter that is not in the caches costs at most this many times as much as later.
constexpr double kMostCold = 8;

}  // namespace

const char* JoinVerdictName(JoinVerdict verdict) noexcept {
  switch (verdict) {
    case JoinVerdict::kKeep:
      return "keep";
    case JoinVerdict::kTryAgainLater:
      return "try again later";
    case JoinVerdict::kSwitchOff:
      return "switch off";
  }
  return "unknown";
}

JoinProbe::JoinProbe(const JoinFilter& filter, const JoinProbeOptions& options)
    : filter_(&filter), options_(options) {
  const bool good = options.row_ns >= 0 && std::isfinite(options.row_ns) &&
                    options.sample_rows > 0 && options.margin >= 1 &&
                    std::isfinite(options.margin) && options.pause_rows > 0;
  if (good) return;
  throw Error(ErrorCode::kInvalidArgument,
              "row_ns must be finite and at least 0, margin finite and at least 1, sample_rows and "
              "pause_rows above 0");
}

bool JoinProbe::Wanted(uint64_t rows) noexcept {
  if (filter_->form() == JoinForm::kNothing || verdict_ == JoinVerdict::kSwitchOff) {
    counters_.skipped += rows;
    return false;
  }
  if (pause_left_ == 0) return true;
  pause_left_ -= std::min(pause_left_, rows);
  counters_.skipped += rows;
  return false;
}

template <typename Call>
size_t JoinProbe::Timed(uint64_t rows, const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  const size_t passed = call();
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
  Record(rows, passed, time.count());
  return passed;
}

size_t JoinProbe::Contains(const Keys& keys, Bitmap out) {
  return Timed(keys.size(), [&] { return filter_->Contains(keys, out); });
}

size_t JoinProbe::Contains(const Keys& keys, std::span<uint8_t> out) {
  return Timed(keys.size(), [&] { return filter_->Contains(keys, out); });
}

size_t JoinProbe::Select(const Keys& keys, std::span<uint32_t> out) {
  return Timed(keys.size(), [&] { return filter_->Select(keys, out); });
}

size_t JoinProbe::SelectFrom(const Keys& keys, std::span<const uint32_t> selection,
                             std::span<uint32_t> out) {
  return Timed(selection.size(), [&] { return filter_->SelectFrom(keys, selection, out); });
}

void JoinProbe::Record(uint64_t rows, uint64_t passed, double ns) noexcept {
  if (!(ns >= 0 && std::isfinite(ns))) return;
  counters_.rows += rows;
  counters_.passed += passed;
  counters_.ns += ns;
  // Before completion, and without a structure, all keys pass, which says nothing about the filter.
  if (filter_->form() == JoinForm::kNothing) return;
  rows_ += rows;
  passed_ += passed;
  ns_ += ns;
  if (rows_ >= options_.sample_rows) EndSample();
}

void JoinProbe::EndSample() noexcept {
  const auto rows = static_cast<double>(std::exchange(rows_, 0));
  const double cost = std::exchange(ns_, 0) / rows;
  const double pass_rate = static_cast<double>(std::exchange(passed_, 0)) / rows;
  const double saved = (1 - pass_rate) * options_.row_ns;
  ++counters_.samples;
  counters_.last_pass_rate = pass_rate;
  counters_.last_ns_per_row = cost;
  // Otherwise, a sample after a pause would measure a filter that is not in the caches.
  const bool warms_up =
      cost < kStillFalls * std::exchange(last_cost_, cost) && cost < kMostCold * saved;
  const bool was_off = verdict_ != JoinVerdict::kKeep;
  // In between, the verdict stays as it is.
  const bool pays = was_off ? saved > options_.margin * cost : cost <= options_.margin * saved;
  if (pays) {
    failed_ = pauses_ = 0;
    return Set(JoinVerdict::kKeep);
  }
  if (warms_up) return;
  ++failed_;
  if (!was_off && failed_ < 2) return;
  if (pauses_ >= options_.max_pauses) return Set(JoinVerdict::kSwitchOff);
  constexpr uint32_t kMostDoublings = 32;
  const uint32_t doublings = std::min(pauses_, kMostDoublings);
  pause_left_ = options_.pause_rows << doublings >> doublings == options_.pause_rows
                    ? options_.pause_rows << doublings
                    : ~uint64_t{0};
  ++pauses_;
  last_cost_ = std::numeric_limits<double>::infinity();
  Set(JoinVerdict::kTryAgainLater);
}

void JoinProbe::Set(JoinVerdict verdict) noexcept {
  if (verdict != verdict_) ++counters_.switches;
  verdict_ = verdict;
}

std::string JoinProbe::Counters::ToText() const {
  const auto per_mille = [](double share) { return std::llround(1000 * share); };
  const long long picoseconds = rows == 0 ? 0 : std::llround(1000 * ns / static_cast<double>(rows));
  return detail::StrCat("rows ", rows, ", passed ", passed, ", skipped ", skipped, ", samples ",
                        samples, ", switches ", switches, ", ps per row ", picoseconds,
                        ", last sample: passed per 1000 ", per_mille(last_pass_rate),
                        ", ps per row ", std::llround(1000 * last_ns_per_row));
}

}  // namespace tamis
