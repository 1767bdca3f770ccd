// Filters: queries and changes of many keys, on an engine or on the calling thread.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <variant>

#include "bindings/c/src/handles.h"
#include "bindings/c/src/key_array.h"
#include "bindings/c/src/room.h"
#include "bindings/c/src/select_from.h"
#include "tamis/c/filter.h"
#include "tamis/changes.h"
#include "tamis/detail/str_cat.h"
#include "tamis/filters/blocks_queryable.h"
#include "tamis/filters/erasable_filter.h"

namespace tamis::c {
namespace {

// Queries runs of keys. Its functions return the number of keys that may be in.
class Query {
 public:
  Query(const tamis_filter* filter, const tamis_engine* engine, const tamis_keys* keys)
      : queryable_(QueryableOf(filter)), engine_(EngineOf(engine)), keys_(keys) {}

  uint64_t Bits(uint64_t* bits, uint64_t words) const {
    const std::span out = Room(bits, words, BitmapWords(keys_.size()), "bits");
    return Runs([&](const auto& by, const Keys& run, size_t first, uint64_t) {
      return by.Contains(run, Bitmap(out.subspan(first / 64, BitmapWords(run.size()))));
    });
  }

  uint64_t Bytes(uint8_t* bytes, uint64_t capacity) const {
    const std::span out = Room(bytes, capacity, keys_.size(), "bytes");
    return Runs([&](const auto& by, const Keys& run, size_t first, uint64_t) {
      return by.Contains(run, out.subspan(first, run.size()));
    });
  }

  template <typename Row>
  uint64_t Rows(Row* rows, uint64_t capacity) const {
    if (keys_.size() > 0 && keys_.size() - 1 > std::numeric_limits<Row>::max()) {
      Refuse(detail::StrCat(keys_.size(), " keys have indices that do not fit into 32 bits"));
    }
    const std::span out = Room(rows, capacity, keys_.size(), "indices");
    return Runs([&](const auto& by, const Keys& run, size_t first, uint64_t found) {
      const std::span run_out = out.subspan(found, run.size());
      const size_t n = by.Select(run, run_out);
      for (Row& row : run_out.first(first > 0 ? n : 0)) row += static_cast<Row>(first);
      return n;
    });
  }

  uint64_t Count() const {
    return Runs([&](const auto& by, const Keys& run, size_t, uint64_t) { return by.Count(run); });
  }

 private:
  struct ByEngine {
    template <typename Out>
    size_t Contains(const Keys& keys, Out out) const {
      return engine.Contains(queryable, keys, out);
    }
    template <typename Out>
    size_t Select(const Keys& keys, Out out) const {
      return engine.Select(queryable, keys, out);
    }
    size_t Count(const Keys& keys) const { return engine.Count(queryable, keys); }

    const Engine& engine;
    const Queryable& queryable;
  };

  // Calls ask(by, run, first, found) for each run, and returns the sum of the results. `by` is the
  // engine or the filter, `first` the index of the run's first key, and `found` the sum so far.
  template <typename Ask>
  uint64_t Runs(const Ask& ask) const {
    uint64_t found = 0;
    keys_.ForRuns([&](const Keys& run, size_t first) {
      found += engine_ != nullptr ? ask(ByEngine{*engine_, queryable_}, run, first, found)
                                  : ask(queryable_, run, first, found);
    });
    return found;
  }

  const Queryable& queryable_;
  const Engine* engine_;
  const KeyArray keys_;
};

uint64_t Write(const Query& query, uint32_t output, void* out, uint64_t capacity) {
  switch (output) {
    case TAMIS_BITS:
      return query.Bits(static_cast<uint64_t*>(out), capacity);
    case TAMIS_BYTES:
      return query.Bytes(static_cast<uint8_t*>(out), capacity);
    case TAMIS_ROWS32:
      return query.Rows(static_cast<uint32_t*>(out), capacity);
    case TAMIS_ROWS64:
      return query.Rows(static_cast<uint64_t*>(out), capacity);
    case TAMIS_COUNT:
      return query.Count();
    default:
      Refuse(detail::StrCat("output is ", output, ", must be one of TAMIS_BITS to TAMIS_COUNT"));
  }
}

// A filter to change, and the keys of a call.
class Target {
 public:
  Target(tamis_filter* filter, const tamis_engine* engine, const tamis_keys* keys)
      : filter_(FilterIn(filter)),
        changeable_(filter_ != nullptr ? *filter_ : ChangeableIn(filter)),
        engine_(filter_ != nullptr ? EngineOf(engine) : nullptr),
        keys_(keys,
              changeable_.change_traits().whole_calls ? KeyArray::kOneRun : KeyArray::kRunKeys) {}

  const KeyArray& keys() const noexcept { return keys_; }

  template <typename... Outputs>
  size_t Insert(const Keys& run, Outputs... outputs) const {
    if (engine_ != nullptr) return engine_->Insert(*filter_, run, outputs...);
    return tamis::Insert(changeable_, run, outputs...);
  }

