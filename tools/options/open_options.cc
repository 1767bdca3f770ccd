#include "tools/options/open_options.h"

#include <filesystem>
#include <system_error>

namespace tamis::tools {

const char kVerifyHelp[] =
    "A mapped file is verified as a whole if its size is at most 256 MiB, or at most 16 times\n"
    "the size of the inputs, if these are files. Otherwise only the parts that queries touch are\n"
    "read. Damage to these parts is found only with --verify.\n";

void OpenOptions::AddTo(const CommandLine& command) {
  const Option with_map = command.AddFlag("--map", map, "map the file (default)");
  const Option without_map =
      command.AddFlag("--no-map", no_map, "load and verify the whole file: faster for many keys");
  const Option with_verify = command.AddFlag("--verify", verify, "verify all of a mapped file");
  const Option without_verify =
      command.AddFlag("--no-verify", no_verify, "verify only the header of a mapped file");
  without_map.Excludes(with_map).Excludes(without_verify);
  with_verify.Excludes(without_verify);
}

// Verifying a byte of the filter takes about a thirtieth of the time of querying a byte of input.
// So a verification under these limits is short, or adds at most about half to the query time.
bool OpenOptions::Verifies(const std::string& path, std::optional<uint64_t> input_bytes) const {
  constexpr uint64_t kSoonDone = uint64_t{256} << 20;
  constexpr uint64_t kPerInputByte = 16;
  if (verify || no_verify) return verify;
  std::error_code error;  // opening the file reports it
  const uint64_t bytes = std::filesystem::file_size(path, error);
  return !error && (bytes <= kSoonDone || bytes / kPerInputByte <= input_bytes.value_or(0));
}

}  // namespace tamis::tools
