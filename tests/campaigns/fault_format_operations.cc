#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "tamis/filters/split_block_filter.h"
#include "tamis/formats/dcso.h"
#include "tamis/formats/foreign_filter.h"
#include "tamis/formats/guava.h"
#include "tamis/formats/kudu.h"
#include "tamis/formats/kvrocks.h"
#include "tamis/formats/milvus.h"
#include "tamis/formats/redis_bloom.h"
#include "tamis/formats/redis_cuckoo.h"
#include "tamis/formats/spark.h"
#include "tamis/formats/vortex.h"
#include "tests/campaigns/fault_filters.h"
#include "tests/campaigns/fault_operations.h"

namespace tamis::campaigns {
namespace {

namespace fs = std::filesystem;

using Bytes = std::vector<std::byte>;

// Number of keys of each state. All keys are in the range of INT8, the smallest integer type.
constexpr uint64_t kKeys = 60;
constexpr uint64_t kCapacity = 50'000;  // for filters that do not grow

// Keys [first, first + n) of a format, as integers or as text.
class FormatKeys {
 public:
  FormatKeys(const ForeignFormat& format, uint64_t first, uint64_t n)
      : of_integers_(format.key_types.Has(KeyType::kInteger)) {
    for (uint64_t i = 0; i < n; ++i) {
      integers_.push_back(first + i);
      texts_.push_back(std::to_string(first + i));
    }
    views_.assign(texts_.begin(), texts_.end());
  }
  FormatKeys(const FormatKeys&) = delete;
  FormatKeys& operator=(const FormatKeys&) = delete;

  Keys keys() const { return of_integers_ ? Keys(integers_) : Keys(views_); }
  size_t size() const { return integers_.size(); }

 private:
  bool of_integers_;
  std::vector<uint64_t> integers_;
  std::vector<std::string> texts_;
  std::vector<std::string_view> views_;
};

template <typename Value>
Value Named(std::string_view format, std::initializer_list<Value> values,
            const char* (*name)(Value)) {
  const std::string_view wanted = format.substr(format.find(':') + 1);
  return *std::find_if(values.begin(), values.end(),
                       [&](Value value) { return name(value) == wanted; });
}

// Returns the bytes that the other library writes for a filter without keys.
Bytes EmptyFilter(std::string_view format) {
  if (format.starts_with("guava")) {
    const GuavaFunnel funnel =
        Named<GuavaFunnel>(format,
                           {GuavaFunnel::kLong, GuavaFunnel::kInt, GuavaFunnel::kBytes,
                            GuavaFunnel::kUtf8, GuavaFunnel::kUnencodedChars},
                           [](GuavaFunnel f) { return GuavaFunnelName(f); });
    return GuavaBloomFilter(funnel, {.capacity = kCapacity}).ToBytes();
  }
  if (format.starts_with("kudu")) {
    const KuduType type = Named<KuduType>(
        format,
        {KuduType::kInt8, KuduType::kInt16, KuduType::kInt32, KuduType::kInt64, KuduType::kBytes},
        [](KuduType t) { return KuduTypeName(t); });
    return KuduBlockBloomFilter(type, {.capacity = kCapacity}).ToBytes();
  }
  if (format.starts_with("milvus")) {
    const SplitBlockBloomFilter blocks(
        {.bytes = milvus::BytesFor(kCapacity), .hash = {HashKind::kXxh64, 0}});
    return milvus::ToBytes(blocks);
  }
  if (format == "dcso") return DcsoBloomFilter({.capacity = kCapacity}).ToBytes();
  if (format.starts_with("spark")) return SparkBloomFilter({.capacity = kCapacity}).ToBytes();
  // These filters grow.
  if (format == "redisbloom") return RedisBloomFilter({.capacity = 20}).ToBytes();
  return RedisCuckooFilter({.capacity = 16}).ToBytes();
}

// State shared by operations on one filter. Half of the queried keys are in the filter.
struct Subject {
  explicit Subject(const ForeignFormat& of)
      : format(of),
        grows(std::string_view(of.name).starts_with("redisbloom")),
        old_keys(of, 0, kKeys),
        new_keys(of, kKeys, kKeys),
        asked(of, kKeys / 2, kKeys) {
    filter.emplace(ForeignFilter::FromBytes(EmptyFilter(of.name), of.name));
    filter->Insert(old_keys.keys());
    old_bytes = filter->ToBytes();
    selected = SelectedBy(*filter);
    filter->Insert(new_keys.keys());
    new_bytes = filter->ToBytes();
    Reset();
  }