  template <typename... Outputs>
  size_t InsertIfAbsent(const Keys& run, Outputs... outputs) const {
    if (engine_ != nullptr) return engine_->InsertIfAbsent(*filter_, run, outputs...);
    return tamis::InsertIfAbsent(changeable_, run, outputs...);
  }

  template <typename... Outputs>
  size_t Erase(const Keys& run, Outputs... outputs) const {
    if (filter_ == nullptr) return tamis::Erase(changeable_, run, outputs...);
    ErasableFilter& filter = RequireErasable(*filter_);
    return engine_ != nullptr ? engine_->Erase(filter, run, outputs...)
                              : filter.Erase(run, outputs...);
  }

 private:
  static ChangeableFilter* FilterIn(tamis_filter* filter) {
    const auto* const found = std::get_if<AnyFilter>(&Required(filter, "filter").object);
    return found != nullptr ? &Writable(**found) : nullptr;
  }

  static Changeable& ChangeableIn(tamis_filter* filter) {
    auto* const blocks = std::get_if<BlocksQueryable>(&filter->object);
    if (blocks != nullptr) return *blocks;
    auto* const foreign = std::get_if<ForeignFilter>(&filter->object);
    if (foreign == nullptr) RefuseJoinChange();
    return *foreign;
  }

  ChangeableFilter* filter_;
  Changeable& changeable_;
  const Engine* engine_;
  KeyArray keys_;
};

// Inserts or erases keys by calling change(run), or change(run, indices) if `others` is not
// nullptr. `change` returns the number of changed keys, and writes the indices of the others to
// `indices`.
template <typename Change>
void ChangeMany(const KeyArray& keys, uint64_t* changed, const char* changed_name, uint64_t* others,
                uint64_t capacity, const char* others_name, const Change& change) {
  const WantedOutput changed_out(changed, changed_name);
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

tamis_status tamis_filter_query(const tamis_filter* filter, const tamis_engine* engine,
                                const tamis_keys* keys, uint32_t output, void* out,
                                uint64_t capacity, uint64_t* hits) {
  return Guard([&] {
    if (output == TAMIS_COUNT) Required(hits, "hits");
    const WantedOutput hits_out(hits, "hits");
    hits_out.Set(Write(Query(filter, engine, keys), output, out, capacity));
  });
}

tamis_status tamis_filter_select_from(const tamis_filter* filter, const tamis_keys* keys,
                                      const uint32_t* selection, uint64_t num_selected,
                                      uint32_t* rows, uint64_t capacity, uint64_t* hits) {
  return Guard([&] {
    const Queryable& queryable = QueryableOf(filter);
    SelectFrom(keys, selection, num_selected, rows, capacity, hits,
               [&](const Keys& all, auto chosen, auto out) {
                 return queryable.SelectFrom(all, chosen, out);
               });
  });
}

tamis_status tamis_filter_insert(tamis_filter* filter, const tamis_engine* engine,
                                 const tamis_keys* keys, uint64_t* inserted, uint64_t* rejected,
                                 uint64_t rejected_capacity) {
  return Guard([&] {
    const Target target(filter, engine, keys);
    ChangeMany(target.keys(), inserted, "inserted", rejected, rejected_capacity, "rejected",
               [&](const Keys& run, auto... out) { return target.Insert(run, out...); });
  });
}

tamis_status tamis_filter_insert_if_absent(tamis_filter* filter, const tamis_engine* engine,
                                           const tamis_keys* keys, uint64_t* fresh,
                                           uint64_t* rejected, uint64_t words,
                                           uint64_t* num_fresh) {
  return Guard([&] {
    const Target target(filter, engine, keys);
    const WantedOutput fresh_count(num_fresh, "num_fresh");
    const size_t needed = BitmapWords(target.keys().size());
    const std::span fresh_out = Room(fresh, words, needed, "fresh");
    std::span<uint64_t> rejected_out;
    if (rejected != nullptr) rejected_out = Room(rejected, words, needed, "rejected");
    uint64_t sum = 0;
    target.keys().ForRuns([&](const Keys& run, size_t first) {
      const auto words_of = [&](std::span<uint64_t> all) {
        return Bitmap(all.subspan(first / 64, BitmapWords(run.size())));
      };
      sum += rejected != nullptr
                 ? target.InsertIfAbsent(run, words_of(fresh_out), words_of(rejected_out))
                 : target.InsertIfAbsent(run, words_of(fresh_out));
    });
    fresh_count.Set(sum);
  });
}

tamis_status tamis_filter_erase(tamis_filter* filter, const tamis_engine* engine,
                                const tamis_keys* keys, uint64_t* erased, uint64_t* missing,
                                uint64_t missing_capacity) {
  return Guard([&] {
    const Target target(filter, engine, keys);
    ChangeMany(target.keys(), erased, "erased", missing, missing_capacity, "missing",
               [&](const Keys& run, auto... out) { return target.Erase(run, out...); });
  });
}
