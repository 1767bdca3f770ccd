// Filter banks: creation, description, changes and saving.
#include "tamis/c/bank.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/c/src/handles.h"
#include "bindings/c/src/key_array.h"
#include "bindings/c/src/options.h"
#include "bindings/c/src/path.h"
#include "bindings/c/src/room.h"
#include "bindings/c/src/string_key.h"
#include "tamis/file/filter_kind_name.h"
#include "tamis/filters/sizing.h"
#include "tamis/filters/split_block_filter.h"

namespace tamis::c {
namespace {

template <typename Make>
void MakeBankHandle(tamis_bank** out, const Make& make) {
  tamis_bank*& handle = Required(out, "out");
  handle = new tamis_bank{make()};
}

BankOptions ReadBank(const tamis_bank_options& given) {
  RequireZero(given.reserved);
  BankOptions options;
  options.fpr = given.fpr;
  options.false_members = given.false_members;
  options.members = given.members;
  options.hash = ReadNewHash(given.hash);
  options.memory = ReadMemory(given.no_huge_pages);
  options.backend = ReadBackend(given.backend);
  if (given.buffer_bytes != 0) options.buffer_bytes = given.buffer_bytes;
  return options;
}

MemberName NameFrom(const char* name, size_t bytes) {
  if (bytes > 0) Required(name, "name");
  return MemberName(StringKey(name, bytes));
}

void RequireWritable(const FilterBank& bank) {
  if (bank.read_only()) {
    Refuse(
        "the bank is mapped, and cannot be changed: tamis_bank_open without map reads one that can",
        ErrorCode::kReadOnly);
  }
}

// Returns the filter that FilterBank::Add would build from these keys, which may come in several
// runs.
SplitBlockBloomFilter FilterOfKeys(const FilterBank& bank, const Engine* engine,
                                   const KeyArray& keys) {
  uint64_t valid = 0;
  keys.ForRuns([&](const Keys& run, size_t) { valid += run.CountValid(); });
  FilterOptions options;
  options.capacity = std::max<uint64_t>(valid, 1);
  options.bytes = 32 * BankBlocks(SplitBlockBlocks(options.capacity, bank.fpr()));
  options.hash = bank.hash();
  options.backend = &bank.backend();
  SplitBlockBloomFilter filter(options);
  keys.ForRuns([&](const Keys& run, size_t) {
    engine != nullptr ? engine->Insert(filter, run) : filter.Insert(run);
  });
  return filter;
}

}  // namespace
}  // namespace tamis::c

using namespace tamis;
using namespace tamis::c;

tamis_status tamis_bank_create(const tamis_bank_options* options, tamis_bank** out) {
  return Guard([&] {
    MakeBankHandle(out, [&] { return FilterBank(ReadBank(ReadOptions(options, "options"))); });
  });
}

tamis_status tamis_bank_open(const char* path, const tamis_open_options* options,
                             tamis_bank** out) {
  return Guard([&] {
    MakeBankHandle(out, [&] {
      const OpenOptions open = ReadOpen(options);
      if (open.format != nullptr) Refuse("format is for filters of other libraries");
      const std::filesystem::path from = PathFrom(&Required(path, "path"));
      return open.map ? FilterBank::Map(from, open.AsMap()) : FilterBank::Load(from, open.load);
    });
  });
}

tamis_status tamis_bank_save(tamis_bank* bank, const char* path,
                             const tamis_save_options* options) {
  return Guard([&] {
    if (ReadImported(options)) Refuse("imported is for filters of other libraries");
    BankOf(bank).Save(PathFrom(&Required(path, "path")), ReadSave(options));
  });
}

void tamis_bank_free(tamis_bank* bank) { delete bank; }

