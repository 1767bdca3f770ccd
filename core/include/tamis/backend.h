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

// The name and the table of kernels of a backend. Cheap to copy.
struct Backend {
  std::string_view name;           // "AVX2", "NEON", "portable" ...
  std::string_view description;    // one line for people
  const detail::Kernels* kernels;  // never null, of static lifetime
  // Makes the accelerator of a GPU, to which an Engine passes lookups. nullptr for all other
  // backends. The `kernels` of a GPU are the kernels of the host's best backend, and do all other
  // work.
  std::shared_ptr<detail::Accelerator> (*make_accelerator)() = nullptr;
};

}  // namespace tamis

#endif  // TAMIS_BACKEND_H_
