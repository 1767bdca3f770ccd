// Finds the files and row groups that may contain any key of a list of up to millions of keys.
#ifndef TAMIS_PARQUET_PRUNER_H_
#define TAMIS_PARQUET_PRUNER_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tamis/backend.h"
#include "tamis/parquet/column_keys.h"
#include "tamis/parquet/source.h"

namespace tamis::parquet {

// The outcome for a row group. The first three mean that the row group has none of the keys.
enum class Outcome : uint8_t {
  kNoValues,  // all values of the column are null
  kBounds,    // no key is between the smallest and the largest value of the column
  kFilter,    // the Bloom filter contains no key
  kHits,      // the Bloom filter may contain some keys
  kNoFilter,  // no Bloom filter, and some keys are between the bounds
  kDoubt,     // an error or an unsupported feature; see GroupAnswer::doubt
};

// Returns true if a row group with this outcome may contain a key.
constexpr bool IsKept(Outcome outcome) noexcept { return outcome >= Outcome::kHits; }

// The answer for one row group.
struct GroupAnswer {
  Outcome outcome = Outcome::kDoubt;  // whether the row group may contain a key
  uint64_t rows = 0;                  // number of rows
  uint64_t bytes = 0;  // compressed; uncompressed if the footer lacks the compressed size
  // Number of distinct keys of the list that the row group may contain. Without a filter, these are
  // all keys within the bounds. With a filter and Detail::kGroups, the query stops at the first
  // hit, so that the number is at most 1. For kDoubt, the number is 0.
  uint64_t hits = 0;
  std::string doubt = {};           // the reason for kDoubt; otherwise ""
  std::vector<uint32_t> keys = {};  // with Detail::kPairs: the `hits` keys, as indices in the list
};

// The answer for one file.
struct FileAnswer {
  std::string name;    // name of the file
  uint64_t bytes = 0;  // size of the file
  // Why the file could not be queried; otherwise "". If there is a reason, the file is kept, and
  // `groups` is empty.
  std::string doubt = {};
  std::vector<GroupAnswer> groups = {};  // the answers for its row groups

  // Returns true if the file may contain a key.
  bool kept() const noexcept;
};

// How detailed an answer is. More detail takes more queries.
enum class Detail : uint8_t {
  kGroups,  // which row groups may contain keys; a query of a row group stops at the first hit
  kCounts,  // also the number of keys that each row group may contain
  kPairs,   // also these keys; `keys` is empty for kDoubt, because any key may be there
};

// Options of a ParquetPruner.
struct PrunerOptions {
  std::string column = {};          // a path, in the syntax of Schema::Find
  Detail detail = Detail::kGroups;  // how detailed answers are
  bool bounds = true;               // compare with the smallest and largest values first
  bool filters = true;              // query the Bloom filters
  // Number of threads of Run, like EngineOptions::threads.
  unsigned threads = 0;
  const Backend* backend = nullptr;  // nullptr: DefaultBackend()
};

// The keys that a ParquetPruner queries in columns of one type.
struct AskedType {
  Column column;             // the first column of that type
  std::string problem = {};  // why columns of the type cannot be queried; otherwise ""
  std::shared_ptr<const ColumnKeys> keys = {};  // the keys in the form of the column
};

// An estimate of the row groups that filters can rule out, from a sample of their Bloom filters.
struct Prediction {
  uint64_t filters = 0;   // size of the sample; 0: no estimate
  double keys = 0;        // mean number of keys of the list within the bounds
  double rate = 0;        // mean false-positive rate
  double false_hits = 0;  // mean number of false positives in a row group: keys x rate
  // Among the row groups that contain none of the keys: the share that their filters rule out.
  double ruled_out = 0;
};

// Compares keys first with the bounds, and then queries the filters. Hashes the keys once for each
// type that the columns with the given path have. In doubt, keeps the file or row group. This
// happens if
//   - the file cannot be read,
//   - the footer or a filter is damaged, or a filter is of an unknown kind,
//   - the column is missing, encrypted or of a type that cannot be queried,
//   - no key fits the type of the column.
//
// Any number of threads may call the functions at the same time.
class ParquetPruner {
 public:
  // The values of `keys` must outlive the pruner. Throws Error(kInvalidArgument) for an empty list,
  // and for options.threads in the cases of Engine.
  ParquetPruner(KeyList keys, PrunerOptions options);
  ~ParquetPruner();
  ParquetPruner(const ParquetPruner&) = delete;
  ParquetPruner& operator=(const ParquetPruner&) = delete;

  // Queries all row groups of a file on the calling thread. Throws only std::bad_alloc.
  FileAnswer Ask(const Source& source) const;

  // Queries all files on options.threads threads. Calls `deliver` with one answer at a time, in the
  // order of `files`. If `advance` is given, calls it with the number of bytes queried since its
  // last call; several threads may call `advance` at the same time. Throws the exceptions of
  // `deliver` and `advance`, and std::bad_alloc.
  void Run(std::span<const std::filesystem::path> files,
           const std::function<void(FileAnswer&&)>& deliver,
           const std::function<void(uint64_t)>& advance = {}) const;

  // Estimates how many row groups filters can rule out. Reads up to `samples` filters, of files
  // that are spread evenly over `files`. Skips files with errors.
  Prediction Predict(std::span<const std::filesystem::path> files, size_t samples = 16) const;

  // The types of the columns queried so far.
  std::vector<AskedType> types() const;
  // Returns the list of keys.
  const KeyList& keys() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_PRUNER_H_
