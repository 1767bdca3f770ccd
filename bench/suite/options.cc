#include "bench/suite/options.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string_view>

namespace tamis::bench {

// Upper bounds of the seconds of a run on a machine that is not slow.
constexpr double kQuickSeconds = 150;
constexpr double kDefaultSeconds = 840;
constexpr double kQuickSampleSeconds = 0.025;
constexpr double kSampleSeconds = 0.05;
constexpr uint64_t kPresetKeys[] = {100'000, 1'000'000, 10'000'000, 100'000'000};

const char kUsage[] =
    R"(usage: tamis-bench [options] [flags of Google Benchmark]
Measures every filter, operation and backend at sizes that depend on the caches of this machine,
and the limits of the machine itself. Compare and draw the results with tamis-report.

  --quick             the main points, in less than 3 minutes (default: less than 15)
  --full              all combinations; hours where the last-level cache is large
  --preset NAME       quick, default, full, or one of three that compare kinds at numbers of keys,
                      with ratios: bulk queries and builds of integers, also on two threads, and
                      calls with one key. peers: other libraries, and split_block, bloom and
                      fuse8; kinds: all kinds of tamis; live: concurrent kinds beside the plain ones
  --out FILE          write the results to a JSON file for tamis-report
  --notes TEXT        a remark about this machine for readers of the results, such as
                      "laptop on its charger"; no names of people or hosts
  --sizes NAMES       only these sizes: L1,L2,LLC,memory,1MiB,64MiB,GPU (all sizes on a GPU), or one
                      size on a GPU, such as GPU_16MiB. While a GPU is measured, FILE.part contains
                      the sizes so far
  --keys NUMBERS      filters for these numbers of keys instead of sizes, such as 100000,10000000
                      (default of the presets peers, kinds and live: 10^5, 10^6, 10^7 and 10^8,
                      which takes 1.7 GiB)
  --max-bytes SIZE    leave out larger filters; SIZE is a number such as 64M or 1G
  --calibrate FILE    measure only the calibration of tamis::Engine, for Calibration::Load, with
                      filters up to --max-bytes
  --pin CPU           stay on one processor while one thread is measured
  --help              print this text and the flags of Google Benchmark

Flags of Google Benchmark with a special meaning here:
  --benchmark_filter=REGEX       measure only cases that match (with a leading "-": do not match)
  --benchmark_list_tests         print the names of all selected cases
  --benchmark_repetitions=N      a fixed number of repetitions (default: as time allows, 3 to 11)
  --benchmark_min_time=SECONDS   time of one sample (default: 0.025 for --quick, otherwise 0.05)
  --benchmark_out=FILE           write all samples in --benchmark_out_format (json, csv)
  --benchmark_format=FORMAT      json or csv: print all samples instead of the table

TAMIS_BACKEND=NAME measures one backend instead of all. Examples:
  tamis-bench --quick --out a.json && tamis-report a.json -o a.html
  TAMIS_BACKEND=AVX2 tamis-bench --quick --out avx2.json && tamis-report a.json avx2.json -o b.html
  tamis-bench --benchmark_filter=/latency/
  tamis-bench --preset peers --keys 100000,10000000 --out peers.json
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

// Calls visit(part) for each part of a list separated by commas.
void ForEachPart(std::string_view value, const std::function<void(std::string_view)>& visit) {
  for (;;) {
    const size_t comma = value.find(',');
    visit(value.substr(0, comma));
    if (comma == std::string_view::npos) return;
    value.remove_prefix(comma + 1);
  }
}

std::vector<std::string> ParseSizes(std::string_view value) {
  std::vector<std::string> names;
  ForEachPart(value, [&](std::string_view name) {
    if (name != "L1" && name != "L2" && name != "LLC" && name != "memory" && !IsFixedSize(name) &&
        name != kGpuSizes && !GpuSizeBytes(name)) {
      throw Wrong(
          "--sizes", value,
          "L1, L2, LLC, memory, 1MiB, 64MiB, GPU and GPU_16MiB or another size, with commas "
          "between them");
    }
    names.emplace_back(name);
  });
  return names;
}

std::vector<uint64_t> ParseKeys(std::string_view value) {
  std::vector<uint64_t> keys;
  ForEachPart(value, [&](std::string_view part) {
    constexpr char kAllowed[] = "whole numbers from 10000 to 4000000000, with commas between them";
    const uint64_t n = ParseNumber("--keys", part, kAllowed, 10'000);
    if (n > 4'000'000'000) throw Wrong("--keys", part, kAllowed);
    if (std::find(keys.begin(), keys.end(), n) == keys.end()) keys.push_back(n);
  });
  return keys;
}

Mode ParseMode(std::string_view value) {
  for (const Mode mode : kModes) {
    if (value == ModeName(mode)) return mode;
  }
  throw Wrong("--preset", value, "quick, default, full, peers, kinds and live");
}

// Sets the options that follow from the mode and that were not given.
void Complete(SuiteOptions& options) {
  const bool quick = options.mode == Mode::kQuick;
  // If this is 0, --benchmark_min_time decides.
  if (options.sample_seconds > 0 && quick) options.sample_seconds = kQuickSampleSeconds;
  options.budget_seconds = quick ? kQuickSeconds : kDefaultSeconds;
  if (options.mode == Mode::kFull) options.budget_seconds = 0;
  if (!options.keys.empty() && !options.sizes.empty()) {
    throw std::invalid_argument("--keys and --sizes exclude each other");
  }
  if (ComparesSpeeds(options.mode) && options.keys.empty() && options.sizes.empty()) {
    options.keys.assign(std::begin(kPresetKeys), std::end(kPresetKeys));
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

// Parses a flag of Google Benchmark, or leaves it in line.rest for Google Benchmark.
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
      line.suite.mode = ParseMode(option.substr(2));
    } else if (option == "--preset") {
      line.suite.mode = ParseMode(value());
    } else if (option == "--keys") {
      line.suite.keys = ParseKeys(value());
    } else if (option == "--out") {
      line.out = value();
    } else if (option == "--notes") {
      line.notes = value();
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
  Complete(line.suite);
  return line;
}

}  // namespace tamis::bench
