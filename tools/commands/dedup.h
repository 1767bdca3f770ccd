// The parts of `tamis dedup` that its ways to run share.
#ifndef TAMIS_TOOLS_COMMANDS_DEDUP_H_
#define TAMIS_TOOLS_COMMANDS_DEDUP_H_

#include <tamis/engine/engine.h>
#include <tamis/filters/any_filter.h>
#include <tamis/filters/split_block_filter.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/commands/text_units.h"
#include "tools/input/input.h"
#include "tools/input/key_reader.h"
#include "tools/input/key_type.h"
#include "tools/options/parse.h"
#include "tools/options/run_options.h"
#include "tools/options/secret.h"
#include "tools/output/console.h"

namespace tamis::tools {

struct DedupOptions {
  InputOptions input;
  KeyTypeOptions form;
  SecretOptions secret;
  RunOptions run;
  TextOptions text;
  std::string filter;                 // empty: the filter is not saved
  std::string against;                // empty: lines are compared with each other
  std::string folder;                 // for one output per input; empty: standard output
  uint64_t checkpoint = kCheckpoint;  // inputs between two checkpoints of the folder
  // Options of a new filter.
  std::optional<FilterKind> kind;
  FilterOptions made = {};
  std::optional<double> fpr;
  bool exact = false;
  bool scalable = false;
  WindowSize window;  // not given: all keys are remembered
  bool overfull = false;
  SaveOptions save;
  bool json = false;

  static constexpr uint64_t kCheckpoint = 10;

  // By default, empty lines are compared and written like other lines.
  DedupOptions() { input.empty = "keep"; }

  FilterKind new_kind() const { return kind.value_or(SplitBlockBloomFilter::kKind); }
  KeyType key_type() const { return text.by_words() ? KeyType::kInteger : input.key_type(); }
};

// Writes records as they are. If the last record of a file lacks its line end, adds it before the
// next record.
class RecordWriter {
 public:
  // `raw` records are integers without line ends.
  RecordWriter(Output& out, bool raw) : out_(out), raw_(raw) {}

  void Write(std::string_view record) {
    if (record.empty()) return;
    if (open_) out_.Write("\n");
    out_.Write(record);
    open_ = !raw_ && record.back() != '\n';
  }
  void Write(const KeyBatch& batch, TextUnits& texts) {
    for (size_t i = 0; i < batch.size(); ++i) Write(texts.Record(batch, i));
    out_.Flush();
  }
  void Write(const KeyBatch& batch, Bitmap fresh) {
    for (size_t i = 0; i < batch.size(); ++i) {
      if (fresh.Test(i)) Write(batch.records[i]);
    }
    out_.Flush();  // lines of slow input are written without delay
  }

 private:
  Output& out_;
  const bool raw_;
  bool open_ = false;
};

// Makes a new filter, or loads the one at `path`, if it is not empty. Throws
// Error(kInvalidArgument) for options that do not fit the filter. `total_bytes` are the bytes of
// all inputs, if known.
AnyFilter FilterFor(const DedupOptions& options, const std::string& path,
                    std::optional<uint64_t> total_bytes);

// Runs `tamis dedup --exact`. Returns the exit status.
int RunExact(const DedupOptions& options, const Engine& engine,
             std::optional<uint64_t> total_bytes);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_COMMANDS_DEDUP_H_
