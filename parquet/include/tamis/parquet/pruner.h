// Which files and row groups may hold any key of a list, of which there can be millions.
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

// What became of a row group. The first three hold none of the keys.
enum class Outcome : uint8_t {
  kNoValues,  // all values of the column are null
  kBounds,    // no key is between its smallest and its largest value
  kFilter,    // its Bloom filter has none
  kHits,      // its filter may have some
  kNoFilter,  // it has no filter, and some keys are between its bounds
  kDoubt,     // something is wrong, or not known: GroupAnswer::doubt
};

constexpr bool IsKept(Outcome outcome) noexcept { return outcome >= Outcome::kHits; }

struct GroupAnswer {
  Outcome outcome = Outcome::kDoubt;
  uint64_t rows = 0;
  uint64_t bytes = 0;  // in the file, as far as its footer says
  // Different keys of the list that it may hold: all that the bounds leave, where there is no
  // filter. With Detail::kGroups no more than 1 is counted of those that a filter has.
  uint64_t hits = 0;
  std::string doubt = {};
  std::vector<uint32_t> keys = {};  // of Detail::kPairs: their indices in the list
};

struct FileAnswer {
  std::string name;
  uint64_t bytes = 0;
  // Why nothing could be asked of the file, which is then kept and has no groups; else "".
  std::string doubt = {};
  std::vector<GroupAnswer> groups = {};

  bool kept() const noexcept;
};

// How much an answer says. The more it says, the more is asked.
enum class Detail : uint8_t {
  kGroups,  // which row groups: each is asked until the first hit
  kCounts,  // and how many keys each may hold
  kPairs,   // and which. Of a group in doubt `keys` stays empty: it may hold any
};

struct PrunerOptions {
  std::string column = {};  // a path, as Schema::Find takes it
  Detail detail = Detail::kGroups;
  bool bounds = true;   // ask the smallest and largest values first
  bool filters = true;  // ask the Bloom filters
  // Threads of Run, as EngineOptions::threads.
  unsigned threads = 0;
  const Backend* backend = nullptr;  // nullptr: DefaultBackend()
};

// What the list is in columns of one type.
struct AskedType {
  Column column;             // the first one of that type
  std::string problem = {};  // why it cannot be asked; else ""
  std::shared_ptr<const ColumnKeys> keys = {};
};

// What Bloom filters can rule out, by a sample of them.
struct Prediction {
  uint64_t filters = 0;   // in the sample; 0: nothing is known
  double keys = 0;        // of the list that the bounds leave, on average
  double rate = 0;        // of false hits for each key, on average
  double false_hits = 0;  // in a row group that has none of the keys: keys x rate
  double ruled_out = 0;   // share of such row groups that their filters rule out
};

// Asks first the bounds and then the filters; the keys are hashed once for each type that columns
// of that name have. Whatever is in doubt is kept: files that cannot be read, damaged footers and
// filters, unknown kinds of filters, columns that are missing, encrypted or of a type that cannot
// be asked, and columns in which not one of the keys fits the type.
//
// Any number of threads may call its functions at a time.
class ParquetPruner {
 public:
  // Of a list that outlives it. Throws Error(kInvalidArgument) for an empty list, and for threads
  // as Engine does.
  ParquetPruner(KeyList keys, PrunerOptions options);
  ~ParquetPruner();
  ParquetPruner(const ParquetPruner&) = delete;
  ParquetPruner& operator=(const ParquetPruner&) = delete;

  // All row groups of a file, on the calling thread. Throws std::bad_alloc alone.
  FileAnswer Ask(const Source& source) const;

  // All files, on all cores. `deliver` gets the answers one at a time, in the order of the files;
  // `advance`, if there is one, is told by several threads at a time of how many more bytes of
  // files it is known. Throws what these throw, and std::bad_alloc.
  void Run(std::span<const std::filesystem::path> files,
           const std::function<void(FileAnswer&&)>& deliver,
           const std::function<void(uint64_t)>& advance = {}) const;

  // Reads up to `samples` filters, of files that are spread evenly over the list.
  Prediction Predict(std::span<const std::filesystem::path> files, size_t samples = 16) const;

  // The types that columns of that name have had so far.
  std::vector<AskedType> types() const;
  const KeyList& keys() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_PRUNER_H_
