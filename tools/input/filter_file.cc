#include "tools/input/filter_file.h"

#include <tamis/error.h>
#include <tamis/filters/any_filter.h>
#include <tamis/formats/foreign_filter.h>

#include <algorithm>
#include <cstring>

#include "tools/output/format.h"

namespace tamis::tools {
namespace {

[[noreturn]] void Refuse(const std::string& problem) {
  throw Error(ErrorCode::kInvalidArgument, problem);
}

bool CanMap(const std::string& format) {
  const std::span formats = ForeignFormats();
  return std::any_of(formats.begin(), formats.end(), [&](const ForeignFormat& known) {
    return known.name == format && known.can_map;
  });
}

ForeignFilter OpenForeign(const FilterFileOptions& options, const RunOptions& run, KeyType keys) {
  const OpenOptions& open = options.open;
  const std::string& path = options.path;
  const auto refuse_if = [&](bool given, const char* names) {
    if (given) Refuse(path + " is a filter of another library: leave out " + names);
  };
  const bool imported = ForeignFilter::IsImported(path);
  const bool can_map = !imported && CanMap(options.format);
  refuse_if(!can_map && (open.map || open.no_map),
            "--map and --no-map, because such filters are always loaded");
  refuse_if(open.verify || open.no_verify, "--verify and --no-verify");
  refuse_if(!options.secret.path.empty(), "--secret");
  refuse_if(options.type.any, "--any-type");
  if (imported && !options.format.empty()) {
    Refuse(path + " is an imported filter, and its file names its format: leave out --format");
  }
  ForeignFilter filter = imported
                             ? ForeignFilter::Open(path, {.backend = run.Pinned()})
                             : OpenForeignFile(path, options.format, !open.no_map, run.Pinned());
  if (!filter.key_types().Has(keys)) {
    Refuse(path + ": the keys of " + filter.format().name + " are " +
           (keys != KeyType::kInteger ? "integers: give --integers (or --u64)"
                                      : "text: leave out --integers and --u64"));
  }
  return filter;
}

}  // namespace

void FilterFileOptions::AddTo(const CommandLine& command) {
  command.Add("FILTER", path, "file saved by `tamis build` or `tamis import`").Required();
  command.Add("--format", format, "FILTER was written by another library: see below")
      .Type("NAME")
      .NotEmpty();
  type.AddTo(command);
  secret.AddTo(command);
  open.AddTo(command);
}

std::shared_ptr<const Queryable> OpenQueryable(const FilterFileOptions& options,
                                               const RunOptions& run, KeyType keys,
                                               std::optional<uint64_t> input_bytes) {
  const std::string& path = options.path;
  if (!options.format.empty() || ForeignFilter::IsImported(path)) {
    return std::make_shared<ForeignFilter>(OpenForeign(options, run, keys));
  }
  const auto filter = std::make_shared<AnyFilter>(OpenAsAsked(
      path, options.open, run, options.secret, input_bytes,
      [&](const LoadOptions& load) { return Load(path, load); },
      [&](const MapOptions& map) { return Map(path, map); }));
  options.type.Require(**filter, path, keys);
  return {filter, &**filter};
}

ForeignFilter OpenForeignFile(const std::string& path, const std::string& format, bool map,
                              const Backend* backend) {
  return map && CanMap(format) ? ForeignFilter::Map(path, format, {.backend = backend})
                               : ForeignFilter::Load(path, format, {.backend = backend});
}

std::string FormatsHelp() {
  size_t width = 0;
  for (const ForeignFormat& format : ForeignFormats()) {
    width = std::max(width, std::strlen(format.name));
  }
  std::string text =
      "Formats of other libraries, with the keys that were hashed. Their files do not name the "
      "type\n"
      "of the keys, and with a wrong format every answer is wrong:\n";
  for (const ForeignFormat& format : ForeignFormats()) {
    text += Format("  %-*s  %s\n", static_cast<int>(width), format.name, format.what);
  }
  return text;
}

}  // namespace tamis::tools
