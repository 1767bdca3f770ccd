// The folder of `tamis dedup --output-dir`, with a checkpoint for a run that is interrupted.
#ifndef TAMIS_TOOLS_COMMANDS_DEDUP_FOLDER_H_
#define TAMIS_TOOLS_COMMANDS_DEDUP_FOLDER_H_

#include <tamis/file/file.h>
#include <tamis/filters/filter.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/input/input.h"

namespace tamis::tools {

// Each input has an output of its own in the folder, with the name of the input. A checkpoint is
// three files:
// - tamis-dedup-N.tamis is the filter after the first N inputs.
// - tamis-dedup.files has a line for each of these inputs. Lines are only appended, so the
//   checkpoints of a run write each line once.
// - tamis-dedup.json has the options, N and the counts. It is replaced last, and names the filter.
// A run that is killed may leave more filters and lines, which the next run removes.
class DedupFolder {
 public:
  // Creates the folder if needed, and locks it. If it has a checkpoint, reads it. `others` are the
  // files that the run reads besides the inputs. `options` are all options that change the outputs.
  //
  // Throws Error(kInvalidArgument) if an input is not a file, if two inputs would have the same
  // output, if an output would be a file of a checkpoint, or if the run would replace or remove a
  // file that it reads. Also throws it if the checkpoint has other options or other first inputs,
  // or if an output was changed or is missing.
  // Throws Error(kBusy) if another run writes to the folder, Error(kCorrupt) for a checkpoint that
  // is damaged, and Error(kIo).
  DedupFolder(const std::string& path, const InputOptions& input,
              const std::vector<std::string>& others, nlohmann::ordered_json options);

  // Returns how many inputs the checkpoint has.
  size_t done() const { return done_; }
  // Returns how many inputs the run of the checkpoint had, including those that are not done.
  size_t planned() const { return planned_; }
  // Returns the path of the filter of the checkpoint, or "" if no filter was saved.
  std::string filter() const { return filter_.empty() ? "" : In(filter_); }
  // Returns the counts of the checkpoint, or null without a checkpoint.
  const nlohmann::ordered_json& counts() const { return counts_; }

  // Returns the path of the file with the counts.
  std::string checkpoint() const;
  // The name for an output that is being written. No other output has it.
  std::string unfinished() const { return In("tamis-dedup.part"); }
  // Returns the path of the output of input `i`.
  std::string OutputOf(size_t i) const { return In(outputs_[i]); }

  // Saves a checkpoint after the first `done` inputs, whose outputs are complete. `filter` is
  // nullptr if the run changes no filter. Throws the errors of Save.
  void Save(size_t done, const Filter* filter, nlohmann::ordered_json counts);

 private:
  std::string In(const std::string& name) const;
  void CheckNames(const std::vector<std::string>& others) const;
  void Read();
  void ReadFiles(const std::string& again);
  std::string Describe(size_t i) const;
  void AppendFiles(size_t done);
  std::vector<std::string> Filters() const;
  void RemoveOtherFilters() const;

  const std::string path_;
  const std::vector<std::string> inputs_;
  const nlohmann::ordered_json options_;
  std::vector<std::string> outputs_;  // names in the folder
  std::unique_ptr<const FileLock> lock_;
  size_t done_ = 0;           // inputs of the checkpoint
  uint64_t files_bytes_ = 0;  // their lines
  size_t planned_ = 0;
  std::string filter_;  // its name in the folder
  nlohmann::ordered_json counts_;
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_COMMANDS_DEDUP_FOLDER_H_
