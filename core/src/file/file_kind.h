// What the file layer has to know of a kind of filter: it is handed this, and knows none.
#ifndef TAMIS_CORE_SRC_FILE_FILE_KIND_H_
#define TAMIS_CORE_SRC_FILE_FILE_KIND_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "core/src/file/field_check.h"
#include "core/src/file/file_format.h"
#include "tamis/file/file.h"

namespace tamis::detail {

class InputFile;

// A checksum finds accidents; this finds a payload that does not go with its header, whoever made
// it.
class PayloadCheck {
 public:
  virtual ~PayloadCheck() = default;
  // The payload in consecutive pieces, each a multiple of 8 bytes long but for the last, at
  // `begin`.
  virtual void Update(std::span<const std::byte> piece, uint64_t begin) = 0;
  // After the last piece. Throws FormatError; `path` is for the message only.
  virtual void Finish(const Extent& extent, const std::filesystem::path& path) const = 0;
};

struct FileKind {
  // Checks the geometry, whose meaning and limits depend on the kind, and what follows from it, and
  // returns the bytes of payload that it calls for.
  uint64_t (*check_geometry)(const FileHeader& header, const FieldCheck& check);
  // nullptr if any payload will do.
  std::unique_ptr<PayloadCheck> (*make_payload_check)() = nullptr;
  // Of a filter whose payload has filters in it, each laid out as a file of its own: reads their
  // headers, and checks them and all else but their payloads. nullptr for all others.
  std::vector<Extent> (*read_layers)(const InputFile& file) = nullptr;
};

// nullptr for kinds that there are not. Defined beside the table of kinds: a promise to the linker.
const FileKind* FindFileKind(FilterKind kind) noexcept;

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_FILE_KIND_H_
