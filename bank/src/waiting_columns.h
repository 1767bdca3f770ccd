// The columns of a filter bank that wait for a group, untransposed.
#ifndef TAMIS_BANK_SRC_WAITING_COLUMNS_H_
#define TAMIS_BANK_SRC_WAITING_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tamis/detail/storage.h"
#include "tamis/key_types.h"
#include "tamis/memory.h"

namespace tamis::detail {

// What is kept of a filter besides its bits.
struct ColumnData {
  std::string name;
  uint64_t capacity = 0;
  uint64_t inserted = 0;
  KeyTypes key_types;
};

// Copies of filters, in chunks of memory for several of one size, which go when none of that size
// is left: in memory of their own, 64 MiB of filters took 190 of the C library's.
class WaitingColumns {
 public:
  struct Column {
    ColumnData data;
    uint64_t num_blocks;
    uint64_t* words;

    uint64_t bytes() const noexcept;
  };

  explicit WaitingColumns(const MemoryOptions& memory) : memory_(memory) {}

  size_t size() const noexcept { return columns_.size(); }
  bool empty() const noexcept { return columns_.empty(); }
  const Column& operator[](size_t i) const noexcept { return columns_[i]; }
  std::vector<Column>::const_iterator begin() const noexcept { return columns_.begin(); }
  std::vector<Column>::const_iterator end() const noexcept { return columns_.end(); }

  // Of all columns.
  uint64_t bytes() const noexcept { return bytes_; }
  // How many have so many blocks.
  uint64_t CountOf(uint64_t num_blocks) const noexcept;
  // The number of blocks of which all columns that have it take the most memory. There is one.
  uint64_t LargestSize() const noexcept;

  // Appends a copy. Throws std::bad_alloc and Error(kOutOfMemory), with nothing changed.
  void Add(ColumnData data, uint64_t num_blocks, const uint64_t* words);
  void Erase(size_t i) noexcept;
  // The first `count` of so many blocks.
  void EraseFirst(uint64_t num_blocks, size_t count) noexcept;

 private:
  struct OfSize {
    uint64_t count = 0;
    std::vector<Storage> chunks;
    std::vector<uint64_t*> free;  // has room for all places
  };
  // A place for the words of a column.
  uint64_t* TakePlace(uint64_t num_blocks, OfSize& of_size);
  void GiveUp(const Column& column) noexcept;

  MemoryOptions memory_;
  std::vector<Column> columns_;
  std::map<uint64_t, OfSize> sizes_;  // by blocks, none without columns
  uint64_t bytes_ = 0;
};

}  // namespace tamis::detail

#endif  // TAMIS_BANK_SRC_WAITING_COLUMNS_H_
