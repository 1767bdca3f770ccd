// The fields that the headers of all tamis files have, as bytes.
#ifndef TAMIS_CORE_SRC_FILE_HEADER_FIELDS_H_
#define TAMIS_CORE_SRC_FILE_HEADER_FIELDS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/src/file/field_check.h"
#include "tamis/file/file.h"

namespace tamis::detail {

template <typename T>
T GetField(std::span<const std::byte> bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

template <typename T>
void PutField(std::span<std::byte> bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

// Checks magic, version, length and checksum of a header. `start` is as for DecodeHeader. Returns
// the version.
uint32_t CheckFrame(std::span<const std::byte> start, const FieldCheck& check);
// Checks the kind of the hash; the header must have its version.
void CheckHashKind(const FileHeader& header, const FieldCheck& check);
// Decodes flags, key tag and secret of version 2. The header must have the kind of the hash.
void DecodeSecret(std::span<const std::byte> start, const FieldCheck& check, FileHeader& header);

// Writes magic, version and length.
void EncodeFrame(std::span<std::byte> bytes, uint32_t version);
void EncodeSecret(std::span<std::byte> bytes, const FileHeader& header);
// Writes the checksum, after all other fields have been written.
void SealHeader(std::span<std::byte> bytes, uint32_t version);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_HEADER_FIELDS_H_
