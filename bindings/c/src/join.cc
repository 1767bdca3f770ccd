// Join filters.
#include "tamis/c/join.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings/c/src/handles.h"
#include "bindings/c/src/json_text.h"
#include "bindings/c/src/key_array.h"
#include "bindings/c/src/memory.h"
#include "bindings/c/src/options.h"
#include "bindings/c/src/room.h"
#include "bindings/c/src/select_from.h"
#include "bindings/c/src/text.h"
#include "tamis/detail/str_cat.h"
#include "tamis/engine/calibration.h"
#include "tamis/join/join_filter.h"
#include "tamis/join/join_keys.h"
#include "tamis/join/join_probe.h"

struct tamis_join_part {
  tamis::JoinFilter::Part part;
};

struct tamis_join_probe {
  tamis::JoinProbe probe;
};

namespace tamis::c {
namespace {

template <typename Option, typename Value>
void SetIf(Option& option, Value value) {
  if (value != 0) option = value;
}

std::unique_ptr<JoinFilter> MakeJoin(const tamis_join_options& given) {
  JoinFilterOptions options;
  options.expected_keys = given.expected_keys;
  if (given.key_type > TAMIS_JOIN_HASHES) {
    Refuse(detail::StrCat("key_type is ", given.key_type,
                          ", must be TAMIS_JOIN_INTEGERS or TAMIS_JOIN_HASHES"));
  }
  options.key_type = static_cast<JoinKeyType>(given.key_type);
  if (ReadFlag(given.has_range, "has_range")) {
    options.range = JoinKeyRange(given.range_low, given.range_high);
  }
  SetIf(options.fpr, given.fpr);
  SetIf(options.max_bytes, given.max_bytes);
  SetIf(options.kept_keys, given.kept_keys);
  SetIf(options.l2_bytes, given.l2_bytes);
  SetIf(options.l3_bytes, given.l3_bytes);
  options.hash = ReadHash(given.hash);
  options.backend = ReadBackend(given.backend);
  std::optional<Calibration> calibration;
  if (given.calibration_path != nullptr) calibration = Calibration::Load(given.calibration_path);
  options.calibration = calibration ? &*calibration : nullptr;
  return std::make_unique<JoinFilter>(options);
}

JoinProbeOptions ReadProbe(const tamis_join_probe_options& given) {
  RequireZero(given.reserved);
  JoinProbeOptions options;
  SetIf(options.row_ns, given.row_ns);
  SetIf(options.sample_rows, given.sample_rows);
  SetIf(options.margin, given.margin);
  SetIf(options.pause_rows, given.pause_rows);
  SetIf(options.max_pauses, given.max_pauses);
  return options;
}

void Text(JsonText& json, const char* name, const std::string& value) {
  json.Name(name);
  json.String(value);
}

void Flag(JsonText& json, const char* name, bool value) {
  json.Name(name);
  json.Bool(value);
}

void WriteCandidate(const JoinCandidate& candidate, JsonText& json) {
  json.Open('{');
  Text(json, "form", JoinFormName(candidate.form));
  if (candidate.possible()) {
    json.Member("bytes", candidate.bytes);
    Text(json, "place", JoinPlaceName(candidate.place));
    json.Member("ns_per_row", candidate.ns_per_row);
  } else {
    Text(json, "error", candidate.error);
  }
  json.Close('}');
}

void WriteChoice(const JoinChoice& choice, JsonText& json) {
  json.Open('{');
  Text(json, "form", JoinFormName(choice.form));
  Text(json, "reason", choice.reason);
  json.Name("candidates");
  json.Open('[');
  for (const JoinCandidate& candidate : choice.candidates) WriteCandidate(candidate, json);
  json.Close(']');
  json.Close('}');
}

std::string JsonOf(const JoinFilter& join) {
  JsonText json;
  json.Open('{');
  Flag(json, "complete", join.complete());
  Text(json, "form", JoinFormName(join.form()));
  json.Member("parts_added", uint64_t{join.parts_added()});
  json.Member("bytes", join.bytes());
  if (const std::optional<JoinKeyRange> range = join.range()) {
    json.Name("range");
    json.Open('[');
    json.Number(range->low);
    json.Number(range->high);
    json.Close(']');
  }
  json.Name("choice");
  WriteChoice(join.choice(), json);
  json.Close('}');
  return json.text();
}

std::string JsonOf(const JoinFilter::Part& part) {
  JsonText json;
  json.Open('{');
  json.Member("index", uint64_t{part.index()});
  Text(json, "contents", JoinFormName(part.contents()));
  json.Member("inserted", part.inserted_count());
  json.Member("bytes", part.bytes());
  json.Close('}');
  return json.text();
}

std::string JsonOf(const JoinProbe& probe) {
  const JoinProbe::Counters& counters = probe.counters();
  JsonText json;
  json.Open('{');
  Text(json, "verdict", JoinVerdictName(probe.verdict()));
  json.Member("rows", counters.rows);
  json.Member("passed", counters.passed);
  json.Member("skipped", counters.skipped);
  json.Member("ns", counters.ns);
  json.Member("samples", counters.samples);
  json.Member("switches", counters.switches);
  json.Member("last_pass_rate", counters.last_pass_rate);
  json.Member("last_ns_per_row", counters.last_ns_per_row);
  json.Close('}');
  return json.text();
}

// Appends the keys of columns [columns.size(), arrays.size()) to `columns`, and calls
// work(columns). The keys of a column are valid only within ForRuns.
template <typename Work>
void WithColumns(std::span<const KeyArray> arrays, std::vector<Keys>& columns, const Work& work) {
  if (columns.size() == arrays.size()) return work(columns);
  arrays[columns.size()].ForRuns([&](const Keys& column, size_t) {
    columns.push_back(column);
    WithColumns(arrays, columns, work);
  });
}

std::vector<KeyArray> ReadColumns(const tamis_keys* columns, uint64_t num_columns) {
  constexpr uint64_t kMaxColumns = 1024;
  RequireArray<tamis_keys>(columns, "columns");
  if (num_columns == 0 || num_columns > kMaxColumns) {
    Refuse(detail::StrCat("num_columns is ", num_columns, ", must be 1 to ", kMaxColumns));
  }
  std::vector<KeyArray> arrays;
  for (uint64_t i = 0; i < num_columns; ++i) arrays.emplace_back(columns + i, KeyArray::kOneRun);
  return arrays;
}

void CopyHashes(const ColumnHashes& rows, std::span<uint64_t> hashes, std::span<uint64_t> valid) {
  std::ranges::copy(rows.hashes(), hashes.begin());
  const size_t n = hashes.size();
  std::ranges::fill(valid, ~uint64_t{0});
  if (n % 64 != 0) valid.back() = (uint64_t{1} << (n % 64)) - 1;
  const Keys keys = rows.keys();
  if (keys.validity() == nullptr) return;
  for (size_t i = 0; i < n; ++i) {
    if (!keys.IsValid(i)) valid[i / 64] &= ~(uint64_t{1} << (i % 64));
  }
}

}  // namespace
}  // namespace tamis::c

