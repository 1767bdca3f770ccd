// Queries filter banks in remote storage, such as an object store, by reading few of their bytes.
#ifndef TAMIS_BANK_BANK_READER_H_
#define TAMIS_BANK_BANK_READER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/backend.h"
#include "tamis/bank/filter_bank.h"
#include "tamis/hash.h"
#include "tamis/keys.h"

namespace tamis {

// A range of a file to read: out.size() bytes, never 0, starting at `offset`.
struct BankRead {
  uint64_t offset = 0;       // first byte of the range in the file
  std::span<std::byte> out;  // memory for the bytes
};

// Fills the ranges, and returns when all are filled. The ranges are ascending and disjoint. The
// function may fill them in any order and on any threads. Its exceptions reach the caller of the
// query. If the function cannot read a range, it may fill the range with zeros instead of throwing:
// the checksums detect the zeros, and the answer is "maybe".
using BankReadFunction = std::function<void(std::span<const BankRead> reads)>;

// Options of a BankReader.
struct BankReaderOptions {
  // The maximum number of bytes that a call allocates at a time, at least 32 KiB: for the pages
  // that it has read, and 16 bytes for each key. The keys take at most half of this memory.
  // Internal lists take up to a fiftieth more. With a larger number, a call makes fewer and larger
  // batches.
  uint64_t max_bytes = uint64_t{64} << 20;
  // Two pages are read as one range if at most this number of bytes is between them. The range then
  // includes the bytes between them. 0: only adjacent pages are joined. Set a larger number if a
  // request costs more than reading the bytes between the pages.
  uint64_t max_gap_bytes = 0;
  // The secret of a keyed hash, unless the file has it.
  std::optional<HashSecret> secret = {};
  const Backend* backend = nullptr;  // nullptr: DefaultBackend()
  std::string name = "the bank";     // used in messages instead of a path
};

// A page that did not match its checksum.
struct BankDamage {
  uint64_t group = 0;   // the group of the page: members from index 512 * `group` on
  uint64_t block = 0;   // index of the page in the group
  uint64_t offset = 0;  // offset of the page in the file, in bytes
  uint64_t bytes = 0;   // size of the page

  friend bool operator==(const BankDamage&, const BankDamage&) = default;
};

// Queries a bank in a file that is not local. The answers equal the answers of FilterBank::Map, bit
// for bit. The constructor reads two ranges: the first 16 KiB, and the tables behind the payload.
// For each key, a query reads one page of 16 KiB, which has its own checksum, from each group with
// members. It reads the pages of all its keys in batches of ranges. A call with at most max_bytes /
// 32 keys reads no page twice. A call with more keys is cut into slices of max_bytes / 32 keys.
// Each slice reads its pages, even if an earlier slice has read them.
//
// For a page that does not match its checksum, the answer is "maybe" for all its keys and members,
// never "no". damaged() lists such pages. Like in all files of tamis, the checksums protect against
// accidents, but not against malice (core/FORMAT.md).
//
// The file must not be replaced: pages of another file do not match the tables. A BankReadFunction
// that reads by version or entity tag always detects a replacement, and can throw.
//
// If the BankReadFunction is thread-safe, queries are thread-safe. A query calls the function on
// its own thread only. A BankReader cannot be copied, and must not be moved during a query.
class BankReader {
 public:
  // Opens a file of `file_bytes` bytes. Throws FormatError if the file is not a bank, is damaged,
  // or has another length. Throws Error(kSecret), Error(kOutOfMemory) if the tables do not fit,
  // Error(kInvalidArgument) for options out of range or an empty function, and the exceptions of
  // the function.
  BankReader(uint64_t file_bytes, BankReadFunction read, const BankReaderOptions& options = {});

  BankReader(BankReader&&) noexcept;
  BankReader& operator=(BankReader&&) noexcept;
  ~BankReader();

  // Like the functions of FilterBank. They read nothing from the file.
  const HashSpec& hash() const noexcept;
  double fpr() const noexcept;
  const Backend& backend() const noexcept;
  uint64_t num_members() const noexcept;
  size_t row_words() const noexcept;
  uint64_t bytes() const noexcept;  // size of the groups in the file
  std::vector<BankMember> members() const;
  std::vector<BankGroupInfo> groups() const;
  std::optional<BankMember> Find(const MemberName& name) const;
  const std::string& NameOf(uint64_t index) const;

  // Like the functions of FilterBank. Throws Error(kInvalidArgument) if `out` is too small, before
  // it reads or writes anything. Throws std::bad_alloc and the exceptions of the BankReadFunction.
  // After std::bad_alloc and exceptions of the function, the contents of `out` are unspecified, and
  // the reader is unchanged, except that damaged() may return more pages.
  size_t Contains(uint64_t key, Bitmap out) const;
  size_t Contains(std::string_view key, Bitmap out) const;
  template <detail::NoKey T>
  size_t Contains(T, Bitmap) const = delete;
  size_t ContainsHash(uint64_t hash, Bitmap out) const;
  size_t Contains(Keys keys, Bitmap out) const;
  std::vector<BankHit> Select(Keys keys) const;
  std::vector<uint64_t> CountPerMember(Keys keys) const;

  // Returns the pages that did not match their checksums in any read so far, ascending and without
  // duplicates. Includes pages that a later read found intact.
  std::vector<BankDamage> damaged() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tamis

#endif  // TAMIS_BANK_BANK_READER_H_