tamis_status tamis_bank_get_info(const tamis_bank* bank, tamis_bank_info* out) {
  return Guard([&] {
    const FilterBank& from = BankOf(bank);
    tamis_bank_info made{};
    made.members = from.num_members();
    made.indexes = 64 * from.row_words();
    made.row_words = from.row_words();
    made.bytes = from.bytes();
    made.fpr = from.fpr();
    made.hash_kind = static_cast<uint32_t>(from.hash().kind);
    made.read_only = from.read_only();
    made.seed = from.hash().seed;
    WriteInfo(out, "out", made);
  });
}

tamis_status tamis_bank_expected_false_members(const tamis_bank* bank, double* out) {
  return Guard([&] { Required(out, "out") = BankOf(bank).expected_false_members(); });
}

tamis_status tamis_bank_add_filter(tamis_bank* bank, const char* name, size_t name_bytes,
                                   const tamis_filter* filter) {
  return Guard([&] {
    FilterBank& into = BankOf(bank);
    const Filter& from = FilterOf(filter, "added to a bank");
    const auto* const blocks = dynamic_cast<const SplitBlockBloomFilter*>(&from);
    if (blocks == nullptr) {
      Refuse(std::string("the members of a bank are split-block filters, and this is of kind ") +
                 FilterKindName(from.kind()),
             ErrorCode::kUnsupported);
    }
    into.Add(NameFrom(name, name_bytes), *blocks);
  });
}

tamis_status tamis_bank_add_keys(tamis_bank* bank, const tamis_engine* engine, const char* name,
                                 size_t name_bytes, const tamis_keys* keys) {
  return Guard([&] {
    FilterBank& into = BankOf(bank);
    RequireWritable(into);
    const MemberName member = NameFrom(name, name_bytes);
    into.Add(member, FilterOfKeys(into, EngineOf(engine), KeyArray(keys)));
  });
}

tamis_answer tamis_bank_remove(tamis_bank* bank, const char* name, size_t name_bytes) {
  return Answer([&] {
    FilterBank& from = BankOf(bank);
    return from.Remove(NameFrom(name, name_bytes));
  });
}

tamis_status tamis_bank_extract(const tamis_bank* bank, const char* name, size_t name_bytes,
                                tamis_filter** out) {
  return Guard([&] {
    MakeFilterHandle(
        out, [&]() -> AnyFilter { return BankOf(bank).Extract(NameFrom(name, name_bytes)); });
  });
}

tamis_status tamis_bank_merge(tamis_bank* bank, const tamis_bank* other) {
  return Guard([&] {
    FilterBank& into = BankOf(bank);
    const FilterBank& from = Required(other, "other").bank;
    if (&into == &from) Refuse("bank and other are the same");
    into.Merge(from);
  });
}

tamis_status tamis_bank_flush(tamis_bank* bank) {
  return Guard([&] { BankOf(bank).Flush(); });
}

tamis_status tamis_bank_compact(tamis_bank* bank) {
  return Guard([&] { BankOf(bank).Compact(); });
}

tamis_answer tamis_bank_find(const tamis_bank* bank, const char* name, size_t name_bytes,
                             uint64_t* index) {
  return Answer([&] {
    const WantedOutput index_out(index, "index");
    const std::optional<BankMember> found = BankOf(bank).Find(NameFrom(name, name_bytes));
    if (found) index_out.Set(found->index);
    return found.has_value();
  });
}

tamis_status tamis_bank_members(const tamis_bank* bank, uint64_t* indexes, uint64_t capacity) {
  return Guard([&] {
    const FilterBank& from = BankOf(bank);
    const std::span out = Room(indexes, capacity, from.num_members(), "indexes");
    size_t i = 0;
    for (const BankMember& member : from.members()) out[i++] = member.index;
  });
}

tamis_status tamis_bank_name(const tamis_bank* bank, uint64_t index, const char** name,
                             size_t* name_bytes) {
  return Guard([&] {
    const std::string& found = BankOf(bank).NameOf(index);
    const char*& text = Required(name, "name");
    Required(name_bytes, "name_bytes") = found.size();
    text = found.c_str();
  });
}
