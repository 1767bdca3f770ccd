// A backend: a set of kernels. All backends give the same bits.
#ifndef TAMIS_BACKEND_H_
#define TAMIS_BACKEND_H_

#include <memory>
#include <string_view>

#include "tamis/cpp20.h"

namespace tamis {

namespace detail {
struct Kernels;
class Accelerator;
}  // namespace detail

// A value: a name and a table of kernels. Filters built with different backends are bit-equal.
struct Backend {
  std::string_view name;           // "AVX2", "NEON", "portable" ...
  std::string_view description;    // one line for people
  const detail::Kernels* kernels;  // never null, of static lifetime
  // nullptr unless this is a GPU, which an Engine hands lookups to. All else is then done by the
  // kernels, which are those of the best backend of the host.
  std::shared_ptr<detail::Accelerator> (*make_accelerator)() = nullptr;
};

}  // namespace tamis

#endif  // TAMIS_BACKEND_H_
