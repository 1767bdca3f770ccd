// The costs of operations on a machine: measured once, kept in a file, used by Engine.
#ifndef TAMIS_ENGINE_CALIBRATION_H_
#define TAMIS_ENGINE_CALIBRATION_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tamis/file/file.h"

namespace tamis {

// The costs of operations on one machine.
struct Calibration {
  // The costs of one backend on one thread, for filters of one kind and size: nanoseconds per
  // integer key in a large batch, in (0, 1e6]. Half of the queries find their key. Classic filters
  // are full and set 7 bits for each key. The costs for other numbers of bits are computed from
  // these. For static filters, both costs of insertion are the cost of building the filter.
  struct Point {
    std::string backend;                        // name of the backend
    uint64_t filter_bytes = 0;                  // in [1, 2^53]
    double contains_ns = 0;                     // a query whose output is a bitmap
    double insert_ns = 0;                       // an insertion that writes directly into the filter
    double partitioned_insert_ns = 0;           // an insertion that first orders keys by region
    FilterKind kind = FilterKind::kSplitBlock;  // kind of the filter
  };

  // The value of `machine` and `device` for estimates.
  static constexpr const char* kNotMeasured = "default";

  std::string machine = "default";  // name of the measured machine, for people
  double thread_start_us = 20;      // time until another thread begins to work, in [0, 1e6]
  double thread_efficiency = 0.9;   // speed that each thread beyond the first adds, in (0, 1]
  // The GPU for which the next two values were measured. If `device` is kNotMeasured, the values
  // are estimates for PCI Express of the fourth generation.
  std::string device = kNotMeasured;
  double device_start_us = 40;  // time until the GPU begins to work on a call, in [0, 1e6]
  double upload_gb_per_s = 12;  // 10^9 bytes of a filter copied to the GPU per second, in (0, 1e6]
  std::vector<Point> points;    // for each backend and kind, ascending by filter_bytes

  // Sets the costs of a typical machine, for the backends of this machine.
  Calibration();

  // Measures this machine: every backend, with split-block, classic and counting filters, and with
  // cuckoo and fuse filters up to 64 MiB. Runs on one thread for about half a minute, and on all
  // threads for a moment.
  //
  // The measured filters have 256 KiB, 1 MiB and so on, each 4 times as much as the one before, up
  // to `max_filter_bytes`, which is at least 256 KiB. The call allocates up to `max_filter_bytes` +
  // 600 MiB of memory. Short measurements are repeated, and measurements on one thread count only
  // its processor time, so that other programs hardly change the results. On a machine with one
  // thread, the costs of threads keep their typical values. Queries on a GPU, if there is one, are
  // measured by the wall clock and include the transfer of the keys.
  //
  // Throws Error(kInvalidArgument) for a size out of range or a bad TAMIS_THREADS (see Engine),
  // Error(kOutOfMemory), and std::bad_alloc.
  static Calibration Measure(uint64_t max_filter_bytes = uint64_t{256} << 20);
  // Does the part of Measure that measures a GPU. Replaces the costs of the GPU, for the kinds and
  // sizes of filters that `points` has for the host's best backend. If the GPU fails, `points` gets
  // no costs for it, so no Engine chooses it. Does nothing without a GPU. Throws std::bad_alloc.
  void MeasureDevice();

  // Throws Error(kInvalidArgument), with the name of the value, if a value is outside its range
  // above.
  void Validate() const;

  // Returns $XDG_CACHE_HOME/tamis/calibration.json, or $HOME/.cache/tamis/calibration.json, and on
  // Windows %LOCALAPPDATA%\tamis\calibration.json. Throws Error(kIo) if none of these environment
  // variables is an absolute path.
  static std::filesystem::path DefaultPath();

  // Reads a JSON file of at most 1 MiB and checks every field. Throws Error(kIo), and FormatError
  // with the check and the offset: kCorrupt, or kUnsupported for a file of another version. If the
  // text is not JSON, the offset is the place where the parser stopped.
  static Calibration Load(const std::filesystem::path& path);

  // Writes a JSON file, and atomically replaces an older one. Creates missing directories. Bytes in
  // names that are not UTF-8 become U+FFFD. Throws Error(kIo), and the errors of Validate.
  void Save(const std::filesystem::path& path) const;
};

}  // namespace tamis

#endif  // TAMIS_ENGINE_CALIBRATION_H_
