// Lookups of many keys, for whatever has the functions Contains, Select and Count.
#ifndef TAMIS_BINDINGS_C_SRC_LOOKUP_H_
#define TAMIS_BINDINGS_C_SRC_LOOKUP_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "bindings/c/src/guard.h"
#include "bindings/c/src/key_array.h"
#include "tamis/keys.h"

namespace tamis::c {

// An output of the caller, checked: `needed` elements of the `capacity` that it has.
template <typename T>
std::span<T> Room(T* out, uint64_t capacity, uint64_t needed, const char* name) {
  if (capacity < needed) {
    Refuse(std::string(name) + " has room for " + std::to_string(capacity) +
           " elements, and needs " + std::to_string(needed));
  }
  if (needed == 0) return {};
  RequireArray<T>(out, name);
  return {out, static_cast<size_t>(needed)};
}

// The words for a run of keys.
inline Bitmap BitsOf(std::span<uint64_t> words, size_t first, size_t keys) {
  return Bitmap(words.subspan(first / 64, BitmapWords(keys)));
}

template <typename Target>
void LookUpBitmap(const Target& target, const tamis_keys* given, uint64_t* bits, uint64_t words,
                  uint64_t* hits) {
  const WantedOutput hits_out(hits, "hits");
  const KeyArray keys(given);
  const std::span out = Room(bits, words, BitmapWords(keys.size()), "bits");
  uint64_t found = 0;
  keys.ForRuns([&](const Keys& run, size_t first) {
    found += target.Contains(run, BitsOf(out, first, run.size()));
  });
  hits_out.Set(found);
}

template <typename Target>
void LookUpBytes(const Target& target, const tamis_keys* given, uint8_t* bytes, uint64_t capacity,
                 uint64_t* hits) {
  const WantedOutput hits_out(hits, "hits");
  const KeyArray keys(given);
  const std::span out = Room(bytes, capacity, keys.size(), "bytes");
  uint64_t found = 0;
  keys.ForRuns([&](const Keys& run, size_t first) {
    found += target.Contains(run, out.subspan(first, run.size()));
  });
  hits_out.Set(found);
}

template <typename Index, typename Target>
void LookUpIndices(const Target& target, const tamis_keys* given, Index* indices, uint64_t capacity,
                   uint64_t* hits) {
  const WantedOutput hits_out(hits, "hits");
  const KeyArray keys(given);
  if (keys.size() > 0 && keys.size() - 1 > std::numeric_limits<Index>::max()) {
    Refuse(std::to_string(keys.size()) + " keys have indices that do not fit into 32 bits");
  }
  const std::span out = Room(indices, capacity, keys.size(), "indices");
  uint64_t found = 0;
  keys.ForRuns([&](const Keys& run, size_t first) {
    const std::span run_out = out.subspan(found, run.size());
    const size_t n = target.Select(run, run_out);
    for (Index& index : run_out.first(first > 0 ? n : 0)) index += static_cast<Index>(first);
    found += n;
  });
  hits_out.Set(found);
}

template <typename Target>
void LookUpCount(const Target& target, const tamis_keys* given, uint64_t* hits) {
  uint64_t& out = Required(hits, "hits");
  uint64_t found = 0;
  KeyArray(given).ForRuns([&](const Keys& run, size_t) { found += target.Count(run); });
  out = found;
}

}  // namespace tamis::c

#endif  // TAMIS_BINDINGS_C_SRC_LOOKUP_H_
