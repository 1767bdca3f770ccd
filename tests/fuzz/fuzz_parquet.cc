// What tamis::parquet reads of files: footers, headers of filters, and bits. Whatever they are, the
// outcome is an Error or an answer; what is in doubt is kept; and what is read is what is there,
// also when filters have been added.
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

// The places of a chunk's fields lie one behind the other.
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

// With filters for the first chunks a footer says so, and all else as before.
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

}  // namespace
}  // namespace tamis::parquet

// The first byte says which: 'f' a footer, 'b' a filter, any other (such as the P of PAR1) a file.
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
    default:
      ReadFile(bytes);
  }
  return 0;
}
