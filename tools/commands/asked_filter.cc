#include "tools/commands/asked_filter.h"

#include <tamis/error.h>

#include <algorithm>
#include <cstring>

#include "tools/output/format.h"

namespace tamis::tools {
namespace {

void RefuseForForeign(bool given, const char* options, const std::string& path) {
  if (!given) return;
  throw Error(ErrorCode::kInvalidArgument,
              path + " is a filter of another library, which takes no " + options);
}

ForeignFilter OpenForeign(const AskedOptions& options, const Backend* backend) {
  const OpenOptions& open = options.open;
  RefuseForForeign(open.map || open.no_map, "--map and --no-map: it is loaded", options.path);
  RefuseForForeign(open.verify || open.no_verify, "--verify and --no-verify", options.path);
  RefuseForForeign(!options.secret.path.empty(), "--secret", options.path);
  RefuseForForeign(options.type.any, "--any-type", options.path);
  if (options.format.empty()) return ForeignFilter::Open(options.path, {.backend = backend});
  if (ForeignFilter::IsImported(options.path)) {
    throw Error(ErrorCode::kInvalidArgument,
                options.path + " is an imported filter and says its format: leave out --format");
  }
  return ForeignFilter::Load(options.path, options.format, {.backend = backend});
}

AnyFilter OpenOwn(const AskedOptions& options, const RunOptions& run,
                  std::optional<uint64_t> input_bytes) {
  return OpenAsAsked(
      options.path, options.open, run, options.secret, input_bytes,
      [&](const LoadOptions& load) { return Load(options.path, load); },
      [&](const MapOptions& map) { return Map(options.path, map); });
}

std::variant<AnyFilter, ForeignFilter> Open(const AskedOptions& options, const RunOptions& run,
                                            std::optional<uint64_t> input_bytes) {
  if (!options.format.empty() || ForeignFilter::IsImported(options.path)) {
    return OpenForeign(options, run.Pinned());
  }
  return OpenOwn(options, run, input_bytes);
}

}  // namespace

void AskedOptions::AddTo(const CommandLine& command) {
  command.Add("FILTER", path, "file saved by `tamis build` or `tamis import`").Required();
  command.Add("--format", format, "FILTER is as another library wrote it: see below")
      .Type("NAME")
      .NotEmpty();
  type.AddTo(command);
  secret.AddTo(command);
  open.AddTo(command);
}

AskedFilter::AskedFilter(const AskedOptions& options, const RunOptions& run,
                         std::optional<uint64_t> input_bytes)
    : options_(options), filter_(Open(options, run, input_bytes)) {}

void AskedFilter::RequireForm(KeyType asked) const {
  if (const auto* own = std::get_if<AnyFilter>(&filter_)) {
    return options_.type.Require(**own, options_.path, asked);
  }
  const ForeignFormat& format = std::get<ForeignFilter>(filter_).format();
  if (format.key_types.Has(asked)) return;
  throw Error(ErrorCode::kInvalidArgument,
              options_.path + ": the keys of " + format.name + " are " +
                  (asked != KeyType::kInteger ? "integers: give --integers (or --u64)"
                                              : "text: leave out --integers and --u64"));
}

size_t AskedFilter::Contains(Engine& engine, const Keys& keys, Bitmap found) const {
  if (const auto* own = std::get_if<AnyFilter>(&filter_)) {
    return engine.Contains(**own, keys, found);
  }
  return std::get<ForeignFilter>(filter_).Contains(keys, found);
}

double AskedFilter::expected_fpr() const {
  const auto* const own = std::get_if<AnyFilter>(&filter_);
  return own != nullptr ? (*own)->expected_fpr() : std::get<ForeignFilter>(filter_).expected_fpr();
}

std::string AskedFilter::Doubt(KeyType type, uint64_t found, uint64_t asked) const {
  const auto* const own = std::get_if<AnyFilter>(&filter_);
  return own == nullptr
             ? ""
             : KeyTypeOptions::Doubt((*own)->key_types(), options_.path, type, found, asked);
}

std::string FormatsHelp() {
  size_t width = 0;
  for (const ForeignFormat& format : ForeignFormats()) {
    width = std::max(width, std::strlen(format.name));
  }
  std::string text =
      "Formats of other libraries, by name, with the keys that were hashed; their files do not "
      "say\n"
      "which, and with another every answer is wrong:\n";
  for (const ForeignFormat& format : ForeignFormats()) {
    text += Format("  %-*s  %s\n", static_cast<int>(width), format.name, format.what);
  }
  return text;
}

}  // namespace tamis::tools
