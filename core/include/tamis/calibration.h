// What operations cost on a machine: measured once, kept in a file, used by Engine.
#ifndef TAMIS_CALIBRATION_H_
#define TAMIS_CALIBRATION_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tamis/file.h"

namespace tamis {

// The cost of each operation of one backend on one thread, for filters of one kind and size:
// nanoseconds per integer key in a large batch, in (0, 1e6]. Of lookups half find their key;
// classic filters are full and have 7 bits per key, from which the costs of others follow.
struct CostPoint {
  std::string backend;
  uint64_t filter_bytes = 0;         // in [1, 2^53]
  double contains_ns = 0;            // with a bitmap as the output
  double insert_ns = 0;              // written straight into the filter
  double partitioned_insert_ns = 0;  // ordered first by the part of the filter they fall in
  FilterKind kind = FilterKind::kSplitBlock;
};

struct Calibration {
  static constexpr const char* kNotMeasured = "default";

  std::string machine = "default";  // what it was measured on, for people
  double thread_start_us = 20;      // until one more thread works on a call, in [0, 1e6]
  double thread_efficiency = 0.9;   // what each thread beyond the first adds, in (0, 1]
  // Of a GPU: until it works on a call, in [0, 1e6], and 10^9 bytes per second at which filters are
  // copied to it, in (0, 1e6]. Measured on `device`; kNotMeasured: nothing was, and these are
  // estimates for a bus of the fourth generation.
  std::string device = kNotMeasured;
  double device_start_us = 40;
  double upload_gb_per_s = 12;
  std::vector<CostPoint> points;  // of each backend and kind ascending in filter_bytes

  // Figures of a typical machine, for the backends of this one.
  Calibration();

  // Measures this machine with every backend, for split-block, classic and counting filters and, up
  // to 64 MiB, cuckoo filters: about half a minute on one thread and a moment on all. Filters have
  // 256 KiB, 1 MiB and so on in steps of 4 up to `max_filter_bytes`, which is at least 256 KiB, in
  // memory of that and up to 300 MiB more. What takes little time is repeated, and the figures of
  // one thread count only the time that it works, so that other programs disturb little. With one
  // thread there is nothing to measure of threads: their figures stay the typical ones. Of a GPU,
  // if there is one, lookups are measured on the wall's clock, with keys that travel to it. Throws
  // Error(kInvalidArgument) for a size out of range and as Engine for TAMIS_THREADS,
  // Error(kOutOfMemory), std::bad_alloc.
  static Calibration Measure(uint64_t max_filter_bytes = uint64_t{256} << 20);
  // The part of it that is for a GPU: replaces its figures, at the kinds and sizes of filters that
  // the points of the best backend of the host have. One that fails gets no points, so that no
  // Engine chooses it. Does nothing where there is none. Throws std::bad_alloc.
  void MeasureDevice();

  // Throws Error(kInvalidArgument), naming the figure, if one is outside the range given above.
  void Validate() const;

  // $XDG_CACHE_HOME/tamis/calibration.json, or the same under $HOME/.cache. Throws Error(kIo)
  // unless one of these environment variables holds an absolute path.
  static std::filesystem::path DefaultPath();

  // Reads a JSON file of at most 1 MiB and checks every field. Throws Error(kIo), FormatError with
  // the check and the offset: kCorrupt, or kUnsupported for a file of another version. Where the
  // text is no JSON, the offset is where the parser noticed.
  static Calibration Load(const std::filesystem::path& path);

  // Writes a JSON file, replacing the one that is there atomically; creates missing directories.
  // Bytes in names that are not UTF-8 become U+FFFD.
  // Throws Error(kIo), and as Validate.
  void Save(const std::filesystem::path& path) const;
};

}  // namespace tamis

#endif  // TAMIS_CALIBRATION_H_
