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

// What is compiled in and runs on this machine, best first, "portable" always last. Thread-safe.
// The first call of these two asks for GPUs, where support for them is compiled in, which starts
// their driver in this process: children that are forked after that cannot use it. So does making
// an Engine that may use one, and asking FindBackend for a name that is no backend of the host;
// nothing else does, filters least of all.
std::span<const Backend> Backends();
std::span<const MissingBackend> MissingBackends();

// The backend of that name, in upper or lower case. Throws Error(kUnknownBackend), with the names
// that would do, if there is none or it does not run here.
const Backend& FindBackend(std::string_view name);

// The backend that new filters use: the one TAMIS_BACKEND names, if that environment variable is
// set and not empty, else that of the name of the first of Backends(). Throws
// Error(kUnknownBackend) as FindBackend does.
const Backend& DefaultBackend();

}  // namespace tamis

#endif  // TAMIS_BACKENDS_H_
