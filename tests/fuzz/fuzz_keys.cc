// Reads untrusted bytes as keys, in every way of the command: lines, CSV, tab-separated text, JSON
// lines, integers as text and raw, packed or not. Keys and errors must not depend on the pieces of
// the input or on the sizes of batches. Lines must equal the result of a simple reader.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/error.h"
#include "tests/fuzz/memory_file.h"
#include "tools/input/hex_key.h"
#include "tools/input/integer_key.h"
#include "tools/input/json_field.h"
#include "tools/input/key_reader.h"

namespace tamis::tools {
namespace {

// Maximum number of bytes of each call of read, in turn; 0: no limit.
struct Pieces {
  std::array<size_t, 4> sizes = {};
  size_t next = 0;

  size_t Next() { return sizes[next++ % sizes.size()]; }
};
Pieces pieces;

}  // namespace
}  // namespace tamis::tools

// The linker replaces the functions of the system by these.
extern "C" {
ssize_t __real_read(int fd, void* to, size_t bytes);

ssize_t __wrap_read(int fd, void* to, size_t bytes) {
  const size_t piece = tamis::tools::pieces.Next();
  return __real_read(fd, to, piece == 0 ? bytes : std::min(piece, bytes));
}

// With pieces, the next piece is never available yet.
int __wrap_poll(pollfd* fds, nfds_t n, int) {
  const bool there = tamis::tools::pieces.sizes[0] == 0;
  for (nfds_t i = 0; i < n; ++i) fds[i].revents = there ? POLLIN : 0;
  return there ? static_cast<int>(n) : 0;
}
}

namespace tamis::tools {
namespace {

constexpr size_t kHead = 4;  // bytes of an input that select how to read the rest

// The results of a read.
struct Read {
  std::vector<std::string> keys;
  std::vector<std::string> texts;
  std::vector<std::string> records;
  std::vector<uint64_t> bad;  // indices of records
  uint64_t num_records = 0;
  // The following fields are only valid if nothing was refused.
  bool refused = false;
  std::string header;
  uint64_t bytes = 0, num_bad = 0, num_empty = 0;
};

template <typename Strings>
void Append(const Strings& strings, std::vector<std::string>& to) {
  for (const std::string_view string : strings) to.emplace_back(string);
}

Read ReadAll(const InputOptions& options, KeyReader::Needs needs, const Pieces& in) {
  pieces = in;
  Read all;
  try {
    KeyReader reader(options, needs);
    KeyBatch batch;
    while (reader.Next(batch)) {
      Require(batch.num_records() > 0 && batch.num_records() <= needs.max_batch);
      Require(batch.keys().size() == batch.size());
      Require(std::ranges::is_sorted(batch.bad));
      if (!batch.bad.empty()) Require(batch.bad.back() < batch.num_records());
      for (const size_t bad : batch.bad) all.bad.push_back(all.num_records + bad);
      for (const uint64_t key : batch.integers) all.keys.push_back(std::to_string(key));
      Append(batch.strings, all.keys);
      Append(batch.texts, all.texts);
      Append(batch.records, all.records);
      all.num_records += batch.num_records();
    }
    all.header = reader.header();
    all.bytes = reader.bytes_read();
    all.num_bad = reader.num_bad();
    all.num_empty = reader.num_empty();
    Require(all.num_bad == all.bad.size() && all.num_empty <= all.num_bad);
    Require(all.keys.size() + all.bad.size() == all.num_records);
  } catch (const Error& error) {
    Require(error.code() == ErrorCode::kInvalidArgument || error.code() == ErrorCode::kCorrupt);
    all.refused = true;
  }
  return all;
}

// Whether the shorter vector is a prefix of the other.
template <typename T>
bool IsBegin(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.begin() + static_cast<ptrdiff_t>(std::min(a.size(), b.size())),
                    b.begin());
}

// If the input is refused, the number of keys read before the error depends on the pieces, but the
// keys of one read must be a prefix of the keys of the other.
void RequireSame(const Read& a, const Read& b) {
  Require(a.refused == b.refused);
  if (a.refused) {
    Require(IsBegin(a.keys, b.keys) && IsBegin(a.texts, b.texts));
    Require(IsBegin(a.records, b.records) && IsBegin(a.bad, b.bad));
    return;
  }
  Require(a.keys == b.keys && a.texts == b.texts && a.records == b.records && a.bad == b.bad);
  Require(a.header == b.header && a.bytes == b.bytes);
  Require(a.num_bad == b.num_bad && a.num_empty == b.num_empty);
}

// Compares with lines that a simple reader finds.
void RequireLines(const Read& read, const InputOptions& options,
                  const std::vector<std::string_view>& inputs) {
  std::vector<std::string> keys;
  uint64_t bad = 0;
  for (std::string_view text : inputs) {
    while (!text.empty()) {
      const size_t end = text.find('\n');
      std::string_view line = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (options.trim) line = WithoutBlanks(line);
      uint64_t value = 0;
      std::string bytes;
      if (line.empty() && !options.keeps_empty()) {
        ++bad;
      } else if (options.hex && AppendHexKey(line, bytes) != nullptr) {
        ++bad;
      } else if (options.hex) {
        keys.push_back(bytes);
      } else if (!options.integers) {
        keys.emplace_back(line);
      } else if (ParseIntegerKey(line, value) == nullptr) {
        keys.push_back(std::to_string(value));
      } else {
        ++bad;
      }
    }
  }
  Require(read.keys == keys && read.num_bad == bad);
}

// The records in order are the input, except for bad records.
void RequireRecords(const Read& read, const std::vector<std::string_view>& inputs) {
  std::string all;
  for (const std::string_view input : inputs) all += input;
  size_t at = 0;
  for (const std::string& record : read.records) {
    const size_t found = all.find(record, at);
    Require(found != std::string::npos && !record.empty());
    if (read.bad.empty() && inputs.size() == 1 && read.header.empty()) Require(found == at);
    at = found + record.size();
  }
}

}  // namespace
}  // namespace tamis::tools

