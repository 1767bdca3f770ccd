#include "tamis/live/guard_stats.h"

#include <utility>

#include "tamis/detail/str_cat.h"

namespace tamis {
namespace {

std::string Label(const std::string& name) {
  std::string label = "{guard=\"";
  for (const char c : name) {
    if (c == '\\' || c == '"') label += '\\';
    label += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return label + "\"} ";
}

// Formats seconds with a decimal point in every locale.
std::string Seconds(std::chrono::nanoseconds time) {
  constexpr int64_t kPerSecond = 1'000'000'000;
  std::string fraction = std::to_string(time.count() % kPerSecond);
  fraction.insert(0, 9 - fraction.size(), '0');
  return detail::StrCat(time.count() / kPerSecond, '.', fraction);
}

class Text {
 public:
  explicit Text(const std::vector<NamedGuardStats>& guards) : guards_(guards) {}

  void Counter(const std::string& name, const char* help, uint64_t GuardStats::*field) {
    Metric("tamis_guard_" + name + "_total", "counter", help,
           [=](const GuardStats& stats) { return std::to_string(stats.*field); });
  }
  template <typename Value>
  void Gauge(const std::string& name, const char* help, const Value& value) {
    Metric("tamis_guard_" + name, "gauge", help, value);
  }

  std::string Take() { return std::move(text_); }

 private:
  // Writes all lines of a metric together, as the format requires.
  template <typename Value>
  void Metric(const std::string& metric, const char* type, const char* help, const Value& value) {
    text_ += "# HELP " + metric + ' ' + help + "\n# TYPE " + metric + ' ' + type + '\n';
    for (const NamedGuardStats& guard : guards_) {
      text_ += metric + Label(guard.name) + value(guard.stats) + '\n';
    }
  }

  const std::vector<NamedGuardStats>& guards_;
  std::string text_;
};

}  // namespace

std::string PrometheusText(const std::vector<NamedGuardStats>& guards) {
  Text text(guards);
  text.Counter("blocked", "Keys for which the filter answered no.", &GuardStats::blocked);
  text.Counter("passed", "Keys that passed: the filter answered maybe, or no filter was usable.",
               &GuardStats::passed);
  text.Counter("unknown", "Keys that passed because no filter was usable.", &GuardStats::unknown);
  text.Counter("other_type", "Keys that passed because the filter had only keys of another type.",
               &GuardStats::other_type);
  text.Counter("cache_hits", "Keys found in the cache.", &GuardStats::cache_hits);
  text.Counter("negative_hits", "Keys whose database miss was cached.", &GuardStats::negative_hits);
  text.Counter("coalesced", "Keys that another call was already loading.", &GuardStats::coalesced);
  text.Counter("loads", "Keys queried in the database.", &GuardStats::loads);
  text.Counter("false_positives",
               "Keys for which the filter answered maybe, and which the database lacked.",
               &GuardStats::false_positives);
  text.Counter("load_failures", "Keys for which the query of the database failed.",
               &GuardStats::load_failures);
  text.Counter("cache_failures", "Failed calls of the cache.", &GuardStats::cache_failures);
  text.Gauge("negatives", "Keys whose database miss is cached now.",
             [](const GuardStats& stats) { return std::to_string(stats.negatives); });
  text.Gauge("filter_known", "1 if the filter is usable, otherwise 0.",
             [](const GuardStats& stats) { return std::to_string(stats.known ? 1 : 0); });
  text.Gauge("filter_generation", "Generation of the filter; 0 if there is no filter.",
             [](const GuardStats& stats) { return std::to_string(stats.generation); });
  text.Gauge("filter_age_seconds", "Age of the filter.",
             [](const GuardStats& stats) { return Seconds(stats.age); });
  return text.Take();
}

}  // namespace tamis
