// tamis info: describes filter files. tamis verify: checks that filter files are not damaged.
#include <tamis/error.h>
#include <tamis/file/file.h>
#include <tamis/file/file_checks.h>
#include <tamis/file/filter_kind_name.h>
#include <tamis/filters/any_filter.h>
#include <tamis/filters/any_scalable_filter.h>
#include <tamis/filters/filter_kinds.h>
#include <tamis/filters/scalable_filter.h>
#include <tamis/formats/foreign_filter.h>
#include <tamis/hash_kinds.h>
#include <tamis/key_types_text.h>
#include <tamis/units.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tamis/detail/str_cat.h"
#include "tools/commands/commands.h"
#include "tools/commands/foreign_info.h"
#include "tools/input/filter_file.h"
#include "tools/options/exit_codes.h"
#include "tools/options/secret.h"
#include "tools/output/console.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/output_file.h"

namespace tamis::tools {
namespace {

constexpr char kInfoFooter[] =
    "The estimated count and the expected FPR are computed from all bits of the filter. --header\n"
    "leaves these numbers out, and answers at once. If the hash is keyed and the file does not\n"
    "contain its secret, these numbers are printed only with --secret.\n"
    "\n"
    "Examples:\n"
    "  tamis info seen.tamis\n"
    "  tamis info --json --header *.tamis\n";

constexpr char kVerifyFooter[] =
    "Reads all bytes of each file. The exit status is 3 if a file is corrupt or cannot be read.\n"
    "\n"
    "Examples:\n"
    "  tamis verify seen.tamis\n"
    "  tamis verify --quiet backup/*.tamis || echo restore it\n";

struct InfoOptions {
  std::vector<std::string> files;
  std::string format;  // a format of another library; empty: the files themselves name it
  SecretOptions secret;
  bool header = false;
  bool json = false;
};

// Describes the layers and the options of a scalable filter. The bytes of a layer are the size of
// its payload.
nlohmann::ordered_json DescribeLayers(const ScalableView& view) {
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  for (const Filter* layer : view.layers) {
    layers.push_back({{"bytes", layer->bytes()},
                      {"capacity", layer->capacity()},
                      {"inserted", layer->inserted_count()}});
  }
  return {{"layer_kind", FilterKindName(view.layers[0]->kind())},
          {"initial_capacity", view.options.initial_capacity},
          {"growth", view.options.growth},
          {"tightening", view.options.tightening},
          {"max_bytes", view.options.max_bytes},
          {"layer_list", layers}};
}

nlohmann::ordered_json Describe(const std::string& path, bool header_only,
                                const std::optional<HashSecret>& secret) {
  const FileHeader header = ReadHeader(path);
  const FilterKindInfo& info = KindInfo(header.kind);
  const bool keyed = IsKeyed(header.hash.kind);
  // If the file cannot be opened without a secret, its layers and estimates are unknown.
  const bool closed = keyed && !header.has_secret && !secret;
  const double capacity = static_cast<double>(header.capacity);
  std::optional<AnyFilter> filter;
  if (!closed && (info.has_layers || !header_only)) {
    const bool needed = keyed && !header.has_secret;
    filter.emplace(Map(path, {.secret = needed ? secret : std::nullopt}));
  }
  std::optional<ScalableView> view;
  if (info.has_layers && filter) view = ViewScalable(**filter);
  const uint64_t bytes = view ? (*filter)->bytes() : header.payload_bytes;
  nlohmann::ordered_json json = {
      {"file", path},
      {"version", header.version},
      {"kind", FilterKindName(header.kind)},
  };
  for (size_t i = 0; i < info.geometry.size() && info.geometry[i] != nullptr; ++i) {
    json[info.geometry[i]] = header.geometry[i];
  }
  if (view) json.update(DescribeLayers(*view));
  json.update(nlohmann::ordered_json{
      {"bytes", bytes},
      {"bits_per_key", 8 * static_cast<double>(bytes) / capacity},
      {"hash", HashKindName(header.hash.kind)},
  });
  if (keyed) {
    json["secret_in_file"] = header.has_secret;
  } else {
    json["seed"] = header.hash.seed;
  }
  json.update(nlohmann::ordered_json{
      {"key_types", KeyTypesText(header.key_types)},
      {"capacity", header.capacity},
  });
  if (view) {
    json["fpr_bound"] = view->options.fpr;
  } else if (!info.has_layers) {
    json["fpr_at_capacity"] = FilterFpr(header.kind, capacity, bytes);
  }
  json["inserted"] = header.inserted;
  if (filter && !header_only) {
    json["estimated_count"] = (*filter)->estimated_count();  // infinite (null) if every bit is set
    json["expected_fpr"] = (*filter)->expected_fpr();
  }
  return json;
}

FilterKind KindNamed(const std::string& name) {
  FilterKind kind{};
  ParseFilterKind(name, kind);
  return kind;
}

std::string LayerRows(const nlohmann::ordered_json& json) {
  std::string text = Row("layer kind", json["layer_kind"].get<std::string>());
  text += Row("growth",
              Format("each layer has %g times the capacity of the layer before it, and %g of the "
                     "rate that is left",
                     json["growth"].get<double>(), 1 - json["tightening"].get<double>()));
  const auto max_bytes = json["max_bytes"].get<uint64_t>();
  text += Row("limit", max_bytes == 0 ? "none" : WithCommas(max_bytes) + " bytes");
  size_t number = 0;
  for (const auto& layer : json["layer_list"]) {
    text +=
        Row(Format("layer %zu", ++number), WithCommas(layer["inserted"].get<uint64_t>()) + " of " +
                                               WithCommas(layer["capacity"].get<uint64_t>()) +
                                               " keys, " + BytesText(layer["bytes"].get<double>()));
  }
  return text;
}

std::string InfoText(const nlohmann::ordered_json& json, const FilterKindInfo& info) {
  std::string text = Printable(json["file"].get<std::string>()) + "\n";
  const auto count = [&](const char* key) { return WithCommas(json[key].get<uint64_t>()); };
  const auto keys = [&](const char* key) { return Counted(json[key].get<uint64_t>(), "key"); };
  text += Row("kind", json["kind"].get<std::string>() + ", format version " + count("version"));
  for (const char* name : info.geometry) {
    if (name == nullptr) break;
    std::string label = name;
    std::replace(label.begin(), label.end(), '_', ' ');
    text += Row(label, count(name));
  }
  const bool scalable = json.contains("layer_kind");
  const bool erases =
      KindInfo(scalable ? KindNamed(json["layer_kind"].get<std::string>()) : info.kind).can.erase;
  if (scalable) text += LayerRows(json);
  text += Row("bytes", count("bytes") + " (" + BytesText(json["bytes"].get<double>()) + ")");
  const bool keyed = json.contains("secret_in_file");
  text += Row("hash", json["hash"].get<std::string>() +
                          (!keyed ? detail::StrCat(", seed ", json["seed"].get<uint64_t>())
                           : json["secret_in_file"].get<bool>() ? ", its secret in the file"
                                                                : ", its secret not in the file"));
  text += Row("keys", json["key_types"].get<std::string>());
  std::string rate;  // stays empty for layers that could not be opened
  if (json.contains("fpr_bound")) {
    rate = " below " + PercentText(json["fpr_bound"].get<double>());
  } else if (json.contains("fpr_at_capacity")) {
    rate = " at " + PercentText(json["fpr_at_capacity"].get<double>());
  }
  text += Row("capacity", keys("capacity") + rate +
                              Format(", %.2f bits per key", json["bits_per_key"].get<double>()));
  text += Row("inserted", keys("inserted") + (info.is_static ? ", each once"
                                              : erases ? ", duplicates included, minus those erased"
                                                       : ", duplicates included"));
  if (!json.contains("expected_fpr")) return text;
  const double estimate = json["estimated_count"].get<double>();
  text += Row("estimated count", estimate < 1e18
                                     ? Counted(static_cast<uint64_t>(std::llround(estimate)),
                                               erases ? "key" : "distinct key")
                                     : "unknown: every bit is set");
  text += Row("expected FPR", PercentText(json["expected_fpr"].get<double>()) + " at this fill");
  return text;
}

int RunInfo(const InfoOptions& options) {
  CheckStandardOutputIsNoInput(options.files);
  const std::optional<HashSecret> secret = options.secret.Read();
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const std::string& path : options.files) {
    const bool imported = ForeignFilter::IsImported(path);
    if (imported && !options.format.empty()) {
      throw Error(ErrorCode::kInvalidArgument,
                  path +
                      " is an imported filter, and its file names its format: leave out "
                      "--format");
    }
    if (imported || !options.format.empty()) {
      const ForeignFilter filter =
          imported ? ForeignFilter::Open(path)
                   : OpenForeignFile(path, options.format, /*map=*/true, nullptr);
      all.push_back(ForeignInfo(filter, path));
      if (!options.json) Print(ForeignInfoText(filter, path, imported));
      continue;
    }
    all.push_back(Describe(path, options.header, secret));
    if (!options.json) Print(InfoText(all.back(), KindInfo(ReadHeader(path).kind)));
  }
  // One file becomes an object. Several become an array.
  if (options.json) Print(JsonText(all.size() == 1 ? all[0] : all));
  return kDone;
}

struct VerifyOptions {
  std::vector<std::string> files;
  bool quiet = false;
  bool json = false;
};

// Returns a short description of the file. Throws if the file is damaged.
std::string VerifyOne(const std::string& path) {
  if (ForeignFilter::IsImported(path)) {
    const ForeignFilter filter = ForeignFilter::Open(path);
    return std::string(filter.format().name) + ", " +
           BytesText(static_cast<double>(filter.bytes()));
  }
  const FileHeader header = VerifyFile(path);
  return std::string(FilterKindName(header.kind)) + ", " +
         BytesText(static_cast<double>(header.payload_bytes)) + ", " +
         Counted(header.inserted, "key");
}

// Continues after a failure, so that one run checks all files.
int RunVerify(const VerifyOptions& options) {
  CheckStandardOutputIsNoInput(options.files);
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  int status = kDone;
  for (const std::string& path : options.files) {
    nlohmann::ordered_json json = {{"file", path}, {"ok", true}};
    try {
      const std::string what = VerifyOne(path);
      if (!options.quiet && !options.json) Print(Printable(path) + ": ok (" + what + ")\n");
    } catch (const Error& error) {
      status = kFailure;
      json["ok"] = false;
      json["error"] = error.what();
      if (const auto* format = dynamic_cast<const FormatError*>(&error)) {
        json["check"] = format->check();
        json["offset"] = format->offset();
      }
      Say(error.what());
    }
    all.push_back(json);
  }
  if (options.json) Print(JsonText(all.size() == 1 ? all[0] : all));
  return status;
}

}  // namespace

Command AddInfo(const CommandLine& program) {
  const CommandLine command =
      program.AddCommand("info", "Describe filter files, and how full the filters are.");
  auto options = std::make_shared<InfoOptions>();
  command.Footer(kInfoFooter);
  command.Add("FILE", options->files, "filter files").Required();
  command
      .Add("--format", options->format,
           "the files were written by another library: see `tamis query --help`")
      .Type("NAME")
      .NotEmpty();
  options->secret.AddTo(command);
  command.AddFlag("--header", options->header, "only the contents of the header");
  command.AddFlag("--json", options->json, "a report in JSON");
  return {command, [options] { return RunInfo(*options); }};
}

Command AddVerify(const CommandLine& program) {
  const CommandLine command =
      program.AddCommand("verify", "Check every byte of filter files against their checksums.");
  auto options = std::make_shared<VerifyOptions>();
  command.Footer(kVerifyFooter);
  command.Add("FILE", options->files, "filter files").Required();
  command.AddFlag("-q,--quiet", options->quiet, "print nothing about files that are not damaged");
  command.AddFlag("--json", options->json, "a report in JSON");
  return {command, [options] { return RunVerify(*options); }};
}

}  // namespace tamis::tools
