#include "core/src/bulk/batches.h"

#include <string>
#include <string_view>

namespace tamis::detail {
namespace {

template <typename T>
void Widen(const T* keys, size_t n, uint64_t* buffer) {
  for (size_t i = 0; i < n; ++i) buffer[i] = static_cast<uint64_t>(keys[i]);
}

template <typename Strings>
void HashStrings(const Strings& strings, const HashSpec& spec, size_t n, uint64_t* buffer) {
  for (size_t i = 0; i < n; ++i) buffer[i] = HashBytes(strings[i], spec);
}

struct FixedValues {
  const char* bytes;
  size_t width;

  std::string_view operator[](size_t i) const noexcept { return {bytes + i * width, width}; }
};

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
  switch (keys.form()) {
    case Keys::Form::kU64:
      return IntegerBatch(kernels, spec, keys.data<uint64_t>() + begin, n, buffer);
    case Keys::Form::kHashes:
      return HashBatch(keys.data<uint64_t>() + begin, n);
    case Keys::Form::kU32:
      Widen(keys.data<uint32_t>() + begin, n, buffer);
      return IntegerBatch(kernels, spec, buffer, n, buffer);
    case Keys::Form::kI32:
      Widen(keys.data<int32_t>() + begin, n, buffer);
      return IntegerBatch(kernels, spec, buffer, n, buffer);
    case Keys::Form::kStringViews:
      HashStrings(keys.data<std::string_view>() + begin, spec, n, buffer);
      break;
    case Keys::Form::kStrings:
      HashStrings(keys.data<std::string>() + begin, spec, n, buffer);
      break;
    case Keys::Form::kColumn:
      HashStrings(Column<int32_t>(keys, begin, n), spec, n, buffer);
      break;
    case Keys::Form::kLargeColumn:
      HashStrings(Column<int64_t>(keys, begin, n), spec, n, buffer);
      break;
    case Keys::Form::kFixedColumn:
      HashStrings(FixedValues{keys.data<char>() + begin * keys.width(), keys.width()}, spec, n,
                  buffer);
      break;
  }
  return HashBatch(buffer, n);
}

}  // namespace tamis::detail
