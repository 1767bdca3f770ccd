// What operations cost on a machine: measured once, kept in a file, used by Engine.
#ifndef TAMIS_ENGINE_CALIBRATION_H_
#define TAMIS_ENGINE_CALIBRATION_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tamis/file/file.h"

namespace tamis {

// What operations cost on one machine.
struct Calibration {
  // The cost of each operation of one backend on one thread, for filters of one kind and size:
  // nanoseconds per integer key in a large batch, in (0, 1e6]. Half of the lookups find their key.
  // Classic filters are full and set 7 bits for each key; the costs of others follow from that.
  struct Point {
    std::string backend;
    uint64_t filter_bytes = 0;         // in [1, 2^53]
    double contains_ns = 0;            // with a bitmap as the output
    double insert_ns = 0;              // written straight into the filter
    double partitioned_insert_ns = 0;  // ordered first by the part of the filter they fall in
    FilterKind kind = FilterKind::kSplitBlock;
  };

  static constexpr const char* kNotMeasured = "default";

  std::string machine = "default";  // what it was measured on, for people
  double thread_start_us = 20;      // until another thread begins to work on a call, in [0, 1e6]
  double thread_efficiency = 0.9;   // what each thread beyond the first adds, in (0, 1]
  // The GPU that the next two were measured on. kNotMeasured: on none; they are estimates for a bus
  // of the fourth generation.
  std::string device = kNotMeasured;
  double device_start_us = 40;  // until it begins to work on a call, in [0, 1e6]
  double upload_gb_per_s = 12;  // 10^9 bytes of a filter copied to it in a second, in (0, 1e6]
  std::vector<Point> points;    // of each backend and kind ascending in filter_bytes

  // Figures of a typical machine, for the backends of this one.
  Calibration();

  // Measures this machine: every backend, with split-block, classic and counting filters and, up to
  // 64 MiB, cuckoo filters. Takes about half a minute on one thread and a moment on all. Filters
  // have 256 KiB, 1 MiB and so on, each 4 times the last, up to `max_filter_bytes`, which is at
  // least 256 KiB; that and up to 300 MiB more are needed in memory. Short measurements are
  // repeated, and on one thread only the time that it runs counts, so that other programs disturb
  // little. Where there is only one thread, the figures of threads stay the typical ones. Lookups
  // on a GPU, if there is one, are measured by the wall clock and include the transfer of the keys.
  // Throws Error(kInvalidArgument) for a size out of range and as Engine for TAMIS_THREADS,
  // Error(kOutOfMemory), std::bad_alloc.
  static Calibration Measure(uint64_t max_filter_bytes = uint64_t{256} << 20);
  // The part of Measure that is for a GPU: replaces its figures, for the kinds and sizes of filters
  // that `points` has for the best backend of the host. A GPU that fails gets no points, so that no
  // Engine chooses it. Does nothing where there is no GPU. Throws std::bad_alloc.
  void MeasureDevice();

  // Throws Error(kInvalidArgument), naming the figure, if one is outside the range given above.
  void Validate() const;

  // $XDG_CACHE_HOME/tamis/calibration.json, or the same under $HOME/.cache. Throws Error(kIo)
  // unless one of these environment variables holds an absolute path.
  static std::filesystem::path DefaultPath();

  // Reads a JSON file of at most 1 MiB and checks every field. Throws Error(kIo), FormatError with
  // the check and the offset: kCorrupt, or kUnsupported for a file of another version. If the
  // text is not JSON, the offset is where the parser noticed.
  static Calibration Load(const std::filesystem::path& path);

  // Writes a JSON file, replacing the one that is there atomically; creates missing directories.
  // Bytes in names that are not UTF-8 become U+FFFD.
  // Throws Error(kIo), and as Validate.
  void Save(const std::filesystem::path& path) const;
};

}  // namespace tamis

#endif  // TAMIS_ENGINE_CALIBRATION_H_
