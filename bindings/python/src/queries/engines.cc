#include "bindings/python/src/queries/engines.h"

#include <nanobind/nanobind.h>
#include <tamis/engine/engine_threads.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tamis/detail/str_cat.h"

namespace tamis::python {

namespace nb = nanobind;

EnginePtr EngineFor(std::optional<int64_t> threads) {
  if (!threads) return nullptr;
  if (*threads < 0 || *threads > int64_t{kMaxThreads}) {
    throw nb::value_error(tamis::detail::StrCat("threads is ", *threads, ", and must be in [0, ",
                                                kMaxThreads, "]; 0: one for each processor")
                              .c_str());
  }
  constexpr size_t kKept = 4;
  // The kept engines, the most recently used first. The vector is never destroyed, because threads
  // may be in a call when the process ends. The GIL protects it.
  static auto& engines = *new std::vector<std::pair<int64_t, EnginePtr>>;
  auto found = std::ranges::find(engines, *threads, &std::pair<int64_t, EnginePtr>::first);
  if (found == engines.end()) {
    const EngineOptions options{.threads = static_cast<unsigned>(*threads)};
    engines.emplace_back(*threads, std::make_shared<const Engine>(options));
    found = engines.end() - 1;
  }
  std::rotate(engines.begin(), found, found + 1);
  if (engines.size() > kKept) engines.pop_back();  // freed when no call uses it
  return engines.front().second;
}

}  // namespace tamis::python
