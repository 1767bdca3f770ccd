// Writes the records that are new, for `tamis dedup`.
#ifndef TAMIS_TOOLS_COMMANDS_DEDUPLICATOR_H_
#define TAMIS_TOOLS_COMMANDS_DEDUPLICATOR_H_

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/commands/dedup.h"
#include "tools/commands/seen_keys.h"
#include "tools/commands/text_units.h"
#include "tools/input/input.h"
#include "tools/input/key_reader.h"
#include "tools/output/console.h"
#include "tools/output/progress.h"

namespace tamis::tools {

class KeyCounts {
 public:
  // `fpr` is the false-positive rate at the beginning.
  explicit KeyCounts(double fpr) : fpr_(fpr) {}

  // Counts `keys` keys, of which the filter recognized `fresh` as new. `fpr` is the rate after
  // these keys. At rate p, a new key is recognized with probability 1 - p, so each recognized key
  // stands for 1 / (1 - p) new keys (the estimator of Horvitz and Thompson, "A Generalization of
  // Sampling Without Replacement From a Finite Universe", 1952). p / (1 - p) of them are lost.
  // Above kBlindFpr, all keys that were not recognized count as lost.
  void Add(uint64_t keys, uint64_t fresh, double fpr) {
    keys_ += keys;
    fresh_ += fresh;
    const double p = (fpr_ + fpr) / 2;
    lost_ += p > kBlindFpr ? static_cast<double>(keys - fresh)
                           : static_cast<double>(fresh) * p / (1 - p);
    fpr_ = fpr;
  }

  // Continues the counts of an earlier run.
  void ContinueFrom(uint64_t keys, uint64_t fresh, double lost) {
    keys_ = keys;
    fresh_ = fresh;
    lost_ = lost;
  }

  uint64_t keys() const { return keys_; }
  uint64_t fresh() const { return fresh_; }
  uint64_t left_out() const { return keys_ - fresh_; }
  double all_lost() const { return lost_; }
  // Returns the expected number of new lines that were left out.
  double lost() const { return std::min(lost_, static_cast<double>(left_out())); }

 private:
  uint64_t keys_ = 0;
  uint64_t fresh_ = 0;
  double lost_ = 0;
  double fpr_;
};

// Writes the new records of one input after the other, and counts.
class Deduplicator {
 public:
  // `options` and `seen` must outlive the object. The inputs have `total_bytes` bytes, or 0 if that
  // is unknown.
  Deduplicator(const DedupOptions& options, SeenKeys& seen, unsigned threads, uint64_t total_bytes);

  // Reads the input until its end or a signal. Writes to `out`, unless it is nullptr. Returns
  // whether the end was reached. Throws the errors of KeyReader, with `consequence`.
  bool Read(const InputOptions& input, Output* out, const char* consequence);

  // Returns the counts for a checkpoint.
  nlohmann::ordered_json counts() const;
  // Continues from the counts of a checkpoint. Throws nlohmann::json::exception for other values.
  void ContinueFrom(const nlohmann::ordered_json& counts);

  nlohmann::ordered_json Report() const;
  std::string Summary() const;

 private:
  void WriteNew(KeyReader& reader, Output* out);

  const DedupOptions& options_;
  SeenKeys& seen_;
  TextUnits texts_;
  KeyCounts lines_;
  uint64_t bad_ = 0;
  uint64_t empty_ = 0;
  Progress progress_;
  KeyBatch batch_;
  std::vector<uint64_t> words_;
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_COMMANDS_DEDUPLICATOR_H_
