#include "tools/input/key_list_file.h"

#include <tamis/error.h>

#include "tools/input/key_reader.h"
#include "tools/options/parse.h"

namespace tamis::tools {

void KeyListOptions::AddTo(const CommandLine& command) {
  command.Add("--keys", path, "file with keys, by default one per line; - is standard input")
      .Type("LIST")
      .Required()
      .NotEmpty();
  const Option csv =
      command.AddFlag("--csv", input.csv, "comma-separated records, quoted as in RFC 4180");
  const Option tsv = command.AddFlag("--tsv", input.tsv, "tab-separated records, without quotes");
  const Option separator = command.Add("--separator", input.separator, ParseSeparator,
                                       "separator of the fields of CSV (means --csv)");
  separator.Type("C").Excludes(tsv);
  const Option column =
      command.Add("--key-column", input.column,
                  "column of the key: number from 1 (default), or name (in Parquet its path)");
  column.Type("N|NAME");
  const Option header =
      command.AddFlag("--header", input.header, "the list begins with a record of names");
  const Option jsonl = command.AddFlag(
      "--jsonl", input.jsonl, "each line is a JSON text; the key is its field --key-field");
  const Option field =
      command.Add("--key-field", input.field,
                  "field of the key: name in the outermost object, or JSON Pointer /a/b");
  field.Type("NAME").NotEmpty();
  const Option hex = command.AddFlag(
      "--hex", input.hex, "keys are bytes, written in hexadecimal such as MD5 and SHA-1");
  const Option trim =
      command.AddFlag("--trim", input.trim, "remove spaces and tabs at both ends of keys");
  const Option u64 =
      command.AddFlag("--u64", input.u64, "raw little-endian 64-bit integers without a sign");
  const Option from_parquet = command.AddFlag(
      "--parquet", parquet, "the list is a column of another Parquet file (needs Arrow)");
  csv.Excludes(tsv);
  for (const Option& option : {csv, tsv, separator, column}) option.Excludes(jsonl);
  for (const Option& option : {csv, tsv, separator, header, jsonl, hex, trim, u64}) {
    option.Excludes(from_parquet);
  }
  for (const Option& option : {csv, tsv, separator, column, header, jsonl, hex, trim}) {
    option.Excludes(u64);
  }
  for (const Option& option :
       {csv, tsv, separator, column, header, jsonl, field, hex, trim, u64, from_parquet}) {
    option.Group("Types of keys");
  }
}

KeyListFile ReadKeyList(const KeyListOptions& options) {
  InputOptions input = options.input;
  input.paths = {options.path};
  if (!input.reads_csv() && !input.tsv && (input.header || !input.column.empty())) {
    throw Error(ErrorCode::kInvalidArgument, "--key-column and --header need --csv or --tsv");
  }
  if (input.jsonl != !input.field.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "--jsonl and --key-field need each other");
  }
  input.Check();
  KeyReader reader(input, {});
  KeyListFile list;
  list.are_integers = options.input.u64;
  std::vector<size_t> ends;
  KeyBatch batch;
  while (reader.Next(batch)) {
    list.integers.insert(list.integers.end(), batch.integers.begin(), batch.integers.end());
    for (const std::string_view key : batch.strings) {
      list.text.insert(list.text.end(), key.begin(), key.end());
      ends.push_back(list.text.size());
    }
  }
  reader.Conclude("", /*some_key=*/true);
  size_t begin = 0;
  list.strings.reserve(ends.size());
  for (const size_t end : ends) {
    list.strings.emplace_back(list.text.data() + begin, end - begin);
    begin = end;
  }
  return list;
}

}  // namespace tamis::tools
