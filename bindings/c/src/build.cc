// Builds filters from all their keys.
#include "tamis/engine/build.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "bindings/c/src/handles.h"
#include "bindings/c/src/key_array.h"
#include "bindings/c/src/options.h"
#include "tamis/c/filter.h"
#include "tamis/detail/str_cat.h"
#include "tamis/filters/filter_kinds.h"

namespace tamis::c {
namespace {

constexpr uint64_t kMaxChunks = uint64_t{1} << 32;

// Checks all chunks. If there are several chunks, error messages name the chunk.
std::vector<KeyArray> ReadChunks(const tamis_keys* keys, uint64_t num_chunks) {
  std::vector<KeyArray> chunks;
  if (num_chunks == 0) return chunks;
  RequireArray<tamis_keys>(keys, "keys");
  if (num_chunks > kMaxChunks) {
    Refuse(detail::StrCat("num_chunks is ", num_chunks, "; allowed: up to 2^32"));
  }
  for (uint64_t i = 0; i < num_chunks; ++i) {
    try {
      chunks.emplace_back(keys + i);
    } catch (const Error& error) {
      if (num_chunks == 1) throw;
      throw Error(error.code(), detail::StrCat("chunk ", i, ": ", error.what()));
    }
  }
  return chunks;
}

}  // namespace
}  // namespace tamis::c

using namespace tamis;
using namespace tamis::c;

tamis_status tamis_filter_build(uint32_t kind, const tamis_filter_options* options,
                                const tamis_engine* engine, const tamis_keys* keys,
                                uint64_t num_chunks, tamis_filter** out) {
  return Guard([&] {
    MakeFilterHandle(out, [&] {
      const FilterOptions read = ReadFilter(ReadOptions(options, "options"));
      const FilterKindInfo& info = KindInfo(static_cast<FilterKind>(kind));
      if (info.has_layers) {
        Refuse(detail::StrCat("a ", info.name,
                              " filter has layers of another kind: tamis_filter_create_scalable "
                              "creates it"));
      }
      const std::vector<KeyArray> chunks = ReadChunks(keys, num_chunks);
      const auto source = [&chunks](const std::function<void(Keys)>& visit) {
        for (const KeyArray& chunk : chunks) {
          chunk.ForRuns([&visit](const Keys& run, size_t) { visit(run); });
        }
      };
      return BuildFilter(info.kind, source, read, EngineOf(engine));
    });
  });
}
