// The C library: no exception leaves it, and its status and tamis_last_error describe the error.
#include <exception>
#include <memory>
#include <utility>

#include "tamis/c.h"
#include "tests/campaigns/fault_filters.h"
#include "tests/campaigns/fault_operations.h"

namespace tamis::campaigns {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kKeys = 2000;

// An exception for a status other than TAMIS_OK. Allocates no memory.
class Failure final : public std::exception {
 public:
  explicit Failure(tamis_status status) noexcept : status_(status) {}
  const char* what() const noexcept override {
    return status_ == TAMIS_INTERNAL ? "TAMIS_INTERNAL" : tamis_last_error();
  }

 private:
  tamis_status status_;
};

// Throws Failure unless the call succeeded. TAMIS_NOT_DURABLE counts as success.
void Require(tamis_status status) {
  if (status != TAMIS_OK && status != TAMIS_NOT_DURABLE) throw Failure(status);
}

// Makes a call fail, so that the message of an earlier operation is not mistaken for a new one.
void ReplaceLastError() { tamis_kind_by_name(nullptr, nullptr); }

template <auto free_handle>
struct Free {
  template <typename Handle>
  void operator()(Handle* handle) const {
    free_handle(handle);
  }
};
using FilterHandle = std::unique_ptr<tamis_filter, Free<tamis_filter_free>>;
using EngineHandle = std::unique_ptr<tamis_engine, Free<tamis_engine_free>>;
using BankHandle = std::unique_ptr<tamis_bank, Free<tamis_bank_free>>;

// Returns the object that make(arguments..., &handle) creates.
template <typename Owner, typename Make, typename... Arguments>
Owner MadeBy(Make make, Arguments... arguments) {
  typename Owner::pointer handle = nullptr;
  Require(make(arguments..., &handle));
  return Owner(handle);
}

tamis_keys KeysIn(const std::vector<uint64_t>& keys) {
  return tamis_keys_u64(keys.data(), keys.size());
}

FilterHandle NewFilter(uint32_t kind) {
  auto options = TAMIS_INIT(tamis_filter_options);
  options.capacity = 2 * kKeys;
  return MadeBy<FilterHandle>(tamis_filter_create, kind,
                              static_cast<const tamis_filter_options*>(&options));
}

std::string BytesIn(const tamis_filter* filter) {
  uint64_t bytes = 0;
  Require(tamis_filter_serialize(filter, nullptr, nullptr, 0, &bytes));
  std::string data(bytes, '\0');
  Require(tamis_filter_serialize(filter, nullptr, data.data(), bytes, nullptr));
  return data;
}

struct Subject {
  explicit Subject(uint32_t of) : kind(of), filter(NewFilter(of)) {
    const tamis_keys old_form = KeysIn(old_keys), new_form = KeysIn(new_keys);
    Require(tamis_filter_insert(filter.get(), nullptr, &old_form, nullptr, nullptr, 0));
    old_bytes = BytesIn(filter.get());
    count = CountIn(filter.get(), nullptr);
    Require(tamis_filter_insert(filter.get(), nullptr, &new_form, nullptr, nullptr, 0));
    new_bytes = BytesIn(filter.get());
    Reset();
  }

  static FilterHandle FromBytes(const std::string& data) {
    return MadeBy<FilterHandle>(tamis_filter_open_memory, static_cast<const void*>(data.data()),
                                uint64_t{data.size()},
                                static_cast<const tamis_open_options*>(nullptr));
  }
  void Reset() { filter = FromBytes(old_bytes); }
  uint64_t CountIn(const tamis_filter* of, const tamis_engine* engine) const {
    const tamis_keys form = KeysIn(asked);
    uint64_t hits = 0;
    Require(tamis_filter_count(of, engine, &form, &hits));
    return hits;
  }

