// The files of filter banks (core/FORMAT.md, "Filter banks"): what a file says, checked, and what
// is written.
#ifndef TAMIS_BANK_SRC_BANK_FILE_H_
#define TAMIS_BANK_SRC_BANK_FILE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "bank/src/bank_state.h"
#include "core/src/base/function_ref.h"
#include "tamis/detail/storage.h"
#include "tamis/file/file.h"
#include "tamis/layout/bank.h"

namespace tamis::detail {

inline constexpr uint64_t kBankPayloadAt = bank::kBlockBytes;  // so that blocks are aligned
inline constexpr uint64_t kMaxBankGroups = uint64_t{1} << 20;

// Reads out.size() bytes of a file, `offset` bytes from its start, or throws.
using ReadBytesAt = FunctionRef<void(std::span<std::byte> out, uint64_t offset)>;

// All of a file but the rows.
struct BankFile {
  using Group = BankFileGroup;

  FileHeader header;  // hash, secret and payload, as of a filter
  double fpr = 0;
  std::vector<Group> groups;
  std::vector<uint64_t> pages;  // XXH3-64 of each block
};

// Reads and checks header, table of pages and directory of a file of so many bytes. Throws
// FormatError, Error(kOutOfMemory) for tables that do not fit, and what `read` throws; `path` is
// for messages.
BankFile ReadBankFile(uint64_t file_bytes, ReadBytesAt read, const std::filesystem::path& path);

// Throws FormatError unless `blocks`, the first of which is page `first_page`, are those of the
// table.
void RequireBankPages(std::span<const std::byte> blocks, std::span<const uint64_t> pages,
                      uint64_t first_page, const std::filesystem::path& path);

// Whether a block is the page of that checksum.
bool IsBankPage(std::span<const std::byte> block, uint64_t checksum) noexcept;

// XXH3-64 of each block.
void AddBankPages(std::span<const std::byte> blocks, std::vector<uint64_t>& pages);

// What of a file comes before the rows, and what after them; of `file` all but payload_checksum has
// to be there.
struct SealedBank {
  std::vector<std::byte> start;   // kBankPayloadAt bytes
  std::vector<std::byte> tables;  // pages and directory
};
SealedBank SealBank(const BankFile& file);

}  // namespace tamis::detail

#endif  // TAMIS_BANK_SRC_BANK_FILE_H_
