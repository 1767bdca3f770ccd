// The files of filter banks (core/FORMAT.md, "Filter banks"): reading them with all checks, and
// writing them.
#ifndef TAMIS_BANK_SRC_BANK_FILE_H_
#define TAMIS_BANK_SRC_BANK_FILE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "bank/src/bank_state.h"
#include "core/src/base/function_ref.h"
#include "core/src/file/file_format.h"
#include "tamis/detail/storage.h"
#include "tamis/file/file.h"
#include "tamis/layout/bank.h"

namespace tamis::detail {

inline constexpr uint64_t kMaxBankGroups = uint64_t{1} << 20;

// Reads out.size() bytes of a file, `offset` bytes from its start, or throws.
using ReadBytesAt = FunctionRef<void(std::span<std::byte> out, uint64_t offset)>;

// The contents of a file, except for the rows.
struct BankFile {
  using Group = BankFileGroup;

  FileHeader header;  // hash, secret and payload, as for a filter
  double fpr = 0;
  std::vector<Group> groups;
  std::vector<uint64_t> pages;  // XXH3-64 of each block
};

// Returns the number of bytes of a file by its header, whose fields it checks. `start` must be the
// first 192 bytes of the file, or all bytes if the file is shorter. Throws FormatError.
uint64_t BankFileBytes(std::span<const std::byte> start, const std::filesystem::path& path);

// Reads and checks the header, the table of pages and the directory of a file of `file_bytes`
// bytes. Throws FormatError, Error(kOutOfMemory) for tables that do not fit, and the exceptions of
// `read`. `path` is used in messages.
BankFile ReadBankFile(uint64_t file_bytes, ReadBytesAt read, const std::filesystem::path& path);

// Throws FormatError unless `blocks`, starting with page `first_page`, match the table of pages.
void RequireBankPages(std::span<const std::byte> blocks, std::span<const uint64_t> pages,
                      uint64_t first_page, const std::filesystem::path& path);

// Whether a block has this page checksum.
bool IsBankPage(std::span<const std::byte> block, uint64_t checksum) noexcept;

// Appends the XXH3-64 of each block.
void AddBankPages(std::span<const std::byte> blocks, std::vector<uint64_t>& pages);

// The parts of a file before and after the rows. `file` must be complete, except for
// payload_checksum.
struct SealedBank {
  std::vector<std::byte> start;   // kBankPayloadAt bytes
  std::vector<std::byte> tables;  // pages and directory
};
SealedBank SealBank(const BankFile& file);

}  // namespace tamis::detail

#endif  // TAMIS_BANK_SRC_BANK_FILE_H_
