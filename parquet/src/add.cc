#include "tamis/parquet/add.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "core/src/file/atomic_file.h"
#include "core/src/os/file.h"
#include "core/src/os/io_error.h"
#include "core/src/os/path_text.h"
#include "core/src/os/temporary_file.h"
#include "parquet/src/add_filter.h"
#include "parquet/src/filter_header.h"
#include "parquet/src/splice.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/file/saving.h"
#include "tamis/filters/sizing.h"
#include "tamis/hash.h"
#include "tamis/parquet/bloom_filter.h"
#include "tamis/parquet/footer.h"
#include "tamis/parquet/source.h"
#include "tamis/units.h"

namespace tamis::parquet {
namespace {

namespace fs = std::filesystem;

using AddOutcome = AddedFilter::Outcome;

constexpr size_t kPiece = size_t{1} << 20;  // bytes of a file that are copied or compared at a time

std::span<const std::byte> BytesOf(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// Returns the status of a file that exists.
os::FileStatus StatusOfSource(const fs::path& path) {
  const std::optional<os::FileStatus> status = os::StatusOf(path);
  if (!status) os::ThrowIoError(path, "open", ENOENT);
  return *status;
}

void RequireFilters(const Schema& schema, size_t column) {
  const PhysicalType type = schema.columns()[column].physical;
  if (type != PhysicalType::kBoolean && type != PhysicalType::kInt96) return;
  throw Error(ErrorCode::kInvalidArgument, "column " + schema.PathOf(column) + " is " +
                                               TypeText(schema.columns()[column]) +
                                               ", for which Parquet has no filters");
}

std::vector<size_t> ColumnsOf(const Schema& schema, const AddOptions& options) {
  if (options.columns.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "the list of columns to add filters to is empty");
  }
  if (!(options.fpr >= kMinFpr && options.fpr <= kMaxFpr)) {
    throw Error(ErrorCode::kInvalidArgument,
                detail::StrCat("fpr is ", NumberText(options.fpr), "; allowed: [1e-12, 0.5]"));
  }
  std::vector<size_t> columns;
  for (const std::string& path : options.columns) columns.push_back(schema.Find(path));
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  for (const size_t column : columns) RequireFilters(schema, column);
  return columns;
}

// Throws if filters cannot be added to the file.
void RequirePlain(const Source& source, const Footer& footer, std::span<const size_t> columns) {
  if (footer.encrypted()) {
    throw Error(ErrorCode::kUnsupported, source.name() + ": is encrypted or signed");
  }
  for (size_t row_group = 0; row_group < footer.row_groups().size(); ++row_group) {
    for (const size_t column : columns) {
      if (footer.Chunk(row_group, column).other_file) {
        throw Error(ErrorCode::kUnsupported, source.name() + ": its data is in another file");
      }
    }
  }
  // Throws if the footer cannot be spliced.
  SpliceFooter(footer.bytes(), footer.offset(), {});
}

// Calls `act` for the bytes [0, size) of the source, in pieces and in order.
template <typename Act>
void ForPieces(const Source& source, uint64_t size, const Act& act) {
  std::vector<std::byte> piece(static_cast<size_t>(std::min<uint64_t>(size, kPiece)));
  for (uint64_t at = 0; at < size; at += piece.size()) {
    piece.resize(static_cast<size_t>(std::min<uint64_t>(size - at, kPiece)));
    source.Read(at, piece);
    act(at, std::span<const std::byte>(piece));
  }
}

class Adder {
 public:
  Adder(const fs::path& from, const OpenValues& open, const AddOptions& options)
      : from_(from),
        status_(StatusOfSource(from)),
        open_(open),
        options_(options),
        source_(OpenSource(from)),
        footer_(Footer::Read(*source_)),
        columns_(ColumnsOf(footer_.schema(), options)) {
    RequirePlain(*source_, footer_, columns_);
  }

  AddResult AddTo(const fs::path& to) {
    const std::optional<os::FileStatus> there = os::StatusOf(to);
    if (there && there->identity == status_.identity) {
      throw Error(ErrorCode::kInvalidArgument,
                  os::TextOf(to) + ": is the input file, which is never overwritten");
    }
    RequireSavable(to, options_.save);
    const auto write = [this](os::TemporaryFile& file) {
      Write(file);
      Verify(file);
    };
    detail::WriteFileAtomicallyBy(to, write, options_.save);
    return std::move(result_);
  }

 private:
  struct Written {
    FilterEntry entry;
    uint64_t digest = 0;  // digest of the bits of the filter
  };

  void Write(os::TemporaryFile& file) {
    result_ = {.old_bytes = source_->size()};
    written_.clear();
    const std::unique_ptr<ColumnValues> values = open_(from_);
    ForPieces(*source_, footer_.offset(),
              [&](uint64_t, std::span<const std::byte> piece) { file.Write(piece); });
    at_ = footer_.offset();
    for (size_t row_group = 0; row_group < footer_.row_groups().size(); ++row_group) {
      for (const size_t column : columns_) {
        result_.chunks.push_back(AddTo(file, *values, row_group, column));
        if (options_.on_chunk) options_.on_chunk(result_.chunks.back());
      }
    }
    std::vector<FilterEntry> entries;
    for (const Written& written : written_) entries.push_back(written.entry);
    new_footer_ = SpliceFooter(footer_.bytes(), footer_.offset(), entries);
    if (new_footer_.size() > Footer::kMaxBytes) {
      throw Error(ErrorCode::kUnsupported, source_->name() + ": its footer would be too large");
    }
    file.Write(new_footer_);
    std::array<std::byte, 4> length;
    for (size_t i = 0; i < 4; ++i) {
      length[i] = static_cast<std::byte>(new_footer_.size() >> (8 * i) & 0xFF);
    }
    file.Write(length);
    file.Write(BytesOf("PAR1"));
    result_.new_bytes = at_ + new_footer_.size() + 8;
  }