using namespace tamis;
using namespace tamis::c;

tamis_status tamis_join_create(const tamis_join_options* options, tamis_filter** out) {
  return Guard([&] {
    MakeFilterHandle(
        out, [&] { return MakeJoin(ReadOptions(Required(options, "options"), "options")); });
  });
}

tamis_status tamis_join_part_create(const tamis_filter* filter, uint32_t index,
                                    tamis_join_part** out) {
  return Guard([&] {
    tamis_join_part*& handle = Required(out, "out");
    handle = new tamis_join_part{JoinOf(filter).MakePart(index)};
  });
}

void tamis_join_part_free(tamis_join_part* part) { delete part; }

tamis_status tamis_join_part_insert(tamis_join_part* part, const tamis_keys* keys) {
  return Guard([&] {
    JoinFilter::Part& into = Required(part, "part").part;
    KeyArray(keys).ForRuns([&](const Keys& run, size_t) { into.Insert(run); });
  });
}

tamis_status tamis_join_part_serialize(const tamis_join_part* part, void* data, uint64_t capacity,
                                       uint64_t* written) {
  return Guard([&] {
    const WantedOutput written_out(written, "written");
    const JoinFilter::Part& from = Required(part, "part").part;
    const std::span room = Memory<std::byte>(data, capacity);
    const std::vector<std::byte> bytes = from.Serialize();
    if (data != nullptr || capacity != 0) {
      if (room.size() < bytes.size()) {
        Refuse(detail::StrCat("data has room for ", room.size(), " bytes, and the part has ",
                              bytes.size()));
      }
      std::memcpy(room.data(), bytes.data(), bytes.size());
    }
    written_out.Set(bytes.size());
  });
}