// The first bytes are the options, the pieces, the largest batch, and the start of the second of
// two files. The rest is these files.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tamis;
  using namespace tamis::tools;
  if (size < kHead) return 0;
  const uint8_t form = data[0], more = data[1], shape = data[2], cut = data[3];
  const std::string_view text(reinterpret_cast<const char*>(data) + kHead, size - kHead);
  InputOptions options;
  options.csv = form % 4 == 1;
  options.tsv = form % 4 == 2;
  if (form % 4 == 3) options.separator = ';';
  const bool fields = form % 4 != 0;
  options.u64 = !fields && (form & 4) != 0 && (form & 8) != 0;
  options.jsonl = !fields && !options.u64 && (more & 128) != 0 && !JsonLibrary().empty();
  if (options.jsonl) options.field = std::array{"a", "/a/b", "/0", "/a~1/1"}[more / 8 % 4];
  options.integers = !options.u64 && (form & 4) != 0;
  options.hex = !options.u64 && !options.integers && (form & 8) != 0;
  options.trim = !options.u64 && (form & 16) != 0;
  options.header = fields && (form & 32) != 0;
  options.strict = (form & 64) != 0;
  options.as_is = (form & 128) != 0;
  if ((more & 1) != 0) options.empty = "keep";
  options.no_quotes = options.reads_csv() && (more & 2) != 0;
  if (options.reads_csv() && (more & 4) != 0) options.quoted_lines = 2;
  if (fields) options.column = std::array{"", "2", "3", "id"}[more / 8 % 4];
  KeyReader::Needs needs = {
      .records = (more & 32) != 0, .texts = (more & 64) != 0, .report_bad = false};

  static MemoryFile files[2];
  std::vector<std::string_view> inputs = {text};
  if (cut != 0) {
    const size_t at = text.size() * cut / 256;
    inputs = {text.substr(0, at), text.substr(at)};
  }
  options.paths.clear();
  for (size_t i = 0; i < inputs.size(); ++i) {
    options.paths.push_back(files[i].Write(Bytes(inputs[i].begin(), inputs[i].end())));
  }
  const Read whole = ReadAll(options, needs, {});
  if (!whole.refused && options.as_is && !fields && !options.jsonl && !options.u64) {
    RequireLines(whole, options, inputs);
  }
  if (!whole.refused && options.as_is && needs.records) RequireRecords(whole, inputs);
  // Many small pieces of a large input would take long.
  const size_t least = 1 + text.size() / 256;
  needs.max_batch = 1 + shape % 8;
  RequireSame(ReadAll(options, needs, {}), whole);
  RequireSame(ReadAll(options, needs, {.sizes = {least, least, least, least}}), whole);
  const size_t piece = least + shape / 8;
  RequireSame(ReadAll(options, needs, {.sizes = {piece, least, 2 * piece, 7 * least}}), whole);
  return 0;
}