  AddedFilter AddTo(os::TemporaryFile& file, ColumnValues& values, size_t row_group,
                    size_t column) {
    const ColumnChunk chunk = footer_.Chunk(row_group, column);
    AddedFilter added = {.row_group = row_group, .column = column, .values = chunk.values};
    const bool without_bits = HasFilterWithoutBits(chunk);
    if (chunk.filter_offset && !options_.replace && !without_bits) {
      added.outcome = AddOutcome::kKept;
      added.reason = "it has a filter";
      return added;
    }
    const BuiltFilter built = Build(values, row_group, column, chunk);
    const std::string header = FilterHeader(built.filter.bytes());
    // Aligns the bits to a multiple of 32, so that a mapped file can be queried in place.
    const uint64_t padding = (0 - at_ - header.size()) % 32;
    added.distinct = built.distinct;
    added.bytes = built.filter.bytes();
    added.fpr = built.fpr;
    added.bytes_in_file = padding + header.size() + built.filter.bytes();
    added.reason = WhyNotPaying(footer_, row_group, column, chunk, built,
                                header.size() + built.filter.bytes());
    if (built.present == 0 && chunk.filter_offset && !options_.replace) {
      added.outcome = AddOutcome::kKept;  // no bit of it is set, and its chunk has no values
      added.bytes_in_file = 0;
      return added;
    }
    // A filter in which no bit is set rules out existing values, so it is replaced even if the new
    // filter is not worth its bytes.
    if (!added.reason.empty() && !options_.force && !without_bits) {
      added.outcome = AddOutcome::kLeftOut;
      added.bytes_in_file = 0;
      return added;
    }
    added.outcome = chunk.filter_offset ? AddOutcome::kReplaced : AddOutcome::kAdded;
    added.reason.clear();
    added.offset = at_ + padding;
    file.Write(BytesOf(std::string(padding, '\0')));
    file.Write(BytesOf(header));
    file.Write(built.filter.payload());
    at_ += added.bytes_in_file;
    written_.push_back({{row_group, column, static_cast<int64_t>(added.offset),
                         static_cast<int32_t>(header.size() + built.filter.bytes())},
                        DigestOf(built.filter.payload())});
    return added;
  }

  // Returns whether the chunk's filter rules out existing values.
  bool HasFilterWithoutBits(const ColumnChunk& chunk) const {
    if (!chunk.filter_offset) return false;
    try {
      FilterBuffer buffer;
      return chunk.MayHaveValues() &&
             HasNoBits(ReadFilter(*source_, FindFilter(*source_, footer_, chunk), buffer));
    } catch (const Error&) {
      return false;  // readers do not accept it as a filter
    }
  }

  // Adds the name of the chunk to errors.
  BuiltFilter Build(ColumnValues& values, size_t row_group, size_t column,
                    const ColumnChunk& chunk) const {
    try {
      return BuildFilter(values, row_group, column, chunk, options_.fpr);
    } catch (const FormatError& error) {
      throw FormatError(
          error.code(), error.check(), error.offset(),
          detail::StrCat(source_->name(), ": column ", footer_.schema().PathOf(column),
                         " of row group ", row_group, ": ", error.what()));
    }
  }

  // Reads the new file. Throws unless its contents are the contents that were written.
  void Verify(const os::TemporaryFile& file) const {
    const std::unique_ptr<Source> made = OpenSource(file.readable_path());
    const Footer footer = Footer::Read(*made);
    if (footer.offset() != at_ || !std::ranges::equal(footer.bytes(), new_footer_)) {
      Differs("the footer");
    }
    for (const Written& written : written_) {
      const auto& [row_group, column, offset, bytes] = written.entry;
      const ColumnChunk chunk = footer.Chunk(row_group, column);
      const FilterPlace place = FindFilter(*made, footer, chunk);
      FilterBuffer buffer;
      if (chunk.filter_offset != static_cast<uint64_t>(offset) ||
          chunk.filter_length != static_cast<uint64_t>(bytes) ||
          place.bytes() != static_cast<uint64_t>(bytes) ||
          DigestOf(ReadFilter(*made, place, buffer).blocks()) != written.digest) {
        Differs("a filter");
      }
    }
    std::vector<std::byte> copy;
    ForPieces(*source_, footer_.offset(), [&](uint64_t at, std::span<const std::byte> piece) {
      copy.resize(piece.size());
      made->Read(at, copy);
      if (std::memcmp(copy.data(), piece.data(), piece.size()) != 0) Differs("the data");
    });
    if (os::StatusOf(from_) != status_) {
      throw Error(ErrorCode::kBusy, source_->name() + ": was changed or replaced during the call");
    }
  }

  [[noreturn]] void Differs(const std::string& what) const {
    throw Error(ErrorCode::kIo,
                source_->name() + ": " + what + " of the new file is not what was written");
  }

  static uint64_t DigestOf(std::span<const std::byte> bits) {
    return HashBytes({reinterpret_cast<const char*>(bits.data()), bits.size()}, {});
  }

  const fs::path from_;
  const os::FileStatus status_;
  const OpenValues& open_;
  const AddOptions& options_;
  const std::unique_ptr<Source> source_;
  const Footer footer_;
  const std::vector<size_t> columns_;  // ascending

  AddResult result_;
  std::vector<Written> written_;
  std::vector<std::byte> new_footer_;
  uint64_t at_ = 0;  // current size of the new file
};

}  // namespace

AddResult AddFilters(const fs::path& from, const fs::path& to, const OpenValues& open,
                     const AddOptions& options) {
  return Adder(from, open, options).AddTo(to);
}

}  // namespace tamis::parquet
