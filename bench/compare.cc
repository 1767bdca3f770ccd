// tamis_compare: bulk operations against one-key loops, the machine's limit, two threads and
// Boost.Bloom, in one process: same keys, same memory, and repetitions that take turns.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "bench/compare_report.h"
#include "bench/comparison.h"
#include "bench/limits.h"
#include "bench/workload.h"

namespace tamis::bench {
namespace {

constexpr char kUsage[] =
    R"(usage: tamis_compare [options]
  --quick            one small size: shows that everything runs, not how fast
  --max-keys N       leave out larger sizes (default: 100000000, which takes 1.5 GiB)
  --repetitions R    of every size (default: 7; 5 for 100000000 keys)
  --pin CPU          keep the thread on one processor where only one is measured
  --backend NAME     one of `tamis backends` (default: the best, or TAMIS_BACKEND)
  --json FILE        write all samples to a file, too
Processes differ in the physical memory they get: run it three times, with nothing else running.
)";

struct Options {
  bool help = false;
  bool quick = false;
  uint64_t max_keys = 100'000'000;
  std::optional<int> repetitions;
  std::optional<int> processor;
  std::string backend;
  std::string json;
};

template <typename Number>
Number Parse(std::string_view option, std::string_view value, Number min) {
  Number number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || number < min) {
    throw std::invalid_argument(std::string(option) + " is \"" + std::string(value) +
                                "\"; allowed: whole numbers from " + std::to_string(min));
  }
  return number;
}

Options ParseOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    const auto value = [&]() -> std::string_view {
      if (++i == argc) throw std::invalid_argument(std::string(option) + " needs a value");
      return argv[i];
    };
    if (option == "--help") {
      options.help = true;
    } else if (option == "--quick") {
      options.quick = true;
    } else if (option == "--max-keys") {
      options.max_keys = Parse<uint64_t>(option, value(), 100'000);
    } else if (option == "--repetitions") {
      options.repetitions = Parse<int>(option, value(), 1);
    } else if (option == "--pin") {
      options.processor = Parse<int>(option, value(), 0);
    } else if (option == "--backend") {
      options.backend = value();
    } else if (option == "--json") {
      options.json = value();
    } else {
      throw std::invalid_argument("unknown option \"" + std::string(option) + "\"");
    }
  }
  return options;
}

std::vector<SizePlan> Sizes(const Options& options) {
  if (options.quick) return {{10'000, 20'000, options.repetitions.value_or(2)}};
  std::vector<SizePlan> sizes;
  for (const SizePlan& size :
       {SizePlan{100'000, 1'000'000, 7}, SizePlan{1'000'000, 1'000'000, 7},
        SizePlan{10'000'000, 4'000'000, 7}, SizePlan{100'000'000, 4'000'000, 5}}) {
    if (size.keys > options.max_keys) break;
    sizes.push_back({size.keys, size.queries, options.repetitions.value_or(size.repetitions)});
  }
  return sizes;
}

std::string TwoDigits(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f", value);
  return text;
}

void Run(const Options& options) {
  const Backend& backend =
      options.backend.empty() ? DefaultBackend() : FindBackend(options.backend);
  Facts facts = MachineFacts();
  const Pinning pinning(options.processor);
  const std::vector<SizePlan> sizes = Sizes(options);
  // What a peer rounds up to, and one cache line.
  Arena arena(FilterBytes(sizes.back().keys) + 4096);

  Contenders contenders = TamisContenders(backend, pinning.processors());
#if TAMIS_HAVE_PEER
  for (auto& peer : PeerContenders()) contenders.push_back(std::move(peer));
#endif

  facts.emplace_back("backend", backend.name);
  facts.emplace_back("pinned to", options.processor ? std::to_string(*options.processor) : "no");
  const auto huge = HugePageBytes();  // of the arena: there is nothing else yet
  facts.emplace_back("arena", std::to_string(arena.memory().size() >> 10) +
                                  " KiB, in huge pages: " +
                                  (huge ? std::to_string(*huge >> 10) + " KiB" : "unknown"));
  facts.emplace_back("read rate", TwoDigits(SequentialReadRate(arena.memory(), 5)) +
                                      " GB/s, the arena from end to end, one thread");
  PrintFacts(facts);

  std::vector<SizeResult> results;
  for (const SizePlan& size : sizes) {
    results.push_back(Compare(size, contenders, arena, pinning));
    PrintSize(results.back());
  }
  const std::vector<Ratio> ratios = Ratios(results);
  PrintRatios(ratios);
  if (pinning.processors() < 2) std::printf("Two threads: not measured on one processor.\n");
#if !TAMIS_HAVE_PEER
  std::printf("Boost.Bloom: not measured, its headers were not found (TAMIS_PEER_INCLUDE).\n");
#endif
  if (!options.json.empty()) WriteJson(options.json, facts, results, ratios);
}

}  // namespace
}  // namespace tamis::bench

int main(int argc, char** argv) {
  try {
    const tamis::bench::Options options = tamis::bench::ParseOptions(argc, argv);
    if (options.help) {
      std::fputs(tamis::bench::kUsage, stdout);
      return 0;
    }
    tamis::bench::Run(options);
    return 0;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "tamis_compare: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tamis_compare: %s\n", error.what());
    return 1;
  }
}
