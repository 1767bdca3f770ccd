#include <atomic>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "core/src/backend/providers.h"
#include "core/src/base/made_once.h"
#include "tamis/backend.h"
#include "tamis/error.h"

namespace tamis {
namespace {

struct Registry {
  std::vector<detail::ProvidedBackend> provided;
  std::vector<Backend> backends;
  std::vector<MissingBackend> missing;
};

Registry MakeRegistry() {
  Registry made;
#if TAMIS_HAVE_SIMD
  made.provided = detail::SimdBackends();
#endif
  made.provided.push_back(
      {"portable", "plain C++, the reference for all others", detail::PortableKernels()});
  for (const detail::ProvidedBackend& backend : made.provided) {
    made.backends.push_back({backend.name, backend.description, &backend.kernels});
  }
#if TAMIS_HAVE_CUDA
  std::string why;
  const std::vector<Backend> gpus = detail::CudaBackends(*made.backends.front().kernels, &why);
  if (gpus.empty()) made.missing.push_back({"CUDA", why});
  // Never the first, which is the one that filters use by themselves.
  made.backends.insert(made.backends.end() - (made.backends.size() > 1 ? 1 : 0), gpus.begin(),
                       gpus.end());
#endif
  return made;
}

const Registry& TheRegistry() {
  static constinit std::atomic<const Registry*> kept = nullptr;
  return detail::MadeOnce(kept, MakeRegistry);
}

const std::vector<Backend>& AllBackends() { return TheRegistry().backends; }

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool EqualIgnoringCase(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (Lower(a[i]) != Lower(b[i])) return false;
  }
  return true;
}

}  // namespace

std::span<const Backend> Backends() { return AllBackends(); }

std::span<const MissingBackend> MissingBackends() { return TheRegistry().missing; }

const Backend& FindBackend(std::string_view name) {
  for (const Backend& backend : AllBackends()) {
    if (EqualIgnoringCase(backend.name, name)) return backend;
  }
  std::string valid;
  for (const Backend& backend : AllBackends()) {
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
  return pinned != nullptr && *pinned != '\0' ? FindBackend(pinned) : AllBackends().front();
}

}  // namespace tamis
