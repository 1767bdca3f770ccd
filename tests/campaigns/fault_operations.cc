#include "tests/campaigns/fault_operations.h"

#include <memory>
#include <utility>

#include "tamis/engine/build.h"
#include "tamis/engine/engine.h"
#include "tamis/file/file_checks.h"
#include "tamis/filters/erasable_filter.h"
#include "tamis/filters/serialize.h"
#include "tamis/filters/set_operations.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/campaigns/fault_filters.h"

namespace tamis::campaigns {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kKeys = 2000;

using Bytes = std::vector<std::byte>;

// State shared by operations on one filter. `asked` are the queried keys, half of which are in it.
struct Subject {
  explicit Subject(const Shape& of)
      : shape(of), old_keys(KeysOf(0, kKeys)), new_keys(KeysOf(kKeys, kKeys)) {
    filter.emplace(of.Make(2 * kKeys));
    RequireChangeable(**filter).Insert(old_keys);
    old_bytes = Serialize(**filter);
    RequireChangeable(**filter).Insert(new_keys);
    new_bytes = Serialize(**filter);
    asked = KeysOf(kKeys / 2, 2 * kKeys);
    Reset();
    selected.resize(asked.size());
    selected.resize((*filter)->Select(asked, selected));
  }

  void Reset() { filter.emplace(Load(old_bytes)); }
  std::string Unchanged() const {
    if (Serialize(**filter) != old_bytes) return "the filter is neither the old nor the new one";
    return "";
  }

