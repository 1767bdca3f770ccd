// The key tag, by which a file recognizes the right secret of a keyed hash without containing it
// (core/FORMAT.md, "Secrets").
#ifndef TAMIS_CORE_SRC_FILE_KEY_TAG_H_
#define TAMIS_CORE_SRC_FILE_KEY_TAG_H_

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "tamis/file/file.h"
#include "tamis/hash.h"

namespace tamis::detail {

// Returns the tag of a keyed hash, or zeros for other hashes.
std::array<uint64_t, 2> KeyTag(const HashSpec& hash) noexcept;

// Returns the hash of a file, with the secret in the file or the `given` one. Throws Error(kSecret)
// as documented for LoadOptions; `path` is only for the message.
HashSpec HashOf(const FileHeader& header, const std::optional<HashSecret>& given,
                const std::filesystem::path& path);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_KEY_TAG_H_
