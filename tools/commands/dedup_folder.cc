#include "tools/commands/dedup_folder.h"

#include <tamis/error.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "tamis/detail/str_cat.h"
#include "tools/input/input_file.h"
#include "tools/os/file.h"
#include "tools/output/console.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/output_file.h"

namespace tamis::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kOwnPrefix[] = "tamis-dedup";
constexpr char kCheckpoint[] = "tamis-dedup.json";
constexpr char kFiles[] = "tamis-dedup.files";
constexpr char kLock[] = "tamis-dedup.lock";
constexpr int kFormat = 2;

[[noreturn]] void Refuse(const std::string& reason) {
  throw Error(ErrorCode::kInvalidArgument, reason);
}

// Returns the name of the output: the name of the input. If packed inputs are unpacked, it lacks
// the ending of a packed file.
std::string OutputName(const std::string& input, bool unpacks) {
  std::filesystem::path name = std::filesystem::path(input).filename();
  if (unpacks && (name.extension() == ".gz" || name.extension() == ".zst")) name = name.stem();
  return name.string();
}

// Returns whether `name` is tamis-dedup-N.tamis.
bool IsFilter(std::string_view name) {
  constexpr std::string_view kBegin = "tamis-dedup-";
  constexpr std::string_view kEnd = ".tamis";
  if (name.size() <= kBegin.size() + kEnd.size()) return false;
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd)) return false;
  name.remove_prefix(kBegin.size());
  name.remove_suffix(kEnd.size());
  return name.find_first_not_of("0123456789") == std::string_view::npos;
}

// Returns the value as it is after it was written and read. Bytes that are not UTF-8 have changed.
Json Written(const Json& json) { return Json::parse(JsonText(json)); }

uint64_t BytesOf(const std::string& path) {
  const std::optional<os::FileStatus> status = os::StatusOf(path);
  if (!status) FailRead(path, errno);
  return status->bytes;
}

}  // namespace

DedupFolder::DedupFolder(const std::string& path, const InputOptions& input,
                         const std::vector<std::string>& others, Json options)
    : path_(path), inputs_(input.paths), options_(Written(options)) {
  for (const std::string& file : inputs_) outputs_.push_back(OutputName(file, !input.as_is));
  CheckNames(others);
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  const int fd = error ? -1 : os::OpenToWrite(In(kLock), /*must_be_new=*/false);
  if (fd < 0) {
    throw Error(ErrorCode::kIo, "cannot write to the folder " + path_ + ": " +
                                    (error ? error.message() : std::strerror(errno)));
  }
  os::Close(fd);
  try {
    lock_ = std::make_unique<const FileLock>(In(kLock));
  } catch (const Error& busy) {
    if (busy.code() != ErrorCode::kBusy) throw;
    throw Error(ErrorCode::kBusy, "another run of `tamis dedup` writes to the folder " + path_);
  }
  Read();
  os::Remove(unfinished());
  RemoveOtherFilters();
  if (done() == 0) os::Remove(In(kFiles));
}

std::string DedupFolder::In(const std::string& name) const {
  return (std::filesystem::path(path_) / name).generic_string();  // messages have "/" everywhere
}

std::string DedupFolder::checkpoint() const { return In(kCheckpoint); }

void DedupFolder::CheckNames(const std::vector<std::string>& others) const {
  std::map<std::string, std::string> inputs;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const std::optional<os::FileStatus> status = os::StatusOf(inputs_[i]);
    if (inputs_[i] == "-" || (status && status->type != os::FileType::kRegular)) {
      Refuse("--output-dir needs files, and " + inputs_[i] + " is not a file");
    }
    if (outputs_[i].starts_with(kOwnPrefix)) {
      Refuse(inputs_[i] + ": in the output folder, names that begin with " + kOwnPrefix +
             " are those of the checkpoint");
    }
    const auto [other, is_new] = inputs.emplace(outputs_[i], inputs_[i]);
    if (!is_new) {
      Refuse(other->second + " and " + inputs_[i] + " would have the same output " + OutputOf(i));
    }
  }
  std::vector<std::string> changed = {checkpoint(), In(kFiles), unfinished()};
  for (const std::string& name : Filters()) changed.push_back(In(name));
  for (const std::string& name : outputs_) changed.push_back(In(name));
  std::vector<std::string> read = others;
  read.insert(read.end(), inputs_.begin(), inputs_.end());
  CheckNoneIsAnInput(changed, read);
}

