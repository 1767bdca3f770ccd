// Filter banks that are elsewhere, as in an object store: asked by reading few of their bytes.
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

// A range of a file that is to be read: out.size() bytes, never 0, from `offset` on.
struct BankRead {
  uint64_t offset = 0;
  std::span<std::byte> out;
};

// Fills the ranges, which are ascending and apart, in whatever order, on whatever threads, and
// returns when all are there. What it throws is passed on. A range that it cannot have it may also
// fill with zeros, rather than throw: the checksums show it, and the answer is "maybe".
using BankReadFunction = std::function<void(std::span<const BankRead> reads)>;

struct BankReaderOptions {
  // The bytes that a call holds at a time, at least 32 KiB: the pages that it has read, and 16
  // bytes for each key. The keys get at most half of them. Lists beside them take up to a fiftieth
  // more. A larger number makes fewer and larger batches.
  uint64_t max_bytes = uint64_t{64} << 20;
  // Two pages are read as one range if at most this number of bytes is between them. The range
  // contains these bytes. 0: only adjacent pages are joined. A larger number pays if a request
  // costs more than reading the bytes.
  uint64_t max_gap_bytes = 0;
  // The secret of a keyed hash, unless the file has it.
  std::optional<HashSecret> secret = {};
  const Backend* backend = nullptr;  // nullptr: DefaultBackend()
  std::string name = "the bank";     // in place of a path, for messages
};

// A page whose bytes were not those of its checksum.
struct BankDamage {
  uint64_t group = 0;   // its members have the indexes from 512 `group` on
  uint64_t block = 0;   // of the group
  uint64_t offset = 0;  // of the range in the file, in bytes
  uint64_t bytes = 0;

  friend bool operator==(const BankDamage&, const BankDamage&) = default;
};

// Answers as FilterBank::Map of the same file does, bit for bit, without the file being there. To
// open it reads two ranges: the first 16 KiB, and the tables behind the payload. Then a key needs
// of each group with members one page of 16 KiB, which has a checksum of its own. A lookup finds
// the pages that its keys need, and asks the function for them in batches of ranges. A call with at
// most max_bytes / 32 keys reads no page twice. Longer calls are cut into slices of that length.
//
// A page that does not match its checksum makes all its members answers of all its keys: "maybe",
// never "no". damaged() names it. The checksums are as good against accidents, and no good against
// malice, as those of all files of tamis (core/FORMAT.md).
//
// The file must stay the one that was opened: pages of another do not match the tables. A function
// that reads by version or entity tag finds out for certain, and can throw.
//
// Any number of threads may ask at a time if the function may be called by as many; it is called by
// the thread that asks, and by no other. Not copied, and moved only while nobody asks.
class BankReader {
 public:
  // Opens a file of `file_bytes` bytes. Throws FormatError if the file is not a bank, is damaged,
  // or has another length. Throws Error(kSecret), Error(kOutOfMemory) if the tables do not fit,
  // Error(kInvalidArgument) if options are out of range or there is no function, and the
  // exceptions of the function.
  BankReader(uint64_t file_bytes, BankReadFunction read, const BankReaderOptions& options = {});

  BankReader(BankReader&&) noexcept;
  BankReader& operator=(BankReader&&) noexcept;
  ~BankReader();

  // As those of FilterBank; nothing is read for them.
  const HashSpec& hash() const noexcept;
  double fpr() const noexcept;
  const Backend& backend() const noexcept;
  uint64_t num_members() const noexcept;
  size_t row_words() const noexcept;
  uint64_t bytes() const noexcept;  // of groups in the file
  std::vector<BankMember> members() const;
  std::vector<BankGroupInfo> groups() const;
  std::optional<BankMember> Find(const MemberName& name) const;
  const std::string& NameOf(uint64_t index) const;

  // As those of FilterBank. Throws Error(kInvalidArgument) if `out` is too small, before it reads
  // or writes anything. Throws std::bad_alloc and the exceptions of the function. The contents of
  // `out` are then unspecified, and the reader is unchanged, except that damaged() can name more.
  size_t Contains(uint64_t key, Bitmap out) const;
  size_t Contains(std::string_view key, Bitmap out) const;
  template <detail::NoKey T>
  size_t Contains(T, Bitmap) const = delete;
  size_t ContainsHash(uint64_t hash, Bitmap out) const;
  size_t Contains(Keys keys, Bitmap out) const;
  std::vector<BankHit> Select(Keys keys) const;
  std::vector<uint64_t> CountPerMember(Keys keys) const;

  // The pages that did not match their checksums when they were read, by all lookups up to now,
  // ascending and each once: also those that a later read finds intact.
  std::vector<BankDamage> damaged() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tamis

#endif  // TAMIS_BANK_BANK_READER_H_
