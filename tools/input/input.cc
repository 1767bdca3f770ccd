#include "tools/input/input.h"

#include <tamis/error.h>

#include <cerrno>
#include <charconv>
#include <utility>

#include "tools/input/input_file.h"
#include "tools/input/json_field.h"
#include "tools/options/parse.h"
#include "tools/os/file.h"
#include "tools/output/format.h"

namespace tamis::tools {
const char kKeyTypesHelp[] =
    "A key is a line of text, without its LF or CRLF, unless one of the options above is given.\n"
    "Integers are digits from -2^63 to 2^64-1, such as 42, -42 and 007, but not +7, 1e3, 1.0,\n"
    "or numbers with blanks around them (see --trim). With --hex, a key is the bytes that an even\n"
    "number of hexadecimal digits represents. Lines without a key (empty, not an integer, or with\n"
    "fewer or more columns than the first record) are skipped, counted and reported with their\n"
    "numbers. With --strict the first one ends the command. The exit status\n"
    "is 2 if no line has a key, or if more lines are bad than --max-bad allows. Empty lines are\n"
    "not bad. A stray quote in CSV would swallow other lines, so it is an error: a quote that\n"
    "is not closed, or whose field contains line ends and then breaks RFC 4180 or has more\n"
    "lines than --quoted-lines.\n"
    "\n"
    "An empty line or field is not a key. With --empty keep it is the key \"\", but in CSV only a\n"
    "quoted field is: in 1,\"\" the second field is a key, in 1, it is not.\n"
    "\n"
    "With --jsonl --field text, each line is a JSON text, and the key is its field text: the\n"
    "unescaped UTF-8 bytes of a string, or the characters of a number as it is written. With\n"
    "--field /meta/url the key is the field url of the object meta, by JSON Pointer (RFC 6901).\n"
    "If an object has several fields of one name, the last one counts. A line is bad if it is not\n"
    "valid JSON, or if its field is missing or neither a string nor a number.\n"
    "\n"
    "Input packed by gzip or zstd is unpacked (`tamis --version` shows whether this tamis can),\n"
    "but raw integers only if the name ends in .gz or .zst. Other files that are not text are\n"
    "refused, such as Parquet, UTF-16 and files with a NUL byte, and so is text whose lines end\n"
    "in CR alone (`tr '\\r' '\\n'` converts it). --as-is reads all of these as text.\n"
    "\n"
    "The string \"42\" and the integer 42 are different keys. --integers and --u64 give the same\n"
    "keys. A filter records the types of its keys (see `tamis info`), and other keys are\n"
    "refused.\n";

void InputOptions::AddTo(const CommandLine& command) {
  command.Add("INPUT", paths, "files with keys; - is standard input (default: -)");
  const Option csv_flag =
      command.AddFlag("--csv", csv, "comma-separated records, quoted as in RFC 4180");
  const Option tsv_flag = command.AddFlag("--tsv", tsv, "tab-separated records, without quotes");
  const Option column_option = command.Add(
      "--column", column, "column of the key: number from 1 (default), or name (means --header)");
  column_option.Type("N|NAME");
  const Option header_flag =
      command.AddFlag("--header", header, "each input begins with a record of names");
  const Option quotes_flag =
      command.AddFlag("--no-quotes", no_quotes, "in CSV, quotes are text, and records are lines");
  const Option lines_option =
      command.Add("--quoted-lines", quoted_lines, ParsePositiveCount,
                  "in CSV, the most lines of a quoted field (default: 1000)");
  lines_option.Type("N").Excludes(quotes_flag);
  const Option separator_option =
      command.Add("--separator", separator, ParseSeparator,
                  "separator of the fields of CSV, instead of a comma (means --csv)");
  separator_option.Type("C").Excludes(tsv_flag);
  const Option jsonl_flag =
      command.AddFlag("--jsonl", jsonl, "each line is a JSON text; the key is its field --field");
  const Option field_option = command.Add(
      "--field", field, "field of the key: name in the outermost object, or JSON Pointer /a/b");
  field_option.Type("NAME").NotEmpty();
  const Option integers_flag = command.AddFlag("--integers", integers, "keys are decimal integers");
  const Option hex_flag =
      command.AddFlag("--hex", hex, "keys are bytes, written in hexadecimal such as MD5 and SHA-1");
  hex_flag.Excludes(integers_flag);
  const Option trim_flag =
      command.AddFlag("--trim", trim, "remove spaces and tabs at both ends of keys");
  const Option empty_option = command.Add(
      "--empty", empty, "whether an empty line or quoted field is a key (default: " + empty + ")");
  empty_option.OneOf({"keep", "skip"}).Type("WHAT").Excludes(integers_flag);
  const Option u64_flag = command.AddFlag("--u64", u64, "raw little-endian 64-bit integers");
  const Option as_is_flag =
      command.AddFlag("--as-is", as_is, "read files as they are: unpack none, and refuse none");
  const Option strict_flag =
      command.AddFlag("--strict", strict, "fail at the first line without a key");
  const Option max_bad_option =
      command.Add("--max-bad", max_bad, ParseMaxBad,
                  "bad lines to accept: 1%, 0.01 or a number (default: 1%, or one; raw: none)");
  max_bad_option.Type("P|N");
  csv_flag.Excludes(tsv_flag);
  for (const Option& option : {csv_flag, tsv_flag, separator_option}) option.Excludes(jsonl_flag);
  for (const Option& option : {csv_flag, tsv_flag, separator_option, column_option, header_flag,
                               jsonl_flag, integers_flag, hex_flag, trim_flag, empty_option}) {
    option.Excludes(u64_flag);
  }
  for (const Option& option :
       {csv_flag, tsv_flag, separator_option, column_option, header_flag, quotes_flag, lines_option,
        jsonl_flag, field_option, integers_flag, hex_flag, trim_flag, empty_option, u64_flag,
        as_is_flag, strict_flag, max_bad_option}) {
    option.Group("Types of keys");
  }
}

void InputOptions::Check() const {
  if (!reads_csv() && !tsv && (header || !column.empty())) {
    throw Error(ErrorCode::kInvalidArgument, "--column and --header need --csv or --tsv");
  }
  if (!reads_csv() && (no_quotes || quoted_lines != kQuotedLines)) {
    throw Error(ErrorCode::kInvalidArgument, "--no-quotes and --quoted-lines need --csv");
  }
  if (jsonl != !field.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                jsonl ? "--jsonl needs --field: the name of the field with the key"
                      : "--field needs --jsonl");
  }
  if (jsonl) MakeJsonField(field);
  ColumnNumber();
}

