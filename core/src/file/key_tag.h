// The secret of a keyed hash, and how a file tells the right one from others without having it
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

// Of a keyed hash; zeros for all others.
std::array<uint64_t, 2> KeyTag(const HashSpec& hash) noexcept;

// The hash of a file, with the secret that is in it or that is given. Throws Error(kSecret), as
// LoadOptions says; `path` is for the message only.
HashSpec HashOf(const FileHeader& header, const std::optional<HashSecret>& given,
                const std::filesystem::path& path);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_KEY_TAG_H_