  void Reset() { filter.emplace(ForeignFilter::FromBytes(old_bytes, format.name)); }
  std::vector<uint64_t> SelectedBy(const ForeignFilter& of) const {
    std::vector<uint64_t> found(asked.size());
    found.resize(of.Select(asked.keys(), found));
    return found;
  }
  std::string Unchanged() const {
    return filter->ToBytes() == old_bytes ? "" : "the filter is neither the old nor the new one";
  }

  const ForeignFormat& format;
  bool grows;
  FormatKeys old_keys, new_keys, asked;
  std::optional<ForeignFilter> filter;
  Bytes old_bytes, new_bytes;
  std::vector<uint64_t> selected;
  // Results of operations.
  std::optional<ForeignFilter> made;
  std::vector<uint64_t> rows;
  Bytes bytes;
};

using SubjectPointer = std::shared_ptr<Subject>;

Operation On(const SubjectPointer& s, const std::string& name, std::function<void(Subject&)> run,
             std::function<std::string(Subject&, const Ending&)> check) {
  const auto clear = [s] {
    s->made.reset();
    s->rows = {};
    s->bytes = {};
  };
  return {std::string(s->format.name) + ": " + name, [] {}, [s, run] { run(*s); },
          [s, check](const Ending& ending) { return check(*s, ending); }, clear};
}

Operation Changing(const SubjectPointer& s, const std::string& name,
                   std::function<void(Subject&)> run,
                   std::function<std::string(Subject&, const Ending&)> check) {
  Operation operation = On(s, name, std::move(run), std::move(check));
  operation.clear = [s, clear = operation.clear] {
    clear();
    s->Reset();
  };
  return operation;
}

std::string CheckMade(Subject& s, const Ending& ending) {
  if (!ending.threw && s.made->ToBytes() != s.old_bytes) return "what it made is not the filter";
  return s.Unchanged();
}

// A filter that grows may have inserted some of the keys. Without a fault, it inserts the rest.
std::string CheckInsert(Subject& s, const Ending& ending) {
  if (!ending.threw) return s.filter->ToBytes() == s.new_bytes ? "" : "it is not the new filter";
  if (!s.grows) return s.Unchanged();
  if (s.filter->Count(s.old_keys.keys()) != kKeys) return "keys of the old state are lost";
  s.filter->Insert(s.new_keys.keys());
  const bool all =
      s.filter->Count(s.old_keys.keys()) == kKeys && s.filter->Count(s.new_keys.keys()) == kKeys;
  return all ? "" : "keys are lost afterwards";
}

// Returns the bytes without the number of insertions, which a merge adds up, in the header of DCSO.
Bytes WithoutInserted(const Subject& s, Bytes bytes) {
  if (s.format.name == std::string_view("dcso")) std::fill_n(bytes.begin() + 40, 8, std::byte{0});
  return bytes;
}

void AddMemory(const SubjectPointer& subject, std::vector<Operation>& all) {
  all.push_back(On(
      subject, "select", [](Subject& s) { s.rows = s.SelectedBy(*s.filter); },
      [](Subject& s, const Ending& ending) {
        if (!ending.threw && s.rows != s.selected) return std::string("the answer is wrong");
        return s.Unchanged();
      }));
  all.push_back(Changing(
      subject, "insert", [](Subject& s) { s.filter->Insert(s.new_keys.keys()); }, CheckInsert));
  all.push_back(On(
      subject, "to bytes", [](Subject& s) { s.bytes = s.filter->ToBytes(); },
      [](Subject& s, const Ending& ending) {
        if (!ending.threw && s.bytes != s.old_bytes) return std::string("the bytes are wrong");
        return s.Unchanged();
      }));
  all.push_back(On(
      subject, "from bytes",
      [](Subject& s) { s.made.emplace(ForeignFilter::FromBytes(s.old_bytes, s.format.name)); },
      CheckMade));
  // Filters that grow have other links by then, or cannot be merged.
  if (subject->grows) return;
  const auto other = std::make_shared<ForeignFilter>(
      ForeignFilter::FromBytes(subject->new_bytes, subject->format.name));
  all.push_back(Changing(
      subject, "merge", [other](Subject& s) { s.filter->Merge(*other); },
      [](Subject& s, const Ending& ending) {
        if (ending.threw) return s.Unchanged();
        const bool is_union =
            WithoutInserted(s, s.filter->ToBytes()) == WithoutInserted(s, s.new_bytes);
        return is_union ? std::string() : "it is not the union";
      }));
}

// Files with the stream of the other library, alone or after the header of an import.
void AddFiles(const SubjectPointer& subject, const fs::path& folder, bool imported,
              std::vector<Operation>& all) {
  const std::string how = imported ? ", imported" : "";
  const auto path = std::make_shared<const fs::path>(folder / "f.foreign");
  const auto larger = std::make_shared<ForeignFilter>(
      ForeignFilter::FromBytes(subject->new_bytes, subject->format.name));
  const auto save = [path, imported](const ForeignFilter& filter) {
    if (imported) {
      filter.SaveImported(*path);
    } else {
      filter.Save(*path);
    }
  };
  const auto old_file = [subject, save] { save(*subject->filter); };
  save(*larger);
  const auto new_contents = std::make_shared<const std::string>(BytesOf(path->string()));
  old_file();
  const auto old_contents = std::make_shared<const std::string>(BytesOf(path->string()));

  all.push_back(On(
      subject, "save" + how, [save, larger](Subject&) { save(*larger); },
      [path, old_contents, new_contents](Subject&, const Ending& ending) {
        const std::string& want = ending.saved() ? *new_contents : *old_contents;
        return std::string(BytesOf(path->string()) == want ? ""
                                                           : "neither the old nor the new file");
      }));
  all.back().prepare = old_file;
  const auto load = [path, imported](Subject& s) {
    s.made.emplace(imported ? ForeignFilter::Open(*path)
                            : ForeignFilter::Load(*path, s.format.name));
    s.rows = s.SelectedBy(*s.made);
  };
  all.push_back(
      On(subject, "load" + how, load, [path, old_contents](Subject& s, const Ending& ending) {
        if (BytesOf(path->string()) != *old_contents) return std::string("the file has changed");
        if (!ending.threw && s.rows != s.selected) return std::string("wrong answers");
        return CheckMade(s, ending);
      }));
  all.back().prepare = old_file;
}

// Values that consist of blocks only.
void AddBlocks(const std::string& name, HashKind hash,
               std::function<Bytes(const SplitBlockBloomFilter&)> to_bytes,
               std::function<SplitBlockBloomFilter(const Bytes&)> from_bytes,
               std::vector<Operation>& all) {
  struct State {
    SplitBlockBloomFilter filter;
    Bytes value;
    std::optional<SplitBlockBloomFilter> made;
    Bytes written;
  };
  const auto s = std::make_shared<State>(
      State{SplitBlockBloomFilter({.bytes = 4096, .hash = {hash, 0}}), {}, {}, {}});
  for (uint64_t i = 0; i < kKeys; ++i) s->filter.Insert(std::to_string(i));
  s->value = to_bytes(s->filter);
  const auto clear = [s] {
    s->made.reset();
    s->written = {};
  };
  all.push_back({name + ": to bytes", [] {}, [s, to_bytes] { s->written = to_bytes(s->filter); },
                 [s](const Ending& ending) {
                   const bool right = ending.threw || s->written == s->value;
                   return std::string(right ? "" : "the bytes are wrong");
                 },
                 clear});
  all.push_back({name + ": from bytes", [] {},
                 [s, from_bytes] { s->made.emplace(from_bytes(s->value)); },
                 [s](const Ending& ending) {
                   bool right = true;
                   for (uint64_t i = 0; i < kKeys && !ending.threw; ++i) {
                     right &= s->made->Contains(std::to_string(i));
                   }
                   return std::string(right ? "" : "keys are missing");
                 },
                 clear});
}

}  // namespace

std::vector<Operation> FormatFileOperations(const fs::path& folder) {
  std::vector<Operation> all;
  for (const ForeignFormat& format : ForeignFormats()) {
    const auto subject = std::make_shared<Subject>(format);
    for (const bool imported : {false, true}) AddFiles(subject, folder, imported, all);
  }
  return all;
}

std::vector<Operation> FormatMemoryOperations() {
  std::vector<Operation> all;
  for (const ForeignFormat& format : ForeignFormats()) {
    AddMemory(std::make_shared<Subject>(format), all);
  }
  AddBlocks(
      "kvrocks", HashKind::kXxh64, kvrocks::ToBytes,
      [](const Bytes& bytes) { return kvrocks::FromBytes(bytes); }, all);
  AddBlocks(
      "vortex", HashKind::kXxh3, vortex::ToBytes,
      [](const Bytes& bytes) {
        return vortex::FromBytes(bytes, bytes.size() / split_block::kBlockBytes);
      },
      all);
  return all;
}

}  // namespace tamis::campaigns
