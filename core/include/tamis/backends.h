// The backends of this machine.
#ifndef TAMIS_BACKENDS_H_
#define TAMIS_BACKENDS_H_

#include <span>
#include <string>
#include <string_view>

#include "tamis/backend.h"

namespace tamis {

// A backend that is compiled in and does not run here, and the reason.
struct MissingBackend {
  std::string_view name;
  std::string reason;
};

// Backends() lists the backends that are compiled in and run on this machine, best first, and
// "portable" last. Thread-safe.
//
// The first call of these two functions starts the driver of a GPU if support for GPUs is compiled
// in. Children that are forked later cannot use the driver. Two other calls start it: making an
// Engine that may use a GPU, and FindBackend with a name that is not a backend of the host. Filters
// do not start it.
std::span<const Backend> Backends();
std::span<const MissingBackend> MissingBackends();

// The backend of that name, in upper or lower case. Throws Error(kUnknownBackend), with the names
// that would do, if there is none or it does not run here.
const Backend& FindBackend(std::string_view name);

// The backend that new filters use: the backend that the environment variable TAMIS_BACKEND names,
// or the first of Backends() if the variable is not set or empty. Throws as FindBackend.
const Backend& DefaultBackend();

}  // namespace tamis

#endif  // TAMIS_BACKENDS_H_