  uint32_t kind;
  std::vector<uint64_t> old_keys = KeysOf(0, kKeys), new_keys = KeysOf(kKeys, kKeys);
  std::vector<uint64_t> asked = KeysOf(kKeys / 2, kKeys);
  FilterHandle filter;
  std::string old_bytes, new_bytes;
  uint64_t count = 0;
  // Results of operations.
  FilterHandle made;
  uint64_t result = 0;
  std::string bytes;
};

using SubjectPointer = std::shared_ptr<Subject>;

Operation On(const SubjectPointer& s, const std::string& name, std::function<void(Subject&)> run,
             std::function<std::string(Subject&, const Ending&)> check) {
  const auto clear = [s] {
    s->made.reset();
    s->bytes = {};
    s->result = 0;
    ReplaceLastError();
    s->Reset();
  };
  return {std::string("C, ") + tamis_kind_name(s->kind) + ": " + name, [] {}, [s, run] { run(*s); },
          [s, check](const Ending& ending) { return check(*s, ending); }, clear};
}

std::string CheckCount(Subject& s, const Ending& ending) {
  if (!ending.threw && s.result != s.count) return "the answer is wrong";
  return BytesIn(s.filter.get()) == s.old_bytes ? "" : "the filter has changed";
}

std::string CheckMade(Subject& s, const Ending& ending) {
  if (!ending.threw && BytesIn(s.made.get()) != s.old_bytes)
    return "what it made is not the filter";
  return BytesIn(s.filter.get()) == s.old_bytes ? "" : "the filter has changed";
}

std::string CheckChanged(Subject& s, const Ending& ending) {
  const std::string& want = ending.threw ? s.old_bytes : s.new_bytes;
  return BytesIn(s.filter.get()) == want ? "" : "the filter is neither the old nor the new one";
}

void AddMemory(const SubjectPointer& subject, std::vector<Operation>& all) {
  all.push_back(On(
      subject, "create", [](Subject& s) { s.made = NewFilter(s.kind); },
      [](Subject& s, const Ending& ending) {
        const bool right = ending.threw || s.CountIn(s.made.get(), nullptr) == 0;
        return std::string(right ? "" : "a new filter has keys");
      }));
  all.push_back(On(
      subject, "count", [](Subject& s) { s.result = s.CountIn(s.filter.get(), nullptr); },
      CheckCount));
  all.push_back(On(
      subject, "count by an engine",
      [](Subject& s) {
        auto options = TAMIS_INIT(tamis_engine_options);
        options.threads = 2;
        const EngineHandle engine = MadeBy<EngineHandle>(
            tamis_engine_create, static_cast<const tamis_engine_options*>(&options));
        s.result = s.CountIn(s.filter.get(), engine.get());
      },
      CheckCount));
  all.push_back(On(
      subject, "insert",
      [](Subject& s) {
        const tamis_keys form = KeysIn(s.new_keys);
        Require(tamis_filter_insert(s.filter.get(), nullptr, &form, nullptr, nullptr, 0));
      },
      CheckChanged));
  all.push_back(On(
      subject, "clone",
      [](Subject& s) {
        s.made = MadeBy<FilterHandle>(tamis_filter_clone,
                                      static_cast<const tamis_filter*>(s.filter.get()));
      },
      CheckMade));
  all.push_back(On(
      subject, "deserialize", [](Subject& s) { s.made = s.FromBytes(s.old_bytes); }, CheckMade));
}

void AddFiles(const SubjectPointer& subject, const fs::path& folder, std::vector<Operation>& all) {
  const auto path = std::make_shared<const std::string>((folder / "f.tamis").string());
  const auto larger = std::make_shared<FilterHandle>(subject->FromBytes(subject->new_bytes));
  const auto old_file = [subject, path] {
    Require(tamis_filter_save(subject->filter.get(), path->c_str(), nullptr));
  };
  all.push_back(On(
      subject, "save",
      [path, larger](Subject&) {
        Require(tamis_filter_save(larger->get(), path->c_str(), nullptr));
      },
      [path](Subject& s, const Ending& ending) {
        const std::string& want = ending.threw ? s.old_bytes : s.new_bytes;
        return std::string(BytesOf(*path) == want ? "" : "neither the old nor the new file");
      }));
  all.back().prepare = old_file;
  for (const bool mapped : {false, true}) {
    auto options = TAMIS_INIT(tamis_open_options);
    options.map = mapped;
    all.push_back(On(
        subject, mapped ? "map" : "open",
        [path, options](Subject& s) {
          s.made = MadeBy<FilterHandle>(tamis_filter_open, path->c_str(), &options);
          s.result = s.CountIn(s.made.get(), nullptr);
        },
        [path](Subject& s, const Ending& ending) {
          if (BytesOf(*path) != s.old_bytes) return std::string("the file has changed");
          if (!ending.threw && s.result != s.count) return std::string("the answer is wrong");
          return CheckMade(s, ending);
        }));
    all.back().prepare = old_file;
  }
}

// Makes and queries a bank of two members.
void AddBank(std::vector<Operation>& all) {
  const auto members = std::make_shared<uint64_t>(0);
  const auto run = [members] {
    const BankHandle bank =
        MadeBy<BankHandle>(tamis_bank_create, static_cast<const tamis_bank_options*>(nullptr));
    for (const char* const name : {"a", "b"}) {
      const std::vector<uint64_t> keys = KeysOf(static_cast<uint64_t>(*name - 'a') * 100, 100);
      const tamis_keys form = KeysIn(keys);
      Require(tamis_bank_add_keys(bank.get(), nullptr, name, 1, &form));
    }
    Require(tamis_bank_flush(bank.get()));
    std::vector<uint64_t> row(8);
    const uint64_t key = KeyOf(150);
    const tamis_keys keys = tamis_keys_u64(&key, 1);
    Require(tamis_bank_contains_bitmap(bank.get(), nullptr, &keys, row.data(), row.size(),
                                       members.get()));
  };
  all.push_back({"C, bank: make and ask", [] {}, run,
                 [members](const Ending& ending) {
                   return std::string(ending.threw || *members >= 1 ? "" : "the key is missing");
                 },
                 [members] {
                   *members = 0;
                   ReplaceLastError();
                 }});
}

std::vector<SubjectPointer> Subjects() {
  std::vector<SubjectPointer> subjects;
  for (const uint32_t kind : {TAMIS_SPLIT_BLOCK, TAMIS_CUCKOO12, TAMIS_BLOOM, TAMIS_COUNTING}) {
    subjects.push_back(std::make_shared<Subject>(kind));
  }
  return subjects;
}

}  // namespace

std::vector<Operation> CFileOperations(const fs::path& folder) {
  std::vector<Operation> all;
  for (const SubjectPointer& subject : Subjects()) AddFiles(subject, folder, all);
  return all;
}

std::vector<Operation> CMemoryOperations() {
  std::vector<Operation> all;
  for (const SubjectPointer& subject : Subjects()) AddMemory(subject, all);
  AddBank(all);
  return all;
}

}  // namespace tamis::campaigns
