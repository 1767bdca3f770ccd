#include "tools/input/count_keys.h"

#include <algorithm>
#include <string>

#include "tools/input/key_reader.h"
#include "tools/output/console.h"
#include "tools/output/format.h"
#include "tools/output/progress.h"

namespace tamis::tools {
namespace {

uint64_t Count(const InputOptions& input, uint64_t total_bytes, bool quiet) {
  if (input.u64 && std::none_of(input.paths.begin(), input.paths.end(),
                                [&](const std::string& path) { return input.Recognizes(path); })) {
    input.Check();
    return total_bytes / sizeof(uint64_t);
  }
  const StandardInputPlace begin;
  Progress progress("counting", Progress::Unit::kBytes, total_bytes, quiet);
  KeyReader reader(input, {.report_bad = false});
  KeyBatch batch;
  uint64_t keys = 0;
  for (uint64_t before = 0; reader.Next(batch); before = reader.bytes_read()) {
    keys += batch.size();
    progress.Advance(reader.bytes_read() - before);
  }
  begin.Return();
  return keys;
}

}  // namespace

uint64_t CountKeys(const InputOptions& input, uint64_t total_bytes, bool quiet) {
  const uint64_t keys = Count(input, total_bytes, quiet);
  if (!quiet) Say("no --capacity given: counted " + Counted(keys, "key") + " first");
  return keys;
}

}  // namespace tamis::tools
