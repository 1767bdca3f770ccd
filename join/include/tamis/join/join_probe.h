// Measures whether a join filter pays, and switches it off while it does not.
#ifndef TAMIS_JOIN_JOIN_PROBE_H_
#define TAMIS_JOIN_JOIN_PROBE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tamis/join/join_filter.h"
#include "tamis/keys.h"

namespace tamis {

// Whether a filter should be queried.
enum class JoinVerdict : uint8_t {
  kKeep,           // the filter pays, or has not been measured yet
  kTryAgainLater,  // it does not pay now; it will be measured again after a pause
  kSwitchOff,      // it did not pay in any of the last samples
};

// Returns "keep", "try again later" or "switch off".
const char* JoinVerdictName(JoinVerdict verdict) noexcept;

struct JoinProbeOptions {
  // Nanoseconds that a row costs after the filter, such as for a lookup in the hash table.
  double row_ns = 10;
  uint64_t sample_rows = 4096;  // rows of a sample; at least 1
  // The filter is switched off if it costs more than `margin` times what it saves, in two samples
  // in a row. It is switched on again if it saves more than `margin` times its costs. At least 1.
  // A sample does not count against the filter if it is the first one after a pause, or costs less
  // than the sample before: the filter is then on its way into the caches. A sample always counts
  // if the filter costs more than 8 times what it saves.
  double margin = 1.2;
  uint64_t pause_rows = 64 * 4096;  // rows of the first pause; each further pause is twice as long
  uint32_t max_pauses = 8;          // the pause after these never ends
};

// Queries a filter for one thread that scans the probe side. Example:
//
//   const size_t n = probe.Wanted(keys.size()) ? probe.Select(keys, out) : all rows;
//
// With p the share of rows that pass and c the nanoseconds per row of the filter, the filter saves
// (1 - p) row_ns per row, and costs c. Not thread-safe: each thread has its own.
class JoinProbe {
 public:
  // Counts of rows and calls.
  struct Counters {
    uint64_t rows = 0;           // rows that were queried
    uint64_t passed = 0;         // rows of these that passed
    uint64_t skipped = 0;        // rows that were not queried
    double ns = 0;               // nanoseconds of the queries
    uint64_t samples = 0;        // complete samples
    uint64_t switches = 0;       // changes of the verdict
    double last_pass_rate = 1;   // share of rows that passed in the last sample
    double last_ns_per_row = 0;  // nanoseconds per row in the last sample
    // Returns all values in one line of text.
    std::string ToText() const;
  };

  // `filter` must outlive this object. Throws Error(kInvalidArgument) for options out of range.
  explicit JoinProbe(const JoinFilter& filter, const JoinProbeOptions& options = {});

  // Returns whether the next `rows` rows should be queried. If not, all of them pass, and they are
  // counted as skipped. Before the filter is complete, and if its form is kNothing, returns false.
  bool Wanted(uint64_t rows) noexcept;

  // Query the filter like its functions of the same names, and measure the call.
  size_t Contains(const Keys& keys, Bitmap out);
  size_t Contains(const Keys& keys, std::span<uint8_t> out);
  size_t Select(const Keys& keys, std::span<uint32_t> out);
  size_t SelectFrom(const Keys& keys, std::span<const uint32_t> selection, std::span<uint32_t> out);

  // Adds a measurement. For engines that query and measure by themselves. Ignores a time that is
  // negative or not finite.
  void Record(uint64_t rows, uint64_t passed, double ns) noexcept;

  JoinVerdict verdict() const noexcept { return verdict_; }
  const Counters& counters() const noexcept { return counters_; }

 private:
  template <typename Call>
  size_t Timed(uint64_t rows, const Call& call);
  void EndSample() noexcept;
  void Set(JoinVerdict verdict) noexcept;

  const JoinFilter* filter_;
  JoinProbeOptions options_;
  JoinVerdict verdict_ = JoinVerdict::kKeep;
  Counters counters_;
  // The sample that is being taken.
  uint64_t rows_ = 0;
  uint64_t passed_ = 0;
  double ns_ = 0;
  // Cost of the sample before, in nanoseconds per row. Infinite after a pause.
  double last_cost_ = 0;
  uint32_t failed_ = 0;      // samples in a row in which the filter did not pay
  uint32_t pauses_ = 0;      // pauses in a row
  uint64_t pause_left_ = 0;  // rows until the next sample
};

}  // namespace tamis

#endif  // TAMIS_JOIN_JOIN_PROBE_H_
