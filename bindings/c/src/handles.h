// What handles are.
#ifndef TAMIS_BINDINGS_C_SRC_HANDLES_H_
#define TAMIS_BINDINGS_C_SRC_HANDLES_H_

#include <memory>
#include <string>

#include "bindings/c/src/guard.h"
#include "tamis/any_filter.h"
#include "tamis/bank/filter_bank.h"
#include "tamis/c.h"
#include "tamis/engine.h"
#include "tamis/erasable_filter.h"
#include "tamis/formats/foreign_filter.h"
#include "tamis/split_block_view.h"

struct tamis_filter {
  tamis::AnyFilter filter;
};

struct tamis_bank {
  tamis::FilterBank bank;
};

struct tamis_foreign {
  tamis::ForeignFilter filter;
};

struct tamis_engine {
  tamis::EngineOptions options;  // for plans
  tamis::Engine engine;
};

struct tamis_view {
  tamis::ConstSplitBlockView reader;
  std::unique_ptr<tamis::SplitBlockView> writer;  // nullptr for one that can be asked only
};

namespace tamis::c {

inline const Filter& FilterOf(const tamis_filter* filter) {
  return *Required(filter, "filter").filter;
}
inline Filter& FilterOf(tamis_filter* filter) { return *Required(filter, "filter").filter; }

inline const FilterBank& BankOf(const tamis_bank* bank) { return Required(bank, "bank").bank; }
inline FilterBank& BankOf(tamis_bank* bank) { return Required(bank, "bank").bank; }

// Throws Error(kReadOnly) for one that cannot be changed, which functions of one key do not.
inline ChangeableFilter& WritableFilterOf(tamis_filter* filter) {
  Filter& found = FilterOf(filter);
  if (found.read_only())
    Refuse("the filter is mapped, and cannot be changed", ErrorCode::kReadOnly);
  return RequireChangeable(found);
}

// Throws Error(kReadOnly), and Error(kUnsupported) for one that cannot erase.
inline ErasableFilter& ErasableFilterOf(tamis_filter* filter) {
  auto* const found = dynamic_cast<ErasableFilter*>(&WritableFilterOf(filter));
  if (found == nullptr) {
    Refuse(std::string("this ") + FilterKindName(filter->filter->kind()) +
               " filter cannot erase keys: counting and cuckoo filters can, and scalable ones with "
               "layers of these",
           ErrorCode::kUnsupported);
  }
  return *found;
}

// nullptr for NULL.
inline const Engine* EngineOf(const tamis_engine* engine) noexcept {
  return engine != nullptr ? &engine->engine : nullptr;
}

// Sets *out to a handle of what `make` returns. Of arguments that are wrong `out` is the first, so
// that nothing is made that nobody could free.
template <typename Make>
void MakeFilterHandle(tamis_filter** out, const Make& make) {
  tamis_filter*& handle = Required(out, "out");
  handle = new tamis_filter{make()};
}

}  // namespace tamis::c

#endif  // TAMIS_BINDINGS_C_SRC_HANDLES_H_
