#include "tamis/join/join_keys.h"

#include "core/src/backend/providers.h"
#include "core/src/base/hash_check.h"
#include "core/src/bulk/valid_keys.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis {

Keys ColumnHashes::keys() const noexcept {
  const Keys keys = Hashes{hashes_};
  if (valid_.empty()) return keys;
  return keys.WithValidity(reinterpret_cast<const uint8_t*>(valid_.data()));
}

ColumnHashes HashColumns(std::span<const Keys> columns, const HashSpec& hash) {
  detail::CheckedHash(hash);
  if (columns.empty()) throw Error(ErrorCode::kInvalidArgument, "there are no columns");
  const size_t n = columns[0].size();
  ColumnHashes rows;
  rows.hashes_.resize(n);
  const detail::Kernels& kernels = *detail::HostBackends().front().kernels;
  for (size_t c = 0; c < columns.size(); ++c) {
    const Keys& column = columns[c];
    if (column.size() != n) {
      throw Error(ErrorCode::kInvalidArgument,
                  detail::StrCat("column ", c, " has ", column.size(), " keys; column 0 has ", n));
    }
    detail::ForEachBatchAndNulls(
        kernels, column, hash, detail::kUnlimited, [&](const detail::Batch& batch, size_t begin) {
          alignas(64) uint64_t hashes[detail::kBatchKeys];
          detail::ForEachSlice(batch, [&](const detail::Batch& slice, size_t first) {
            uint64_t* const out = rows.hashes_.data() + begin + first;
            if (c == 0) return kernels.hash(slice, out);
            kernels.hash(slice, hashes);
            kernels.hash(detail::KeyBatch(hash, out, slice.n), out);
            for (size_t i = 0; i < slice.n; ++i) out[i] += hashes[i];
          });
        });
    if (column.validity() == nullptr || n == 0) continue;
    if (rows.valid_.empty()) rows.valid_.assign(BitmapWords(n), ~uint64_t{0});
    detail::ClearNulls(column, 0, n, rows.valid_.data());
  }
  return rows;
}

}  // namespace tamis
