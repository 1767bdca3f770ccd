#include <fstream>
#include <memory>
#include <utility>

#include "tamis/parquet/add.h"
#include "tamis/parquet/bloom_filter.h"
#include "tamis/parquet/column_keys.h"
#include "tamis/parquet/footer.h"
#include "tamis/parquet/pruner.h"
#include "tamis/parquet/source.h"
#include "tests/campaigns/fault_filters.h"
#include "tests/campaigns/fault_operations.h"
#include "tests/parquet/plain_file.h"

namespace tamis::campaigns {
namespace {

namespace fs = std::filesystem;

using parquet::AddOptions;
using parquet::FileAnswer;
using parquet::PhysicalType;

constexpr uint64_t kGroups = 2;
constexpr uint64_t kValues = 500;  // per row group and column

std::vector<int64_t> IntegersOf(uint64_t group) {
  std::vector<int64_t> values;
  for (const uint64_t key : KeysOf(group * kValues, kValues)) {
    values.push_back(static_cast<int64_t>(key));
  }
  return values;
}

parquet::PlainFile TwoColumns() {
  parquet::PlainFile file = {
      .columns = {{"id", PhysicalType::kInt64}, {"word", PhysicalType::kByteArray}}};
  for (uint64_t group = 0; group < kGroups; ++group) {
    std::vector<std::string> words;
    for (uint64_t i = 0; i < kValues; ++i)
      words.push_back("w" + std::to_string(group * kValues + i));
    file.row_groups.push_back({{.integers = IntegersOf(group)}, {.strings = words}});
  }
  return file;
}

// A file without filters, a file with filters, and a file that is created.
struct Files {
  explicit Files(const fs::path& folder)
      : plain(folder / "plain.parquet"),
        added(folder / "added.parquet"),
        target(folder / "f.parquet") {
    const std::string bytes = TwoColumns().Bytes();
    std::ofstream(plain, std::ios::binary) << bytes;
    Add(added);
    plain_bytes = BytesOf(plain.string());
    added_bytes = BytesOf(added.string());
    for (uint64_t group = 0; group < kGroups; ++group) asked.push_back(IntegersOf(group)[7]);
  }

  void Add(const fs::path& to) const {
    parquet::AddFilters(plain, to, parquet::OpenPlainValues,
                        {.columns = {"id", "word"}, .force = true});
  }

  // Whether the keys of each row group are in its filter.
  static bool Asked(const parquet::Source& source) {
    const parquet::Footer footer = parquet::Footer::Read(source);
    bool all = true;
    for (uint64_t group = 0; group < kGroups; ++group) {
      const parquet::FilterPlace place =
          parquet::FindFilter(source, footer, footer.Chunk(group, 0));
      parquet::FilterBuffer buffer;
      const std::vector<int64_t> values = IntegersOf(group);
      all &= parquet::ReadFilter(source, place, buffer).Count(values) == values.size();
    }
    return all;
  }

  // Checks the answers for a key of each row group: files in doubt are kept.
  static std::string Wrong(const std::vector<FileAnswer>& of_files) {
    if (of_files.size() != 2) return "a file has no answer";
    for (const FileAnswer& answer : of_files) {
      if (!answer.kept()) return "a file with the key is ruled out";
      for (const parquet::GroupAnswer& group : answer.groups) {
        if (!IsKept(group.outcome)) return "a row group with a key is ruled out";
        if (group.outcome == parquet::Outcome::kDoubt && group.doubt.empty())
          return "a doubt has no reason";
      }
      if (answer.groups.empty() && answer.doubt.empty()) return "a doubt has no reason";
    }
    return "";
  }

  fs::path plain, added, target;
  std::string plain_bytes, added_bytes;
  std::vector<int64_t> asked;
  // Results of operations.
  bool all_in = false;
  std::vector<FileAnswer> answers;
};

}  // namespace

std::vector<Operation> ParquetFileOperations(const fs::path& folder) {
  const auto f = std::make_shared<Files>(folder);
  const auto clear = [f] {
    f->answers = {};
    f->all_in = false;
  };
  const auto none = [] {};
  const auto asked = [f](const Ending& ending) {
    return std::string(ending.threw || f->all_in ? "" : "keys of a filter are missing");
  };
  std::vector<Operation> all;
  all.push_back({"parquet: ask filters", none,
                 [f] { f->all_in = Files::Asked(*parquet::OpenSource(f->added)); }, asked, clear});
  all.push_back({"parquet: ask filters, mapped", none,
                 [f] { f->all_in = Files::Asked(*parquet::MapSource(f->added)); }, asked, clear});
  for (const unsigned threads : {1u, 2u}) {
    const auto prune = [f, threads] {
      const parquet::ParquetPruner pruner(
          parquet::KeyList::Integers(f->asked),
          {.column = "id", .detail = parquet::Detail::kPairs, .threads = threads});
      const std::vector<fs::path> files = {f->plain, f->added};
      pruner.Run(files, [f](FileAnswer&& answer) { f->answers.push_back(std::move(answer)); });
    };
    all.push_back(
        {"parquet: prune with " + std::to_string(threads), none, prune,
         [f](const Ending& ending) { return ending.threw ? std::string() : f->Wrong(f->answers); },
         clear});
  }
  const auto judge_added = [f](const Ending& ending, bool replaced) {
    if (BytesOf(f->plain.string()) != f->plain_bytes)
      return std::string("the old file has changed");
    const bool there = fs::exists(f->target);
    if (!ending.saved() && !replaced) return std::string(there ? "a file is left" : "");
    const std::string& want = ending.saved() ? f->added_bytes : f->plain_bytes;
    return std::string(BytesOf(f->target.string()) == want ? ""
                                                           : "neither the old nor the new file");
  };
  all.push_back(
      {"parquet: add filters, new", [f] { fs::remove(f->target); }, [f] { f->Add(f->target); },
       [judge_added](const Ending& ending) { return judge_added(ending, false); }, clear});
  all.push_back({"parquet: add filters, again",
                 [f] { std::ofstream(f->target, std::ios::binary) << f->plain_bytes; },
                 [f] { f->Add(f->target); },
                 [judge_added](const Ending& ending) { return judge_added(ending, true); }, clear});
  return all;
}

}  // namespace tamis::campaigns
