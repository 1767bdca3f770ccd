#include <atomic>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/src/backend/providers.h"
#include "core/src/base/made_once.h"
#include "tamis/backend.h"
#include "tamis/backends.h"
#include "tamis/error.h"

namespace tamis {
namespace {

struct HostRegistry {
  std::vector<detail::ProvidedBackend> provided;
  std::vector<Backend> backends;
};

HostRegistry MakeHostRegistry() {
  HostRegistry made;
#if TAMIS_HAVE_SIMD
  made.provided = detail::SimdBackends();
#endif
  made.provided.push_back(
      {"portable", "plain C++, the reference for all others", detail::PortableKernels()});
  for (const detail::ProvidedBackend& backend : made.provided) {
    made.backends.push_back({backend.name, backend.description, &backend.kernels});
  }
  return made;
}

// The list with GPUs. The list is separate because making it starts the driver of a GPU, which
// forked children then cannot use. So only calls that need a GPU or all backends make it.
struct Registry {
  std::vector<Backend> with_gpus;  // empty without GPUs: the host backends are then all backends
  std::vector<MissingBackend> missing;

  std::span<const Backend> backends() const {
    return with_gpus.empty() ? detail::HostBackends() : with_gpus;
  }
};

Registry MakeRegistry() {
  Registry made;
#if TAMIS_HAVE_CUDA
  const std::span<const Backend> host = detail::HostBackends();
  std::string why;
  const std::vector<Backend> gpus = detail::CudaBackends(*host.front().kernels, &why);
  if (gpus.empty()) {
    made.missing.push_back({"CUDA", why});
    return made;
  }
  made.with_gpus.assign(host.begin(), host.end());
  // GPUs are never the first backend, which filters use by default.
  made.with_gpus.insert(made.with_gpus.end() - (host.size() > 1 ? 1 : 0), gpus.begin(), gpus.end());
#endif
  return made;
}

constinit std::atomic<const Registry*> kept_registry = nullptr;

const Registry& TheRegistry() { return detail::MadeOnce(kept_registry, MakeRegistry); }

// Returns the list of all backends if it has been made, otherwise the list of the host backends.
std::span<const Backend> KnownBackends() {
  const Registry* const all = kept_registry.load(std::memory_order_acquire);
  return all != nullptr ? all->backends() : detail::HostBackends();
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool EqualIgnoringCase(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (Lower(a[i]) != Lower(b[i])) return false;
  }
  return true;
}

const Backend* FindIn(std::span<const Backend> backends, std::string_view name) {
  for (const Backend& backend : backends) {
    if (EqualIgnoringCase(backend.name, name)) return &backend;
  }
  return nullptr;
}

}  // namespace

std::span<const Backend> detail::HostBackends() {
  static constinit std::atomic<const HostRegistry*> kept = nullptr;
  return detail::MadeOnce(kept, MakeHostRegistry).backends;
}

std::span<const Backend> Backends() { return TheRegistry().backends(); }

std::span<const MissingBackend> MissingBackends() { return TheRegistry().missing; }

const Backend& FindBackend(std::string_view name) {
  if (const Backend* const known = FindIn(KnownBackends(), name)) return *known;
  if (const Backend* const any = FindIn(Backends(), name)) return *any;
  std::string valid;
  for (const Backend& backend : Backends()) {
    if (!valid.empty()) valid += ", ";
    valid += backend.name;
  }
  for (const MissingBackend& missing : MissingBackends()) {
    if (!EqualIgnoringCase(missing.name, name)) continue;
    throw Error(ErrorCode::kUnknownBackend, "backend \"" + std::string(missing.name) +
                                                "\" does not run here: " + missing.reason +
                                                "; this machine has: " + valid);
  }
  throw Error(ErrorCode::kUnknownBackend,
              "unknown backend \"" + std::string(name) + "\"; this machine has: " + valid);
}

const Backend& DefaultBackend() {
  const char* pinned = std::getenv("TAMIS_BACKEND");
  return pinned != nullptr && *pinned != '\0' ? FindBackend(pinned) : KnownBackends().front();
}

}  // namespace tamis
