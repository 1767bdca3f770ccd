// The interface between the file layer and filter kinds, which keeps the file layer free of kinds.
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

// A check that a payload fits its header. Checksums detect only accidental damage; this also finds
// files that were made with a wrong payload.
class PayloadCheck {
 public:
  virtual ~PayloadCheck() = default;
  // Takes the next piece of the payload, which begins at `begin`. The length of each piece except
  // the last is a multiple of 8 bytes.
  virtual void Update(std::span<const std::byte> piece, uint64_t begin) = 0;
  // Called after the last piece. Throws FormatError; `path` is only for the message.
  virtual void Finish(const Extent& extent, const std::filesystem::path& path) const = 0;
};

struct FileKind {
  // Checks the geometry, whose meaning and limits depend on the kind, and the fields that follow
  // from it. Returns the payload length that the geometry requires.
  uint64_t (*check_geometry)(const FileHeader& header, const FieldCheck& check);
  // Returns whether the file of a filter has FileHeader::kVersionOfManyBlocks. nullptr for kinds
  // whose files never have this version.
  bool (*has_many_blocks)(const FileHeader& header) noexcept = nullptr;
  // nullptr if every payload is valid.
  std::unique_ptr<PayloadCheck> (*make_payload_check)() = nullptr;
  // For a filter whose payload contains filters, each laid out as a file of its own. Reads and
  // checks their headers and all other bytes except their payloads. nullptr for all other kinds.
  std::vector<Extent> (*read_layers)(const InputFile& file) = nullptr;
};

// Returns nullptr for unknown kinds. Defined next to the table of kinds.
const FileKind* FindFileKind(FilterKind kind) noexcept;

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_FILE_KIND_H_
