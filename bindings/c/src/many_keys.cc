// Filters: many keys, by an engine or on the calling thread.
#include <cstddef>
#include <span>

#include "bindings/c/src/handles.h"
#include "bindings/c/src/key_array.h"
#include "bindings/c/src/lookup.h"
#include "tamis/c/filter.h"
#include "tamis/erasable_filter.h"

namespace tamis::c {
namespace {

class Lookups {
 public:
  Lookups(const tamis_filter* filter, const tamis_engine* engine)
      : filter_(FilterOf(filter)), engine_(EngineOf(engine)) {}

  template <typename Output>
  size_t Contains(const Keys& keys, Output out) const {
    return engine_ != nullptr ? engine_->Contains(filter_, keys, out) : filter_.Contains(keys, out);
  }
  template <typename Output>
  size_t Select(const Keys& keys, Output out) const {
    return engine_ != nullptr ? engine_->Select(filter_, keys, out) : filter_.Select(keys, out);
  }
  size_t Count(const Keys& keys) const {
    return engine_ != nullptr ? engine_->Count(filter_, keys) : filter_.Count(keys);
  }

 private:
  const Filter& filter_;
  const Engine* engine_;
};

// Insertion and erasure: change(run) and change(run, indices of the keys that it was not possible
// for) return how many keys it was possible for.
template <typename Change>
void ChangeMany(const tamis_keys* given, uint64_t* changed, const char* changed_name,
                uint64_t* others, uint64_t capacity, const char* others_name,
                const Change& change) {
  const WantedOutput changed_out(changed, changed_name);
  const KeyArray keys(given);
  uint64_t done = 0;
  if (others == nullptr) {
    keys.ForRuns([&](const Keys& run, size_t) { done += change(run); });
  } else {
    const std::span out = Room(others, capacity, keys.size(), others_name);
    keys.ForRuns([&](const Keys& run, size_t first) {
      const std::span run_out = out.subspan(first - done, run.size());
      const size_t n = change(run, run_out);
      for (uint64_t& index : run_out.first(first > 0 ? run.size() - n : 0)) index += first;
      done += n;
    });
  }
  changed_out.Set(done);
}

}  // namespace
}  // namespace tamis::c

using namespace tamis;
using namespace tamis::c;

tamis_status tamis_filter_contains_bitmap(const tamis_filter* filter, const tamis_engine* engine,
                                          const tamis_keys* keys, uint64_t* bits, uint64_t words,
                                          uint64_t* hits) {
  return Guard([&] { LookUpBitmap(Lookups(filter, engine), keys, bits, words, hits); });
}

tamis_status tamis_filter_contains_bytes(const tamis_filter* filter, const tamis_engine* engine,
                                         const tamis_keys* keys, uint8_t* bytes, uint64_t capacity,
                                         uint64_t* hits) {
  return Guard([&] { LookUpBytes(Lookups(filter, engine), keys, bytes, capacity, hits); });
}

tamis_status tamis_filter_select32(const tamis_filter* filter, const tamis_engine* engine,
                                   const tamis_keys* keys, uint32_t* indices, uint64_t capacity,
                                   uint64_t* hits) {
  return Guard([&] { LookUpIndices(Lookups(filter, engine), keys, indices, capacity, hits); });
}

tamis_status tamis_filter_select64(const tamis_filter* filter, const tamis_engine* engine,
                                   const tamis_keys* keys, uint64_t* indices, uint64_t capacity,
                                   uint64_t* hits) {
  return Guard([&] { LookUpIndices(Lookups(filter, engine), keys, indices, capacity, hits); });
}

tamis_status tamis_filter_count(const tamis_filter* filter, const tamis_engine* engine,
                                const tamis_keys* keys, uint64_t* hits) {
  return Guard([&] { LookUpCount(Lookups(filter, engine), keys, hits); });
}

tamis_status tamis_filter_insert(tamis_filter* filter, const tamis_engine* engine,
                                 const tamis_keys* keys, uint64_t* inserted, uint64_t* rejected,
                                 uint64_t rejected_capacity) {
  return Guard([&] {
    ChangeableFilter& into = RequireChangeable(FilterOf(filter));
    const Engine* const by = EngineOf(engine);
    ChangeMany(keys, inserted, "inserted", rejected, rejected_capacity, "rejected",
               [&](const Keys& run, auto... out) {
                 return by != nullptr ? by->Insert(into, run, out...) : into.Insert(run, out...);
               });
  });
}

tamis_status tamis_filter_insert_if_absent(tamis_filter* filter, const tamis_engine* engine,
                                           const tamis_keys* given, uint64_t* fresh,
                                           uint64_t* rejected, uint64_t words,
                                           uint64_t* num_fresh) {
  return Guard([&] {
    ChangeableFilter& into = RequireChangeable(FilterOf(filter));
    const Engine* const by = EngineOf(engine);
    const WantedOutput num_fresh_out(num_fresh, "num_fresh");
    const KeyArray keys(given);
    const uint64_t needed = BitmapWords(keys.size());
    const std::span fresh_words = Room(fresh, words, needed, "fresh");
    std::span<uint64_t> rejected_words;
    if (rejected != nullptr) rejected_words = Room(rejected, words, needed, "rejected");
    const auto insert = [&](const Keys& run, auto... out) {
      return by != nullptr ? by->InsertIfAbsent(into, run, out...)
                           : into.InsertIfAbsent(run, out...);
    };
    uint64_t new_keys = 0;
    keys.ForRuns([&](const Keys& run, size_t first) {
      const Bitmap bits = BitsOf(fresh_words, first, run.size());
      new_keys += rejected != nullptr ? insert(run, bits, BitsOf(rejected_words, first, run.size()))
                                      : insert(run, bits);
    });
    num_fresh_out.Set(new_keys);
  });
}

tamis_status tamis_filter_erase(tamis_filter* filter, const tamis_engine* engine,
                                const tamis_keys* keys, uint64_t* erased, uint64_t* missing,
                                uint64_t missing_capacity) {
  return Guard([&] {
    ErasableFilter& from = ErasableFilterOf(filter);
    const Engine* const by = EngineOf(engine);
    ChangeMany(keys, erased, "erased", missing, missing_capacity, "missing",
               [&](const Keys& run, auto... out) {
                 return by != nullptr ? by->Erase(from, run, out...) : from.Erase(run, out...);
               });
  });
}
