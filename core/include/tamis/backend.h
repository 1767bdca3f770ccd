// A backend is a set of kernels. All backends compute the same bits.
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

// A name and a table of kernels, cheap to copy.
struct Backend {
  std::string_view name;           // "AVX2", "NEON", "portable" ...
  std::string_view description;    // one line for people
  const detail::Kernels* kernels;  // never null, of static lifetime
  // Not nullptr if this is a GPU. An Engine passes lookups to it. All other work is done by
  // `kernels`, which are the kernels of the host's best backend.
  std::shared_ptr<detail::Accelerator> (*make_accelerator)() = nullptr;
};

}  // namespace tamis

#endif  // TAMIS_BACKEND_H_