  Shape shape;
  std::vector<uint64_t> old_keys, new_keys, asked;
  std::optional<AnyFilter> filter;
  Bytes old_bytes, new_bytes;
  std::vector<uint32_t> selected;
  // Results of operations.
  std::optional<AnyFilter> made;
  std::vector<uint32_t> rows;
  std::vector<uint64_t> bits, rejected;
  Bytes bytes;
  size_t result = 0;
};

using SubjectPointer = std::shared_ptr<Subject>;

void Clear(Subject& s) {
  s.made.reset();
  s.rows = {};
  s.bits = {};
  s.rejected = {};
  s.bytes = {};
}

Operation On(const SubjectPointer& s, std::string name, std::function<void(Subject&)> run,
             std::function<std::string(Subject&, const Ending&)> check) {
  return {s->shape.name() + ": " + std::move(name), [] {}, [s, run] { run(*s); },
          [s, check](const Ending& ending) { return check(*s, ending); }, [s] { Clear(*s); }};
}

// An operation that changes the filter. `clear` undoes the change.
Operation Changing(const SubjectPointer& s, std::string name, std::function<void(Subject&)> run,
                   std::function<std::string(Subject&, const Ending&)> check) {
  Operation operation = On(s, std::move(name), std::move(run), std::move(check));
  operation.clear = [s] {
    Clear(*s);
    s->Reset();
  };
  return operation;
}

std::string CheckLookup(Subject& s, const Ending& ending) {
  if (!ending.threw && s.rows != s.selected) return "the answer is wrong";
  return s.Unchanged();
}

std::string CheckMade(Subject& s, const Ending& ending) {
  if (!ending.threw && Serialize(**s.made) != s.old_bytes) return "what it made is not the filter";
  return s.Unchanged();
}

// The filter finds all keys that it reports as inserted. Without a fault, it inserts the rest.
std::string CheckInsert(Subject& s, const Ending& ending) {
  ChangeableFilter& filter = RequireChangeable(**s.filter);
  if (!HasAll(filter, s.old_keys)) return "keys of the old state are lost";
  if (ending.threw) {
    if (const std::string problem = s.Unchanged(); !problem.empty()) return problem;
    filter.Insert(s.new_keys);
  } else if (s.result == s.new_keys.size()) {
    if (Serialize(filter) != s.new_bytes) return "the filter is not the new one";
  } else {
    if (!s.shape.layered) return "a filter that does not grow took fewer keys";
    std::vector<uint64_t> out(
        s.rejected.begin(),
        s.rejected.begin() + static_cast<ptrdiff_t>(s.new_keys.size() - s.result));
    size_t next = 0;
    for (size_t i = 0; i < s.new_keys.size(); ++i) {
      if (next < out.size() && out[next] == i) {
        ++next;
      } else if (!filter.Contains(s.new_keys[i])) {
        return "a key that was taken is not in";
      }
    }
    for (const uint64_t i : out) filter.Insert(s.new_keys[i]);
  }
  return HasAll(filter, s.new_keys) && HasAll(filter, s.old_keys) ? "" : "keys are lost afterwards";
}

void AddLookups(const SubjectPointer& subject, std::vector<Operation>& all) {
  all.push_back(On(
      subject, "select",
      [](Subject& s) {
        s.rows.resize(s.asked.size());
        s.rows.resize((*s.filter)->Select(s.asked, s.rows));
      },
      CheckLookup));
  for (const unsigned threads : {1u, 2u}) {
    const auto select = [threads](Subject& s) {
      const Engine engine({.threads = threads});
      s.rows.resize(s.asked.size());
      s.rows.resize(engine.Select(**s.filter, s.asked, s.rows));
    };
    all.push_back(
        On(subject, "select by an engine of " + std::to_string(threads), select, CheckLookup));
  }
  const auto partitioned = [](Subject& s) {
    const Engine engine({.pin = CallRoute{.threads = 2, .partitioned = true}});
    s.rows.resize(s.asked.size());
    s.rows.resize(engine.Select(**s.filter, s.asked, s.rows));
  };
  all.push_back(On(subject, "select by region", partitioned, CheckLookup));
}

void AddChanges(const SubjectPointer& subject, std::vector<Operation>& all) {
  const auto insert = [](Subject& s) {
    s.rejected.resize(s.new_keys.size());
    s.result = RequireChangeable(**s.filter).Insert(s.new_keys, s.rejected);
  };
  all.push_back(Changing(subject, "insert", insert, CheckInsert));
  const auto one_by_one = [](Subject& s) {
    s.rejected.resize(s.new_keys.size());
    s.result = 0;
    ChangeableFilter& filter = RequireChangeable(**s.filter);
    for (size_t i = 0; i < s.new_keys.size(); ++i) {
      if (filter.Insert(s.new_keys[i])) {
        ++s.result;
      } else {
        s.rejected[i - s.result] = i;
      }
    }
  };
  all.push_back(Changing(subject, "insert one by one", one_by_one, CheckInsert));
  for (const bool partitioned : {false, true}) {
    const auto by_engine = [partitioned](Subject& s) {
      const Engine engine({.pin = CallRoute{.threads = 2, .partitioned = partitioned}});
      s.rejected.resize(s.new_keys.size());
      s.result = engine.Insert(RequireChangeable(**s.filter), s.new_keys, s.rejected);
    };
    all.push_back(Changing(subject, partitioned ? "insert by region" : "insert by an engine",
                           by_engine, CheckInsert));
  }
  if ((*subject->filter).As<ErasableFilter>() == nullptr) return;
  const auto erase = [](Subject& s) {
    const Engine engine({.pin = CallRoute{.threads = 2, .partitioned = true}});
    s.result = engine.Erase(*s.filter->As<ErasableFilter>(), s.old_keys);
  };
  all.push_back(Changing(subject, "erase by region", erase, [](Subject& s, const Ending& ending) {
    if (!ending.threw && s.result != s.old_keys.size() && !s.shape.layered) {
      return std::string("keys that are in were not erased");
    }
    return ending.threw ? s.Unchanged() : std::string();
  }));
}

void AddCopies(const SubjectPointer& subject, std::vector<Operation>& all) {
  all.push_back(On(
      subject, "clone", [](Subject& s) { s.made.emplace(Clone(**s.filter)); }, CheckMade));
  all.push_back(On(
      subject, "serialize", [](Subject& s) { s.bytes = Serialize(**s.filter); },
      [](Subject& s, const Ending& ending) {
        if (!ending.threw && s.bytes != s.old_bytes) return std::string("the bytes are wrong");
        return s.Unchanged();
      }));
  all.push_back(On(
      subject, "load bytes", [](Subject& s) { s.made.emplace(Load(s.old_bytes)); }, CheckMade));
  if (!CanMerge(**subject->filter, **subject->filter)) return;
  const auto other = std::make_shared<AnyFilter>(Load(subject->new_bytes));
  all.push_back(Changing(
      subject, "merge", [other](Subject& s) { Merge(**s.filter, **other); },
      [](Subject& s, const Ending& ending) {
        if (ending.threw) return s.Unchanged();
        return HasAll(**s.filter, s.new_keys) ? std::string() : std::string("keys are lost");
      }));
}

// Saves over an old file, with both kinds of temporary files.
void AddFiles(const Shape& shape, const fs::path& folder, std::vector<Operation>& all) {
  const auto subject = std::make_shared<Subject>(shape);
  const auto larger = std::make_shared<AnyFilter>(Load(subject->new_bytes));
  const auto path = std::make_shared<const fs::path>(folder / "f.tamis");
  const auto old_file = [subject, path] { (*subject->filter)->Save(*path); };
  const auto is = [path](const Bytes& bytes) {
    const std::string file = BytesOf(path->string());
    return file.size() == bytes.size() &&
           std::equal(bytes.begin(), bytes.end(), reinterpret_cast<const std::byte*>(file.data()));
  };
  Operation save = On(
      subject, "save", [path, larger](Subject&) { (*larger)->Save(*path); },
      [is](Subject& s, const Ending& ending) {
        if (ending.saved()) return is(s.new_bytes) ? "" : "what was saved is not the new file";
        return is(s.old_bytes) ? "" : "the old file is gone";
      });
  save.prepare = old_file;
  all.push_back(save);
  save.name = shape.name() + ": save under a lock";
  save.run = [path, larger] {
    const FileLock lock(*path);
    (*larger)->Save(*path, {.lock = &lock});
  };
  all.push_back(save);

  const auto unharmed = [is](Subject& s, const Ending& ending) {
    if (!is(s.old_bytes)) return std::string("the file has changed");
    return CheckMade(s, ending);
  };
  Operation load = On(
      subject, "load", [path](Subject& s) { s.made.emplace(Load(*path)); }, unharmed);
  load.prepare = old_file;
  all.push_back(load);
  for (const Verify verify : {Verify::kHeader, Verify::kFull}) {
    const auto map = [path, verify](Subject& s) {
      s.made.emplace(Map(*path, {.verify = verify}));
      s.rows.resize(s.asked.size());
      s.rows.resize((*s.made)->Select(s.asked, s.rows));
    };
    load = On(subject, verify == Verify::kFull ? "map, verified" : "map", map,
              [unharmed](Subject& s, const Ending& ending) {
                if (!ending.threw && s.rows != s.selected) return std::string("wrong answers");
                return unharmed(s, ending);
              });
    load.prepare = old_file;
    all.push_back(load);
  }
  Operation verify = On(
      subject, "verify", [path](Subject&) { VerifyFile(*path); },
      [](Subject&, const Ending&) { return std::string(); });
  verify.prepare = old_file;
  all.push_back(verify);
}

// A filter whose memory is a mapping, and a filter whose size follows from its keys.
void AddLarge(std::vector<Operation>& all) {
  const auto subject = std::make_shared<Subject>(Shape{FilterKind::kSplitBlock});
  all.push_back(On(
      subject, "make 8 MiB",
      [](Subject& s) { s.made.emplace(MakeFilter(s.shape.kind, {.bytes = uint64_t{8} << 20})); },
      [](Subject& s, const Ending& ending) {
        const bool right = ending.threw || (*s.made)->bytes() == uint64_t{8} << 20;
        return std::string(right ? "" : "it has another size");
      }));
  all.push_back(On(
      subject, "build",
      [](Subject& s) {
        const Engine engine({.threads = 2});
        const auto source = [&s](const std::function<void(Keys)>& visit) { visit(s.old_keys); };
        s.made.emplace(Build<SplitBlockBloomFilter>(source, {}, &engine));
      },
      [](Subject& s, const Ending& ending) {
        const bool right = ending.threw || HasAll(**s.made, s.old_keys);
        return std::string(right ? "" : "keys are missing");
      }));
}

}  // namespace

std::vector<Operation> FileOperations(const fs::path& folder) {
  std::vector<Operation> all;
  for (const Shape& shape : Shapes()) AddFiles(shape, folder, all);
  return all;
}

std::vector<Operation> MemoryOperations() {
  std::vector<Operation> all;
  for (const Shape& shape : Shapes()) {
    const auto subject = std::make_shared<Subject>(shape);
    AddLookups(subject, all);
    AddChanges(subject, all);
    AddCopies(subject, all);
  }
  AddLarge(all);
  return all;
}

}  // namespace tamis::campaigns
