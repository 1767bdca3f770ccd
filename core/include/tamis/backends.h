// The backends of this machine.
#ifndef TAMIS_BACKENDS_H_
#define TAMIS_BACKENDS_H_

#include <span>
#include <string>
#include <string_view>

#include "tamis/backend.h"

namespace tamis {

// A backend that is compiled in but does not run on this machine, and the reason.
struct MissingBackend {
  std::string_view name;  // name of the backend
  std::string reason;     // why it cannot be used
};

// Backends() lists the backends that are compiled in and run on this machine, best first, with
// "portable" last. Thread-safe.
//
// If support for GPUs is compiled in, the first call of either function starts the GPU's driver.
// Child processes that are forked later cannot use the driver. Two other calls also start the
// driver: making an Engine that may use a GPU, and FindBackend with a name that is not a backend of
// the host. Making a filter starts the driver only if TAMIS_BACKEND is not a backend of the host.
std::span<const Backend> Backends();
std::span<const MissingBackend> MissingBackends();

// Returns the backend with this name, in upper or lower case. If the name is unknown or the backend
// does not run on this machine, throws Error(kUnknownBackend), which lists the allowed names.
const Backend& FindBackend(std::string_view name);

// Returns the backend that new filters use. The environment variable TAMIS_BACKEND names this
// backend. If the variable is not set or empty, returns the first of Backends(). Throws the errors
// of FindBackend.
const Backend& DefaultBackend();

}  // namespace tamis

#endif  // TAMIS_BACKENDS_H_
