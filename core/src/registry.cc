#include <cstdlib>
#include <string>
#include <vector>

#include "core/src/providers.h"
#include "tamis/backend.h"
#include "tamis/error.h"

namespace tamis {
namespace {

const std::vector<Backend>& AllBackends() {
  static const std::vector<Backend> all = [] {
    std::vector<Backend> backends;
#if TAMIS_HAVE_SIMD
    backends = SimdBackends();
#endif
    backends.push_back({"portable", "plain C++, the reference for all others", &kPortableKernels});
    return backends;
  }();
  return all;
}

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

const Backend& FindBackend(std::string_view name) {
  std::string valid;
  for (const Backend& backend : AllBackends()) {
    if (EqualIgnoringCase(backend.name, name)) return backend;
    if (!valid.empty()) valid += ", ";
    valid += backend.name;
  }
  throw Error(ErrorCode::kUnknownBackend,
              "unknown backend \"" + std::string(name) + "\"; this machine has: " + valid);
}

const Backend& DefaultBackend() {
  const char* pinned = std::getenv("TAMIS_BACKEND");
  return pinned != nullptr && *pinned != '\0' ? FindBackend(pinned) : AllBackends().front();
}

}  // namespace tamis
