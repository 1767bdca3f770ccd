// Reads untrusted bytes as tamis::parquet reads files: footers, headers of filters, and bits. For
// any bytes, the outcome is an Error or an answer. Row groups in doubt are kept. Contents are read
// correctly, also after filters were added.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parquet/src/add_filter.h"
#include "parquet/src/filter_header.h"
#include "parquet/src/splice.h"
#include "parquet/src/stored_text.h"
#include "parquet/src/stored_value.h"
#include "parquet/src/thrift_places.h"
#include "tamis/error.h"
#include "tamis/parquet/bloom_filter.h"
#include "tamis/parquet/filter_report.h"
#include "tamis/parquet/pruner.h"

namespace tamis::parquet {
namespace {

using Bytes = std::span<const std::byte>;

void Require(bool condition) {
  if (!condition) __builtin_trap();
}

void Expect(const Error& error) {
  Require(error.code() == ErrorCode::kCorrupt || error.code() == ErrorCode::kUnsupported);
}

void AskColumns(const Source& source, const Footer& footer) {
  static const std::vector<std::string_view> texts = {"", "word", "1", "2026-01-31", "0.5", "-0"};
  for (size_t column = 0; column < footer.schema().columns().size() && column < 4; ++column) {
    const std::string path = footer.schema().PathOf(column);
    if (path.empty()) continue;
    for (const Detail detail : {Detail::kGroups, Detail::kPairs}) {
      const ParquetPruner pruner(KeyList::Text(texts),
                                 {.column = path, .detail = detail, .threads = 1});
      const FileAnswer answer = pruner.Ask(source);
      Require(answer.doubt.empty() || answer.groups.empty());
      for (const GroupAnswer& group : answer.groups) {
        Require((group.outcome == Outcome::kDoubt) == !group.doubt.empty());
        Require(group.hits <= texts.size());
        Require(IsKept(group.outcome) || group.hits == 0);
      }
    }
  }
}

// The places of the fields of a chunk are in order.
void ReadPlaces(const Footer& footer) {
  const size_t columns = footer.schema().columns().size();
  for (size_t group = 0; group < footer.row_groups().size() && group < 4; ++group) {
    for (size_t column = 0; column < columns && column < 4; ++column) {
      const PlacedStruct places = PlacesOf(footer.bytes(), footer.ChunkAt(group, column));
      size_t at = places.begin;
      for (const PlacedField& placed : places.fields) {
        Require(placed.field.header_at == at && placed.end >= placed.field.value_at);
        at = placed.end;
      }
      Require(places.stop_at == at && at < footer.bytes().size());
    }
  }
}

// After filters were added for the first chunks, the footer has them and is otherwise unchanged.
void Splice(const Footer& footer) {
  const size_t columns = footer.schema().columns().size();
  std::vector<FilterEntry> entries;
  for (size_t group = 0; group < footer.row_groups().size() && group < 4; ++group) {
    for (size_t column = group % 2; column < columns && column < 4; column += 2) {
      entries.push_back({group, column, static_cast<int64_t>(group << 40 | column), 47});
      FullDictionaryBytes(footer, group, column);
    }
  }
  const Footer spliced(SpliceFooter(footer.bytes(), footer.offset(), entries), footer.offset());
  Require(spliced.row_groups().size() == footer.row_groups().size());
  for (size_t group = 0; group < footer.row_groups().size() && group < 4; ++group) {
    for (size_t column = 0; column < columns && column < 4; ++column) {
      const ColumnChunk before = footer.Chunk(group, column);
      const ColumnChunk after = spliced.Chunk(group, column);
      Require(after.values == before.values && after.first_page == before.first_page);
      Require(after.statistics.min == before.statistics.min);
      const bool added = column % 2 == group % 2;
      Require(after.filter_length == (added ? 47 : before.filter_length));
      Require(after.filter_offset == (added ? group << 40 | column : before.filter_offset));
    }
  }
  Require(
      std::ranges::equal(spliced.bytes(), SpliceFooter(spliced.bytes(), footer.offset(), entries)));
}

void ReadFile(Bytes bytes) {
  const MemorySource source(bytes);
  try {
    const Footer footer = Footer::Read(source);
    ReadPlaces(footer);
    AskColumns(source, footer);
    Splice(footer);
    if (footer.schema().columns().size() * footer.row_groups().size() < 64) ReportFilters(source);
  } catch (const Error& error) {
    Expect(error);
  }
}

void ReadFooter(Bytes bytes) {
  try {
    const Footer footer(std::vector<std::byte>(bytes.begin(), bytes.end()), 1000);
    ReadPlaces(footer);
    Splice(footer);
  } catch (const Error& error) {
    Expect(error);
  }
}

void ReadFilterBytes(Bytes bytes) {
  try {
    const SplitBlockBloomFilter filter = FromParquet(bytes);
    const std::string again = ToParquet(filter);
    const SplitBlockBloomFilter same = FromParquet(std::as_bytes(std::span(again)));
    Require(ToParquet(same) == again);
  } catch (const Error& error) {
    Expect(error);
  }
}

// Text that is a value is formatted as text with the same value. The first byte is the type.
void ReadKey(Bytes bytes) {
  using Kind = LogicalType::Kind;
  constexpr PhysicalType kInt32 = PhysicalType::kInt32;
  constexpr PhysicalType kInt64 = PhysicalType::kInt64;
  constexpr PhysicalType kFixed = PhysicalType::kFixedLenByteArray;
  static const std::vector<Column> columns = {
      {.physical = kInt32},
      {.physical = kInt64},
      {.physical = kInt64,
       .logical = {.kind = Kind::kInteger, .bit_width = 64, .is_signed = false}},
      {.physical = kInt32, .logical = {.kind = Kind::kInteger, .bit_width = 8}},
      {.physical = kInt32, .logical = {.kind = Kind::kDate}},
      {.physical = kInt64, .logical = {.kind = Kind::kTime, .unit = TimeUnit::kMicros}},
      {.physical = kInt64, .logical = {.kind = Kind::kTimestamp, .unit = TimeUnit::kMillis}},
      {.physical = kInt64, .logical = {.kind = Kind::kTimestamp, .unit = TimeUnit::kNanos}},
      {.physical = kInt64, .logical = {.kind = Kind::kDecimal, .scale = 4}},
      {.physical = PhysicalType::kFloat},
      {.physical = PhysicalType::kDouble},
      {.physical = kFixed, .width = 12, .logical = {.kind = Kind::kDecimal, .scale = 7}},
      {.physical = kFixed, .width = 16, .logical = {.kind = Kind::kUuid}},
  };
  if (bytes.empty()) return;
  const Column& column = columns[static_cast<size_t>(bytes[0]) % columns.size()];
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + 1, bytes.size() - 1);
  const auto list_of = [](const std::string_view& key) { return KeyList::Text({&key, 1}); };
  const auto kind = NumberKindOf(column);
  if (!kind) {
    std::string made, made_again;
    const auto stored = StoredBytes(column, list_of(text), 0, made);
    if (!stored) return;
    const std::string written = TextOfBytes(column, *stored);
    const std::string_view view = written;
    Require(StoredBytes(column, list_of(view), 0, made_again) == stored);
    return;
  }
  const auto bits = NumberBits(column, *kind, list_of(text), 0);
  if (!bits) return;
  // An integer may not be a valid time of day.
  if (column.logical.kind == Kind::kTime && *bits > 86'400'000'000) return;
  const std::string written = TextOfNumber(column, *bits);
  const std::string_view view = written;
  if (written.find("nan") != std::string::npos) return;
  Require(NumberBits(column, *kind, list_of(view), 0) == bits);
}

}  // namespace
}  // namespace tamis::parquet

// The first byte selects the kind of input: 'f' a footer, 'b' a filter, 'k' a key as text, any
// other (such as the P of PAR1) a file.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tamis::parquet;
  if (size == 0) return 0;
  const Bytes bytes = std::as_bytes(std::span(data, size));
  switch (data[0]) {
    case 'f':
      ReadFooter(bytes.subspan(1));
      break;
    case 'b':
      ReadFilterBytes(bytes.subspan(1));
      break;
    case 'k':
      ReadKey(bytes.subspan(1));
      break;
    default:
      ReadFile(bytes);
  }
  return 0;
}
