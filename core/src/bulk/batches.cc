#include "core/src/bulk/batches.h"

#include <cstring>
#include <string>
#include <string_view>

#include "core/src/bulk/hash_strings.h"
#include "tamis/hash_kinds.h"

namespace tamis::detail {
namespace {

template <typename T>
void Widen(const T* keys, size_t n, uint64_t* buffer) {
  for (size_t i = 0; i < n; ++i) buffer[i] = static_cast<uint64_t>(keys[i]);
}

// Widens integers of 4 bytes, which may be at any address.
void WidenBytes(const char* bytes, size_t n, uint64_t* buffer) {
  for (size_t i = 0; i < n; ++i) {
    uint32_t key;
    std::memcpy(&key, bytes + i * sizeof key, sizeof key);
    buffer[i] = key;
  }
}

template <typename Offset>
BasicStringColumn<Offset> Column(const Keys& keys, size_t begin, size_t n) {
  return {keys.bytes(), {keys.data<Offset>() + begin, n + 1}};
}

}  // namespace

Batch IntegerBatch(const CommonKernels& kernels, const HashSpec& spec, const uint64_t* keys,
                   size_t n, uint64_t* buffer) noexcept {
  const Batch batch = KeyBatch(spec, keys, n);
  if (!IsKeyed(spec.kind)) return batch;
  kernels.hash(batch, buffer);
  return HashBatch(buffer, n);
}

Batch MakeBatch(const CommonKernels& kernels, const Keys& keys, const HashSpec& spec, size_t begin,
                size_t n, uint64_t* buffer) noexcept {
  switch (keys.layout()) {
    case KeyLayout::kU64:
      return IntegerBatch(kernels, spec, keys.data<uint64_t>() + begin, n, buffer);
    case KeyLayout::kHashes:
      return HashBatch(keys.data<uint64_t>() + begin, n);
    case KeyLayout::kU32:
      Widen(keys.data<uint32_t>() + begin, n, buffer);
      return IntegerBatch(kernels, spec, buffer, n, buffer);
    case KeyLayout::kI32:
      Widen(keys.data<int32_t>() + begin, n, buffer);
      return IntegerBatch(kernels, spec, buffer, n, buffer);
    case KeyLayout::kStringViews:
      HashStrings(kernels, keys.data<std::string_view>() + begin, n, spec, buffer);
      break;
    case KeyLayout::kStrings:
      HashStrings(kernels, keys.data<std::string>() + begin, n, spec, buffer);
      break;
    case KeyLayout::kColumn:
      HashStrings(kernels, Column<int32_t>(keys, begin, n), n, spec, buffer);
      break;
    case KeyLayout::kLargeColumn:
      HashStrings(kernels, Column<int64_t>(keys, begin, n), n, spec, buffer);
      break;
    case KeyLayout::kFixedColumn: {
      const FixedValues values = {keys.data<char>() + begin * keys.width(), keys.width()};
      if (values.width == sizeof(uint64_t)) {
        std::memcpy(buffer, values.bytes, n * sizeof *buffer);  // `bytes` may be unaligned
        return IntegerBatch(kernels, spec, buffer, n, buffer);
      }
      if (values.width == sizeof(uint32_t) && !IsKeyed(spec.kind)) {
        WidenBytes(values.bytes, n, buffer);
        kernels.hash(KeyOf4Batch(spec, buffer, n), buffer);
        break;
      }
      HashStrings(kernels, values, n, spec, buffer);
      break;
    }
  }
  return HashBatch(buffer, n);
}

}  // namespace tamis::detail