std::string DedupFolder::Describe(size_t i) const {
  const Json json = {{"input", inputs_[i]},
                     {"bytes", BytesOf(inputs_[i])},
                     {"output", outputs_[i]},
                     {"output_bytes", BytesOf(OutputOf(i))}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void DedupFolder::Read() {
  const std::string path = checkpoint();
  const std::string again = ": remove " + path + " to begin again";
  std::ifstream in(path, std::ios::binary);
  if (!in) return;
  Json options;
  try {
    const Json json = Json::parse(in);
    if (json.at("format") != kFormat) {
      throw Error(ErrorCode::kUnsupported, path + ": a checkpoint of another version" + again);
    }
    options = json.at("options");
    json.at("done").get_to(done_);
    json.at("planned").get_to(planned_);
    json.at("filter").get_to(filter_);
    counts_ = json.at("counts");
    if (!options.is_object() || filter_ != std::filesystem::path(filter_).filename().string()) {
      throw Error(ErrorCode::kCorrupt, path + ": not a checkpoint" + again);
    }
  } catch (const Json::exception&) {
    throw Error(ErrorCode::kCorrupt, path + ": not a checkpoint" + again);
  }
  for (const auto& [name, value] : options_.items()) {
    if (!options.contains(name)) Refuse(path + ": the checkpoint lacks the option " + name + again);
    const Json& old = options[name];
    if (old == value) continue;
    Refuse(path + ": the checkpoint was made with " + name + " " + old.dump() + ", and not " +
           value.dump() + again);
  }
  if (done_ > inputs_.size()) {
    Refuse(detail::StrCat(path, ": the checkpoint has ", done_, " inputs, and only ",
                          inputs_.size(), " are given", again));
  }
  ReadFiles(again);
}

void DedupFolder::ReadFiles(const std::string& again) {
  const std::string path = In(kFiles);
  std::ifstream in(path, std::ios::binary);
  std::string line;
  for (size_t i = 0; i < done_; ++i) {
    Json file;
    try {
      if (!std::getline(in, line) || in.eof()) {
        throw Error(ErrorCode::kCorrupt, path + ": too short" + again);
      }
      file = Json::parse(line);
      file.at("output");
    } catch (const Json::exception&) {
      throw Error(ErrorCode::kCorrupt, path + ": not a list of files" + again);
    }
    files_bytes_ += line.size() + 1;
    const Json expected = Written({{"input", inputs_[i]}, {"bytes", BytesOf(inputs_[i])}});
    for (const auto& [name, value] : expected.items()) {
      if (file.value(name, Json()) == value) continue;
      Refuse(path + ": the " + (name == "input" ? "names" : "sizes") +
             " of the first inputs must stay the same, and " + inputs_[i] + " differs" + again);
    }
    if (!os::StatusOf(OutputOf(i)) || line + "\n" != Describe(i)) {
      Refuse(OutputOf(i) + " is missing or was changed since it was written" + again);
    }
  }
  in.close();
  // Removes the lines of a run that was killed.
  std::error_code error;
  std::filesystem::resize_file(path, files_bytes_, error);
  if (error) throw Error(ErrorCode::kIo, "cannot write " + path + ": " + error.message());
}

void DedupFolder::AppendFiles(size_t done) {
  std::string lines;
  for (size_t i = done_; i < done; ++i) lines += Describe(i);
  const std::string path = In(kFiles);
  const auto check = [&](bool fine) {
    if (!fine) throw Error(ErrorCode::kIo, "cannot write " + path + ": " + std::strerror(errno));
  };
  const int fd = os::OpenToWrite(path, /*must_be_new=*/false);
  check(fd >= 0);
  struct Closer {
    ~Closer() { os::Close(fd); }
    const int fd;
  } const closer{fd};
  check(os::SetPosition(fd, files_bytes_));
  for (std::string_view rest = lines; !rest.empty();) {
    const int64_t written = os::Write(fd, rest.data(), rest.size());
    check(written >= 0);
    rest.remove_prefix(static_cast<size_t>(written));
  }
  check(os::Sync(fd));
  files_bytes_ += lines.size();
  done_ = done;
}

void DedupFolder::Save(size_t done, const Filter* filter, Json counts) {
  const std::string old_filter = this->filter();
  if (filter != nullptr) {
    filter_ = detail::StrCat(kOwnPrefix, "-", done, ".tamis");
    filter->Save(In(filter_));
  }
  AppendFiles(done);
  counts_ = std::move(counts);
  Output out(unfinished());
  out.Write(JsonText({{"format", kFormat},
                      {"options", options_},
                      {"done", done},
                      {"planned", inputs_.size()},
                      {"filter", filter_},
                      {"counts", counts_}}));
  out.CloseAs(checkpoint());
  if (!old_filter.empty() && old_filter != this->filter()) os::Remove(old_filter);
}

std::vector<std::string> DedupFolder::Filters() const {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(path_, ignored)) {
    const std::string name = entry.path().filename().string();
    if (IsFilter(name)) names.push_back(name);
  }
  return names;
}

void DedupFolder::RemoveOtherFilters() const {
  for (const std::string& name : Filters()) {
    if (name != filter_) os::Remove(In(name));
  }
}

}  // namespace tamis::tools
