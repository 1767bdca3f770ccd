// The objects behind handles.
#ifndef TAMIS_BINDINGS_C_SRC_HANDLES_H_
#define TAMIS_BINDINGS_C_SRC_HANDLES_H_

#include <memory>
#include <string>
#include <variant>

#include "bindings/c/src/guard.h"
#include "tamis/bank/filter_bank.h"
#include "tamis/c.h"
#include "tamis/engine/engine.h"
#include "tamis/filters/any_filter.h"
#include "tamis/filters/blocks_queryable.h"
#include "tamis/filters/changeable_filter.h"
#include "tamis/filters/erasable_filter.h"
#include "tamis/formats/foreign_filter.h"
#include "tamis/join/join_filter.h"

struct tamis_filter {
  std::variant<tamis::AnyFilter, tamis::BlocksQueryable, tamis::ForeignFilter,
               std::unique_ptr<tamis::JoinFilter>>
      object;
};

struct tamis_bank {
  tamis::FilterBank bank;
};

struct tamis_engine {
  tamis::EngineOptions options;  // plans are made with these
  tamis::Engine engine;
};

namespace tamis::c {

inline const Queryable& AsQueryable(const AnyFilter& filter) { return *filter; }
inline const Queryable& AsQueryable(const std::unique_ptr<JoinFilter>& join) { return *join; }
inline const Queryable& AsQueryable(const Queryable& other) { return other; }

inline const Queryable& QueryableOf(const tamis_filter* filter) {
  return std::visit([](const auto& object) -> const Queryable& { return AsQueryable(object); },
                    Required(filter, "filter").object);
}

// Throws Error(kUnsupported): "a view cannot be `action`".
[[noreturn]] void RefuseAction(const tamis_filter& filter, const char* action);

// Returns the filter of tamis behind the handle. For another sort of filter, throws
// Error(kUnsupported), whose message contains `action`.
inline Filter& FilterOf(const tamis_filter* filter, const char* action) {
  const auto* const found = std::get_if<AnyFilter>(&Required(filter, "filter").object);
  if (found == nullptr) RefuseAction(*filter, action);
  return **found;
}

// Throws Error(kUnsupported) for a handle that is not a join filter.
JoinFilter& JoinOf(const tamis_filter* filter);
// Throws Error(kUnsupported): keys are inserted into the parts of a join filter.
[[noreturn]] void RefuseJoinChange();

// Throws Error(kReadOnly) for a filter that cannot be changed. The C++ functions for one key do not
// check this.
inline ChangeableFilter& Writable(Filter& filter) {
  ChangeableFilter& changeable = RequireChangeable(filter);
  if (filter.read_only()) {
    Refuse("the filter is mapped, and cannot be changed", ErrorCode::kReadOnly);
  }
  return changeable;
}

// Throws Error(kUnsupported) for a filter that cannot erase keys.
ErasableFilter& RequireErasable(ChangeableFilter& filter);

inline const FilterBank& BankOf(const tamis_bank* bank) { return Required(bank, "bank").bank; }
inline FilterBank& BankOf(tamis_bank* bank) { return Required(bank, "bank").bank; }

// Returns nullptr for NULL.
inline const Engine* EngineOf(const tamis_engine* engine) noexcept {
  return engine != nullptr ? &engine->engine : nullptr;
}

// Sets *out to a new handle of the object that `make` returns. Checks `out` first, because without
// `out` the caller could not free the object.
template <typename Make>
void MakeFilterHandle(tamis_filter** out, const Make& make) {
  tamis_filter*& handle = Required(out, "out");
  handle = new tamis_filter{make()};
}

}  // namespace tamis::c

#endif  // TAMIS_BINDINGS_C_SRC_HANDLES_H_
