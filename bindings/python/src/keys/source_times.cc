// Reads times as keys. Another source yields them as counts of a unit.
#include <tamis/key_types_text.h>
#include <tamis/time_keys.h>

#include <limits>
#include <span>
#include <string>

#include "bindings/python/src/classes/gate.h"
#include "bindings/python/src/keys/key_source.h"

namespace tamis::python {
namespace {

class TimeSource final : public KeySource {
 public:
  TimeSource(std::unique_ptr<KeySource> counts, TimeUnit unit, bool has_not_a_time)
      : counts_(std::move(counts)), unit_(unit), has_not_a_time_(has_not_a_time) {}

  std::optional<uint64_t> size() const override { return counts_->size(); }

  bool Next(Keys& keys) override {
    if (rest_.empty() && !counts_->Next(rest_)) return false;
    const Keys some = rest_.Slice(0, kConvertedKeys);
    rest_ = rest_.Slice(some.size(), rest_.size());
    std::span<const int64_t> counts(some.data<int64_t>(), some.size());
    if (some.layout() == KeyLayout::kI32) {
      wide_.assign(some.data<int32_t>(), some.data<int32_t>() + some.size());
      counts = {wide_};
    }
    if (has_not_a_time_) {
      validity_.Clear();
      for (const int64_t count : counts) validity_.Add(count != kNotATime);
      times_.emplace(counts, unit_, validity_.bits());
    } else {
      times_.emplace(counts, unit_, some.validity(), some.first_bit());
    }
    keys = times_->keys();
    return true;
  }

 private:
  static constexpr int64_t kNotATime = std::numeric_limits<int64_t>::min();  // NumPy's NaT

  std::unique_ptr<KeySource> counts_;
  TimeUnit unit_;
  bool has_not_a_time_;
  Keys rest_;  // the rest of the current batch of `counts_`
  std::vector<int64_t> wide_;
  std::optional<TimeKeys> times_;
  Validity validity_;
};

}  // namespace

std::unique_ptr<KeySource> TimesFrom(std::unique_ptr<KeySource> counts, TimeUnit unit) {
  return std::make_unique<TimeSource>(std::move(counts), unit, false);
}

std::unique_ptr<KeySource> SourceOfTimes(nb::handle object, Numbers numbers) {
  if (!object.type().is(InKinds("Times"))) return nullptr;
  const auto unit = static_cast<TimeUnit>(nb::cast<int>(object.attr("unit")));
  // Callers with kBitsToo expect counts that are not converted to nanoseconds. With kNanos, no
  // conversion takes place.
  return std::make_unique<TimeSource>(SourceOfBuffer(object.attr("counts")),
                                      numbers == Numbers::kBitsToo ? TimeUnit::kNanos : unit, true);
}

void RequireSameSort(const Keys& keys, KeyTypes in_filter) {
  const KeyType form = keys.key_type();
  const bool asks_for_times = form == KeyType::kTime;
  const bool only_one_has_times =
      asks_for_times ? in_filter != KeyTypes() && !in_filter.Has(KeyType::kTime)
                     : form != KeyType::kUnknown && in_filter == KeyTypes(KeyType::kTime);
  if (!only_one_has_times || keys.CountValid() == 0) return;
  throw nb::type_error(("the keys are " + KeyTypesText(form) + ", and the keys of the filter are " +
                        KeyTypesText(in_filter) +
                        ": query it for keys as they were inserted, such as " +
                        (asks_for_times ? "integers of the same unit" : "a column of times"))
                           .c_str());
}

}  // namespace tamis::python
