#include "tamis/hash_keys.h"

#include "core/src/backend/providers.h"
#include "core/src/base/hash_check.h"
#include "core/src/bulk/output.h"
#include "core/src/bulk/valid_keys.h"
#include "tamis/keys.h"

namespace tamis {

size_t HashKeys(const Keys& keys, const HashSpec& hash, std::span<uint64_t> out) {
  detail::CheckedHash(hash);
  const size_t n = keys.CountValid();
  detail::RequireRoom(out, n);
  const detail::CommonKernels& kernels = *detail::HostBackends().front().kernels;
  const auto write = [&](const detail::Batch& batch, uint64_t index) {
    kernels.hash(batch, out.data() + index);
  };
  if (keys.validity() == nullptr) {
    detail::BatchesOf(keys, hash)(kernels, 0, n, write);
  } else {
    detail::ValidKeys(keys, hash)(kernels, 0, n, write);
  }
  return n;
}

}  // namespace tamis