std::optional<uint64_t> InputOptions::ColumnNumber() const {
  if (column.empty()) return 1;
  if (column.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(column.data(), column.data() + column.size(), number);
  if (error != std::errc() || number < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                "--column: " + Quoted(column) + " is not a column: they count from 1 to 2^64 - 1");
  }
  return number;
}

bool InputOptions::Recognizes(const std::string& path) const {
  return !as_is && (!u64 || path.ends_with(".gz") || path.ends_with(".zst"));
}

std::optional<uint64_t> InputOptions::TotalBytes() const {
  uint64_t total = 0;
  bool known = true;
  bool standard_input = false;
  for (const std::string& path : paths) {
    if (path == "-") {
      if (std::exchange(standard_input, true)) continue;  // the first "-" reads all of it
      const std::optional<uint64_t> rest = StandardInputPlace().BytesLeft();
      known = known && rest;
      total += rest.value_or(0);
      continue;
    }
    const std::optional<os::FileStatus> status = os::StatusOf(path);
    if (!status || !os::IsReadable(path)) FailRead(path, errno);
    if (status->type == os::FileType::kFolder) FailRead(path, EISDIR);
    known =
        known && (status->type == os::FileType::kRegular || status->type == os::FileType::kNull);
    total += status->bytes;
  }
  return known ? std::optional(total) : std::nullopt;
}

StandardInputPlace::StandardInputPlace() {
  const std::optional<os::FileStatus> status = os::StatusOf(os::kStandardInput);
  if (!status) return;
  if (status->type == os::FileType::kNull) offset_ = 0;
  uint64_t offset = 0;
  if (status->type != os::FileType::kRegular || !os::GetPosition(os::kStandardInput, offset))
    return;
  offset_ = offset;
  bytes_left_ = status->bytes > offset ? status->bytes - offset : 0;
}

std::optional<uint64_t> StandardInputPlace::BytesLeft() const {
  return offset_ ? std::optional(bytes_left_) : std::nullopt;
}

void StandardInputPlace::Return() const {
  if (offset_ && !os::SetPosition(os::kStandardInput, *offset_))
    FailRead("(standard input)", errno);
}

}  // namespace tamis::tools
