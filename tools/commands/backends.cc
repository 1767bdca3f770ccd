// tamis backends: lists the kernels that run on this machine, and measures their speed.
#include <tamis/backend.h>
#include <tamis/backends.h>
#include <tamis/engine/calibration.h>
#include <tamis/engine/engine.h>
#include <tamis/error.h>
#include <tamis/file/filter_kind_name.h>
#include <tamis/units.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/commands/commands.h"
#include "tools/options/exit_codes.h"
#include "tools/options/parse.h"
#include "tools/options/signals.h"
#include "tools/output/console.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/output_file.h"
#include "tools/output/progress.h"

namespace tamis::tools {
namespace {

constexpr char kBackendsFooter[] =
    "All backends compute the same bits, but at different speeds. Select one with --backend, or\n"
    "with TAMIS_BACKEND for every program that uses the library. --calibrate measures this\n"
    "machine for half a minute, and saves the result to a file that later tamis commands read.\n"
    "Delete this file to undo the calibration.\n"
    "\n"
    "Examples:\n"
    "  tamis backends\n"
    "  tamis backends --calibrate\n"
    "  TAMIS_BACKEND=portable tamis backends --json\n";

struct BackendsOptions {
  bool calibrate = false;
  uint64_t largest = 0;  // bytes of the largest filter to measure; 0: the default of Measure()
  bool json = false;
};

nlohmann::ordered_json CostsJson(const Calibration& calibration) {
  nlohmann::ordered_json costs = nlohmann::ordered_json::array();
  for (const Calibration::Point& point : calibration.points) {
    costs.push_back({{"backend", point.backend},
                     {"kind", FilterKindName(point.kind)},
                     {"filter_bytes", point.filter_bytes},
                     {"contains_ns", point.contains_ns},
                     {"insert_ns", point.insert_ns},
                     {"partitioned_insert_ns", point.partitioned_insert_ns}});
  }
  return costs;
}

std::string CostsText(const Calibration& calibration) {
  std::string text =
      "\nNanoseconds per integer key on one thread\n" +
      Row("backend", "filter                      query    insert  partitioned insert");
  for (const Calibration::Point& point : calibration.points) {
    text +=
        Row(point.backend, Format("%-11s  %-11s  %7.2f  %8.2f  %18.2f", FilterKindName(point.kind),
                                  BytesText(static_cast<double>(point.filter_bytes)).c_str(),
                                  point.contains_ns, point.insert_ns, point.partitioned_insert_ns));
  }
  return text;
}

Calibration Measure(uint64_t largest) {
  const Notice notice("measuring this machine ...", /*quiet=*/false);
  return largest == 0 ? Calibration::Measure() : Calibration::Measure(largest);
}

int Run(const BackendsOptions& options) {
  if (options.largest != 0 && !options.calibrate) {
    throw Error(ErrorCode::kInvalidArgument, "--largest needs --calibrate");
  }
  const Backend& chosen = DefaultBackend();
  const char* pinned = std::getenv("TAMIS_BACKEND");
  const bool is_pinned = pinned != nullptr && *pinned != '\0';
  const unsigned threads = Engine().threads();

  nlohmann::ordered_json json = {{"backends", nlohmann::ordered_json::array()}};
  std::string text = Row("backend", "");
  for (const Backend& backend : Backends()) {
    const bool is_default = backend.name == chosen.name;
    json["backends"].push_back(
        {{"name", backend.name}, {"description", backend.description}, {"default", is_default}});
    std::string description(backend.description);
    if (is_default) {
      description += is_pinned ? "  (default, pinned by TAMIS_BACKEND)" : "  (default)";
    }
    text += Row(backend.name, description);
  }
  json["missing"] = nlohmann::ordered_json::array();
  for (const MissingBackend& missing : MissingBackends()) {
    json["missing"].push_back({{"name", missing.name}, {"reason", missing.reason}});
    text += Row(missing.name, "does not run here: " + missing.reason);
  }
  json["pinned_by_environment"] = is_pinned;
  json["threads"] = threads;
  text += "\n" + Row("threads", std::to_string(threads));

  std::filesystem::path path;
  bool exists = false;
  try {
    path = Calibration::DefaultPath();
    std::error_code missing;
    exists = std::filesystem::exists(path, missing);
  } catch (const Error&) {
    if (options.calibrate) throw;  // only saving requires a home directory
  }
  if (options.calibrate) {
    SayIfSavedOnSignals(path.string());
    const Calibration calibration = Measure(options.largest);
    calibration.Save(path);
    OutputIsSaved();
    exists = true;
    json["costs"] = CostsJson(calibration);
    text += Row("calibration", "saved to " + Printable(path.string()));
    text += CostsText(calibration);
  } else {
    text += Row("calibration", exists ? Printable(path.string()) : "none; --calibrate makes one");
  }
  json["calibration"] = exists ? nlohmann::ordered_json(path.string()) : nlohmann::ordered_json();
  Print(options.json ? JsonText(json) : text);
  return kDone;
}

}  // namespace

Command AddBackends(const CommandLine& program) {
  const CommandLine command =
      program.AddCommand("backends", "List the backends that run on this machine, best first.");
  auto options = std::make_shared<BackendsOptions>();
  command.Footer(kBackendsFooter);
  command.AddFlag("--calibrate", options->calibrate, "measure this machine, and save the result");
  command
      .Add("--largest", options->largest, ParseBytes,
           "the largest filter that --calibrate measures (default: 256M)")
      .Type("SIZE");
  command.AddFlag("--json", options->json, "a report in JSON");
  return {command, [options] { return Run(*options); }};
}

}  // namespace tamis::tools
