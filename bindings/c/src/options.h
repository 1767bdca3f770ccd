// Reads the options of callers, which may be compiled with another version of the library.
#ifndef TAMIS_BINDINGS_C_SRC_OPTIONS_H_
#define TAMIS_BINDINGS_C_SRC_OPTIONS_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "bindings/c/src/guard.h"
#include "tamis/backend.h"
#include "tamis/c/base.h"
#include "tamis/c/file.h"
#include "tamis/c/filter.h"
#include "tamis/detail/str_cat.h"
#include "tamis/file/file.h"
#include "tamis/filters/filter.h"
#include "tamis/hash.h"
#include "tamis/memory.h"
#include "tamis/version.h"

namespace tamis::c {

// Returns the options, with 0 for members that the caller's version does not have. Throws
// Error(kInvalidArgument) if the options are not initialized, and Error(kUnsupported) if they use
// members that this version does not have. `least_bytes` is the size of the first version.
template <typename Options>
Options ReadOptions(const Options& given, const char* name, size_t least_bytes = sizeof(Options)) {
  constexpr size_t kAbsurd = 4096;
  const size_t bytes = given.struct_bytes;
  if (bytes < least_bytes || bytes > kAbsurd) {
    Refuse(detail::StrCat(name, ".struct_bytes is ", bytes, ": initialize it with TAMIS_INIT"));
  }
  const auto* const memory = reinterpret_cast<const unsigned char*>(&given);
  if (bytes > sizeof(Options) &&
      std::any_of(memory + sizeof(Options), memory + bytes, [](unsigned char c) { return c; })) {
    Refuse(std::string(name) + " has members that version " TAMIS_VERSION_STRING
                               " of the library does not know",
           ErrorCode::kUnsupported);
  }
  Options read{};
  std::memcpy(&read, &given, std::min(bytes, sizeof(Options)));
  return read;
}

// Like the function above, but returns the defaults for NULL.
template <typename Options>
Options ReadOptions(const Options* given, const char* name, size_t least_bytes = sizeof(Options)) {
  return given != nullptr ? ReadOptions(Required(given, name), name, least_bytes) : Options{};
}

// Writes `made` to a structure of the caller, up to the size of the caller's version.
template <typename Info>
void WriteInfo(Info* out, const char* name, Info made) {
  Info& info = Required(out, name);
  made.struct_bytes = ReadOptions(info, name).struct_bytes;
  std::memcpy(&info, &made, std::min(made.struct_bytes, sizeof(made)));
}

// Returns the value of an option. Throws Error(kInvalidArgument) unless it is 0 or 1.
bool ReadFlag(uint32_t flag, const char* name);
void RequireZero(uint32_t reserved);

HashSpec ReadHash(const tamis_hash& hash);
// Like ReadHash, for a new filter. Throws Error(kSecret) for a keyed hash with a secret of 0.
HashSpec ReadNewHash(const tamis_hash& hash);
// Returns nullptr for NULL.
const Backend* ReadBackend(const char* name);
MemoryOptions ReadMemory(uint32_t no_huge_pages);
FilterOptions ReadFilter(const tamis_filter_options& given);

struct OpenOptions {
  MapOptions AsMap() const;

  LoadOptions load;
  const char* format = nullptr;  // nullptr: the file is one of tamis
  bool map = false;
  Verify verify = Verify::kHeader;  // what is checked of a mapped file
};

// Return the defaults for NULL.
SaveOptions ReadSave(const tamis_save_options* options);
bool ReadImported(const tamis_save_options* options);
OpenOptions ReadOpen(const tamis_open_options* options);

}  // namespace tamis::c

#endif  // TAMIS_BINDINGS_C_SRC_OPTIONS_H_