tamis_status tamis_join_part_from_bytes(const void* data, uint64_t bytes, tamis_join_part** out) {
  return Guard([&] {
    tamis_join_part*& handle = Required(out, "out");
    handle = new tamis_join_part{JoinFilter::Part::FromBytes(Memory<const std::byte>(data, bytes))};
  });
}

tamis_status tamis_join_part_json(const tamis_join_part* part, char** out) {
  return Guard([&] {
    char*& text = Required(out, "out");
    text = NewText(JsonOf(Required(part, "part").part));
  });
}

tamis_status tamis_join_add(tamis_filter* filter, tamis_join_part* part) {
  return Guard([&] { JoinOf(filter).Add(std::move(Required(part, "part").part)); });
}

tamis_status tamis_join_complete(tamis_filter* filter, uint32_t parts_expected) {
  return Guard([&] { JoinOf(filter).Complete(parts_expected); });
}

tamis_status tamis_join_json(const tamis_filter* filter, char** out) {
  return Guard([&] {
    char*& text = Required(out, "out");
    text = NewText(JsonOf(JoinOf(filter)));
  });
}

tamis_status tamis_join_hash_columns(const tamis_keys* columns, uint64_t num_columns,
                                     const tamis_hash* hash, uint64_t* hashes, uint64_t capacity,
                                     uint64_t* valid, uint64_t words) {
  return Guard([&] {
    const std::vector<KeyArray> arrays = ReadColumns(columns, num_columns);
    const HashSpec spec = hash != nullptr ? ReadHash(Required(hash, "hash")) : HashSpec{};
    const size_t n = arrays[0].size();
    const std::span hashes_out = Room(hashes, capacity, n, "hashes");
    const std::span valid_out = Room(valid, words, BitmapWords(n), "valid");
    std::vector<Keys> read;
    WithColumns(arrays, read, [&](std::span<const Keys> all) {
      CopyHashes(HashColumns(all, spec), hashes_out, valid_out);
    });
  });
}

tamis_status tamis_join_probe_create(const tamis_filter* filter,
                                     const tamis_join_probe_options* options,
                                     tamis_join_probe** out) {
  return Guard([&] {
    tamis_join_probe*& handle = Required(out, "out");
    handle =
        new tamis_join_probe{JoinProbe(JoinOf(filter), ReadProbe(ReadOptions(options, "options")))};
  });
}

void tamis_join_probe_free(tamis_join_probe* probe) { delete probe; }

tamis_answer tamis_join_probe_wanted(tamis_join_probe* probe, uint64_t rows) {
  return Answer([&] { return Required(probe, "probe").probe.Wanted(rows); });
}

tamis_status tamis_join_probe_select_from(tamis_join_probe* probe, const tamis_keys* keys,
                                          const uint32_t* selection, uint64_t num_selected,
                                          uint32_t* rows, uint64_t capacity, uint64_t* hits) {
  return Guard([&] {
    JoinProbe& by = Required(probe, "probe").probe;
    SelectFrom(
        keys, selection, num_selected, rows, capacity, hits,
        [&](const Keys& all, auto chosen, auto out) { return by.SelectFrom(all, chosen, out); });
  });
}

tamis_status tamis_join_probe_record(tamis_join_probe* probe, uint64_t rows, uint64_t passed,
                                     double ns) {
  return Guard([&] { Required(probe, "probe").probe.Record(rows, passed, ns); });
}

tamis_status tamis_join_probe_json(const tamis_join_probe* probe, char** out) {
  return Guard([&] {
    char*& text = Required(out, "out");
    text = NewText(JsonOf(Required(probe, "probe").probe));
  });
}
