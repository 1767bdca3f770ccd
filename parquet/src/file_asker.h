// Queries the row groups of one file for the keys of a list.
#ifndef TAMIS_PARQUET_SRC_FILE_ASKER_H_
#define TAMIS_PARQUET_SRC_FILE_ASKER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tamis/parquet/bloom_filter.h"
#include "tamis/parquet/column_keys.h"
#include "tamis/parquet/footer.h"
#include "tamis/parquet/pruner.h"

namespace tamis::parquet {

// Converts the list to the types of columns, once for each type.
class KeysByType {
 public:
  explicit KeysByType(const KeyList& list) : list_(list) {}

  // Returns the keys for the type of the column. The result has `keys`, `problem` or both.
  AskedType Of(const Column& column);
  std::vector<AskedType> all() const;
  const KeyList& list() const { return list_; }

 private:
  const KeyList list_;
  mutable std::mutex mutex_;
  std::vector<AskedType> types_;
};

// Memory that a thread reuses for all row groups.
struct AskerMemory {
  FilterBuffer buffer;
  std::vector<uint32_t> positions;
};

// An open file. Several threads may query its groups at the same time.
class FileAsker {
 public:
  // Reads the footer. If the file has an error, doubt() returns it. `source` must outlive the
  // object.
  FileAsker(const Source& source, KeysByType& types, const PrunerOptions& options);

  const std::string& doubt() const { return doubt_; }
  size_t groups() const { return doubt_.empty() ? footer_->row_groups().size() : 0; }
  GroupAnswer Ask(size_t group, AskerMemory& memory) const;

  // Adds the group's filter to the sums of a prediction. Does nothing if the group has no filter
  // that can be queried.
  void Sample(size_t group, AskerMemory& memory, Prediction& sums) const;

 private:
  struct Range {
    size_t begin = 0;
    size_t end = 0;

    size_t size() const { return end - begin; }
  };

  Range Within(const ColumnChunk& chunk) const;
  void AskFilter(const ConstSplitBlockView& view, const Range& range, AskerMemory& memory,
                 GroupAnswer& answer) const;
  void KeepAll(const Range& range, GroupAnswer& answer) const;
  void AskChunk(size_t group, AskerMemory& memory, GroupAnswer& answer) const;

  const Source& source_;
  const PrunerOptions& options_;
  std::string doubt_;
  std::unique_ptr<Footer> footer_;
  size_t column_ = 0;
  std::shared_ptr<const ColumnKeys> keys_;
};

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_SRC_FILE_ASKER_H_
