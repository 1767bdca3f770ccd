#include "bench/suite/options.h"

#include <charconv>
#include <stdexcept>
#include <string_view>

namespace tamis::bench {

// Seconds that a run takes at most on a machine that is not slow.
constexpr double kQuickSeconds = 150;
constexpr double kDefaultSeconds = 840;
constexpr double kQuickSampleSeconds = 0.025;
constexpr double kSampleSeconds = 0.05;

const char kUsage[] =
    R"(usage: tamis-bench [options] [flags of Google Benchmark]
Measures every filter, operation and backend at sizes that follow from the caches of this machine,
beside the limits of the machine itself. Compare and draw the results with tamis-report.

  --quick             the main points, in less than 3 minutes (default: less than 15)
  --full              all combinations; hours where the last-level cache is large
  --out FILE          write the results, a JSON file for tamis-report
  --sizes NAMES       only these of L1,L2,LLC,memory,GPU (all sizes on a GPU)
  --max-bytes SIZE    no filter larger than that, such as 64M or 1G
  --calibrate FILE    measure nothing but what tamis::Engine goes by, for Calibration::Load
  --pin CPU           stay on one processor while one thread is measured
  --help              this text, and the flags of Google Benchmark

Flags of Google Benchmark that mean something of their own here:
  --benchmark_filter=REGEX       measure only what matches (or, with a leading "-", does not)
  --benchmark_list_tests         print the names of all that would be measured
  --benchmark_repetitions=N      so many, whatever the time (default: as many as fit, 3 to 11)
  --benchmark_min_time=SECONDS   of one sample (default: 0.025 for --quick, else 0.05)
  --benchmark_out=FILE           all samples in the form of --benchmark_out_format (json, csv)
  --benchmark_format=FORMAT      json or csv: print all samples in place of the table

TAMIS_BACKEND=NAME measures one backend in place of all. Examples:
  tamis-bench --quick --out a.json && tamis-report a.json -o a.html
  TAMIS_BACKEND=AVX2 tamis-bench --quick --out avx2.json && tamis-report a.json avx2.json -o b.html
  tamis-bench --sizes L2 --benchmark_filter='split_block/contains/.*/hits:50/keys:u64'
)";

namespace {

std::invalid_argument Wrong(std::string_view option, std::string_view value,
                            std::string_view allowed) {
  return std::invalid_argument(std::string(option) + " is \"" + std::string(value) +
                               "\"; allowed: " + std::string(allowed));
}

uint64_t ParseNumber(std::string_view option, std::string_view value, std::string_view allowed,
                     uint64_t min, bool units = false) {
  std::string_view digits = value;
  int shift = 0;
  if (units && !value.empty()) {
    const size_t unit = std::string_view("KMG").find(value.back());
    if (unit != std::string_view::npos) {
      shift = 10 * static_cast<int>(unit + 1);
      digits.remove_suffix(1);
    }
  }
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() ||
      number > (~uint64_t{0} >> shift) || (number << shift) < min) {
    throw Wrong(option, value, allowed);
  }
  return number << shift;
}

std::vector<std::string> ParseSizes(std::string_view value) {
  std::vector<std::string> names;
  for (std::string_view rest = value;;) {
    const size_t comma = rest.find(',');
    const std::string_view name = rest.substr(0, comma);
    if (name != "L1" && name != "L2" && name != "LLC" && name != "memory" && name != kGpuSizes) {
      throw Wrong("--sizes", value, "L1, L2, LLC, memory and GPU, with commas between them");
    }
    names.emplace_back(name);
    if (comma == std::string_view::npos) return names;
    rest.remove_prefix(comma + 1);
  }
}

std::string ParseFormat(std::string_view option, std::string_view value, bool console) {
  if (value == "json" || value == "csv" || (console && value == "console")) {
    return std::string(value);
  }
  throw Wrong(option, value, console ? "console, json or csv" : "json or csv");
}

std::vector<std::pair<std::string, std::string>> ParseContext(std::string_view value) {
  std::vector<std::pair<std::string, std::string>> context;
  for (std::string_view rest = value; !rest.empty();) {
    const std::string_view pair = rest.substr(0, rest.find(','));
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) {
      throw Wrong("--benchmark_context", value, "NAME=VALUE, with commas between several");
    }
    context.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
  }
  return context;
}

// What is left to Google Benchmark's own reader of flags.
void ParseBenchmarkFlag(std::string_view flag, std::string_view value, char* argument,
                        CommandLine& line) {
  if (flag == "--benchmark_repetitions") {
    line.suite.repetitions = ParseNumber(flag, value, "whole numbers from 1", 1);
  } else if (flag == "--benchmark_out") {
    line.benchmark_out = value;
  } else if (flag == "--benchmark_out_format") {
    line.benchmark_out_format = ParseFormat(flag, value, false);
  } else if (flag == "--benchmark_format") {
    line.benchmark_format = ParseFormat(flag, value, true);
  } else if (flag == "--benchmark_filter") {
    line.suite.filter = value == "all" ? "" : value;
  } else if (flag == "--benchmark_list_tests") {
    line.list = value.empty() || value == "true" || value == "1";
  } else {
    if (flag == "--benchmark_min_time") line.suite.sample_seconds = 0;
    if (flag == "--benchmark_context") line.context = ParseContext(value);
    line.rest.push_back(argument);
  }
}

}  // namespace

CommandLine ParseCommandLine(int argc, char** argv) {
  CommandLine line;
  line.rest.push_back(argv[0]);
  line.suite.sample_seconds = kSampleSeconds;
  line.suite.budget_seconds = kDefaultSeconds;
  for (int i = 1; i < argc; ++i) {  // first, for --benchmark_min_time has the last word
    const std::string_view option = argv[i];
    if (option == "--quick") {
      line.suite.mode = Mode::kQuick;
      line.suite.sample_seconds = kQuickSampleSeconds;
      line.suite.budget_seconds = kQuickSeconds;
    } else if (option == "--full") {
      line.suite.mode = Mode::kFull;
      line.suite.sample_seconds = kSampleSeconds;
      line.suite.budget_seconds = 0;
    }
  }
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const size_t equals = argument.find('=');
    const std::string_view option = argument.substr(0, equals);
    if (option.starts_with("--benchmark_") || option == "--v") {
      const bool has_value = equals != std::string_view::npos;
      ParseBenchmarkFlag(option, has_value ? argument.substr(equals + 1) : std::string_view(),
                         argv[i], line);
      continue;
    }
    const auto value = [&]() -> std::string_view {
      if (equals != std::string_view::npos) return argument.substr(equals + 1);
      if (++i == argc) throw std::invalid_argument(std::string(option) + " needs a value");
      return argv[i];
    };
    if (option == "--help") {
      line.help = true;
    } else if (option == "--quick" || option == "--full") {
      continue;
    } else if (option == "--out") {
      line.out = value();
    } else if (option == "--calibrate") {
      line.calibration = value();
    } else if (option == "--sizes") {
      line.suite.sizes = ParseSizes(value());
    } else if (option == "--max-bytes") {
      line.suite.max_bytes =
          ParseNumber(option, value(), "4096 bytes or more, also as 64K, 64M or 1G", 4096, true);
    } else if (option == "--pin") {
      line.processor = static_cast<int>(
          std::min<uint64_t>(ParseNumber(option, value(), "whole numbers from 0", 0), 1 << 20));
    } else {
      throw std::invalid_argument("unknown option \"" + std::string(argument) + "\"");
    }
  }
  return line;
}

}  // namespace tamis::bench
