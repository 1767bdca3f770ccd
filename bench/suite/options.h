// The command line of tamis-bench: its own options, and Google Benchmark's flags.
#ifndef TAMIS_BENCH_SUITE_OPTIONS_H_
#define TAMIS_BENCH_SUITE_OPTIONS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/suite/suite.h"

namespace tamis::bench {

struct CommandLine {
  SuiteOptions suite;
  bool help = false;
  bool list = false;             // print the names of the cases and measure nothing
  std::string calibration;       // a file for tamis::Calibration::Load; empty: none
  std::string out;               // a file for tamis-report; empty: none
  std::string notes;             // a remark about the machine, for readers of the results
  std::optional<int> processor;  // the processor to use while one thread is measured
  std::string benchmark_out;     // a file in a format of Google Benchmark; empty: none
  std::string benchmark_out_format = "json";
  std::string benchmark_format = "console";
  std::vector<std::pair<std::string, std::string>> context;  // from --benchmark_context
  std::vector<char*> rest;  // for benchmark::Initialize; the program's name is first
};

extern const char kUsage[];

// Parses the command line. Throws std::invalid_argument for a wrong option.
CommandLine ParseCommandLine(int argc, char** argv);

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_OPTIONS_H_
