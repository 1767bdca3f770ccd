// tamis plan: how large a filter would be, and whether something exact would be smaller.
#include <tamis/error.h>
#include <tamis/memory.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/commands.h"
#include "tools/console.h"
#include "tools/exit_codes.h"
#include "tools/filter_kinds.h"
#include "tools/format.h"
#include "tools/parse.h"

namespace tamis::tools {
namespace {

constexpr char kFooter[] =
    "Examples:\n"
    "  tamis plan --n 5e9 --fpr 0.01\n"
    "  tamis plan --n 5e9 --fpr 0.1% --digits 11\n"
    "  tamis plan --n 2e9 --range 0:4294967295 --json\n";

struct PlanOptions {
  uint64_t n = 0;
  double fpr = 0.01;
  std::optional<Range> range;
  bool json = false;
};

// A way to keep the keys. Sizes are double: some are far past what an integer holds.
struct Structure {
  std::string name;
  double bytes = 0;
  double fpr = 0;    // 0: exact
  std::string note;  // or, where bytes is 0, why it cannot be
};

std::vector<Structure> Filters(const PlanOptions& options) {
  std::vector<Structure> filters;
  for (const KindInfo& kind : FilterKinds()) {
    Structure filter;
    filter.name = FilterKindName(kind.kind);
    try {
      const uint64_t bytes = kind.bytes(options.n, options.fpr);
      filter.bytes = static_cast<double>(bytes);
      filter.fpr = kind.fpr(static_cast<double>(options.n), bytes);
      if (kind.erases) filter.note = "keys can be erased";
    } catch (const Error& error) {
      filter.note = error.what();
    }
    filters.push_back(filter);
  }
  return filters;
}

std::vector<Structure> ExactStructures(const PlanOptions& options) {
  const auto n = static_cast<double>(options.n);
  std::vector<Structure> exact;
  if (options.range) {
    const double values = options.range->size();
    exact.push_back({"bitmap of the range", std::ceil(values / 8), 0,
                     Format("one bit for each of %.4g values; the fastest of all", values)});
    // Elias 1974, Fano 1971: the low bits of each key as they are, its high part in unary.
    const double low_bits = std::max(0.0, std::floor(std::log2(values / n)));
    const double bits = n * (low_bits + 1) + values / std::exp2(low_bits);
    exact.push_back({"Elias-Fano list", std::ceil(bits / 8), 0,
                     "sorted and compressed; several cache misses per key"});
  }
  exact.push_back({"sorted 64-bit keys", 8 * n, 0, "binary search; some 30 cache misses per key"});
  return exact;
}

const Structure* Smallest(const std::vector<Structure>& structures) {
  const Structure* smallest = nullptr;
  for (const Structure& structure : structures) {
    if (structure.bytes == 0) continue;
    if (smallest == nullptr || structure.bytes < smallest->bytes) smallest = &structure;
  }
  return smallest;
}

// What to make of the sizes.
std::string Advice(const PlanOptions& options, const Structure* filter, const Structure& exact) {
  if (filter == nullptr) return "  No filter can be that large.\n";
  std::string advice;
  if (exact.bytes <= filter->bytes) {
    advice = "  Smaller, and exact: " + exact.name + ", " + HumanBytes(exact.bytes) + " against " +
             HumanBytes(filter->bytes) + ". (tamis has filters only.)\n";
  } else {
    advice = "  The " + filter->name + " filter is " + Format("%.1f", exact.bytes / filter->bytes) +
             " times smaller than the smallest exact structure here.\n";
  }
  if (options.range) {
    const double bits_per_key = 8 * filter->bytes / static_cast<double>(options.n);
    advice += Format("  A bitmap of this range is smaller than the filter from %.3g keys up.\n",
                     options.range->size() / bits_per_key);
  } else {
    advice += "  If the keys are integers of a known range, compare with --range or --digits.\n";
  }
  return advice;
}

std::string Line(const PlanOptions& options, const Structure& structure) {
  if (structure.bytes == 0) return Row(structure.name, structure.note);
  const double bits = 8 * structure.bytes / static_cast<double>(options.n);
  const std::string fpr = structure.fpr == 0 ? "exact" : Percent(structure.fpr);
  return Row(structure.name, Format("%-11s  %8.2f  %-10s  %s", HumanBytes(structure.bytes).c_str(),
                                    bits, fpr.c_str(), structure.note.c_str()));
}

int Run(const PlanOptions& options) {
  const auto n = static_cast<double>(options.n);
  if (options.range && n > options.range->size()) {
    throw Error(ErrorCode::kInvalidArgument,
                WithCommas(options.n) + Format(" distinct keys do not fit a range of %.17g values",
                                               options.range->size()));
  }
  const std::vector<Structure> filters = Filters(options);
  const std::vector<Structure> exact = ExactStructures(options);
  const Structure least = {"(least possible)", std::ceil(n * -std::log2(options.fpr) / 8),
                           options.fpr, "n log2(1/p) bits: the bound for keys of any kind"};
  const Structure* filter = Smallest(filters);
  const Structure& smallest_exact = *Smallest(exact);
  const uint64_t memory = PhysicalMemory();

  if (options.json) {
    const auto list = [&](const std::vector<Structure>& structures) {
      nlohmann::ordered_json json = nlohmann::ordered_json::array();
      for (const Structure& one : structures) {
        if (one.bytes == 0) {
          json.push_back({{"name", one.name}, {"error", one.note}});
          continue;
        }
        json.push_back(
            {{"name", one.name},
             {"bytes", one.bytes < 0x1p63 ? nlohmann::ordered_json(static_cast<uint64_t>(one.bytes))
                                          : nlohmann::ordered_json(one.bytes)},
             {"bits_per_key", 8 * one.bytes / n},
             {"fpr", one.fpr},
             {"fits_memory", one.bytes <= static_cast<double>(memory)}});
      }
      return json;
    };
    const nlohmann::ordered_json json = {
        {"n", options.n},
        {"fpr", options.fpr},
        {"filters", list(filters)},
        {"minimum", list({least})[0]},
        {"exact", list(exact)},
        {"exact_is_smaller", filter == nullptr || smallest_exact.bytes <= filter->bytes},
        {"memory_bytes", memory},
    };
    Print(json.dump(2) + "\n");
    return kDone;
  }

  std::string text =
      WithCommas(options.n) + " keys at a false-positive rate of " + Percent(options.fpr) + "\n\n";
  text += Row("", "bytes        bits/key  true FPR");
  for (const Structure& one : filters) text += Line(options, one);
  text += Line(options, least);
  for (const Structure& one : exact) text += Line(options, one);
  text += "\n" + Advice(options, filter, smallest_exact);
  if (memory > 0 && filter != nullptr) {
    text += "  This machine has " + HumanBytes(static_cast<double>(memory)) + " of memory: the " +
            filter->name +
            (filter->bytes <= static_cast<double>(memory) ? " filter fits.\n"
                                                          : " filter does not fit.\n");
  }
  Print(text);
  return kDone;
}

}  // namespace

Command AddPlan(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "plan", "Compute sizes and true error rates of filters, and of exact structures.");
  auto options = std::make_shared<PlanOptions>();
  command->footer(kFooter);
  AddParsed(*command, "-n,--n", options->n, ParsePositiveCount, "distinct keys, such as 5e9 or 5G")
      ->required()
      ->type_name("N");
  AddParsed(*command, "-p,--fpr", options->fpr, ParseFpr,
            "false-positive rate asked for (default: 0.01)")
      ->type_name("P");
  CLI::Option* range = command->add_option_function<std::string>(
      "--range",
      [options](const std::string& text) { options->range = ParseRange("--range", text); },
      "the keys are integers from LO to HI");
  range->type_name("LO:HI");
  command
      ->add_option_function<std::string>(
          "--digits",
          [options](const std::string& text) { options->range = ParseDigits("--digits", text); },
          "the keys are integers of up to D decimal digits")
      ->type_name("D")
      ->excludes(range);
  command->add_flag("--json", options->json, "the same in JSON");
  return {command, [options] { return Run(*options); }};
}

}  // namespace tamis::tools
