#include "tools/options/secret.h"

#include <tamis/error.h>

#include <charconv>
#include <filesystem>
#include <string_view>

#include "tools/input/input_file.h"

namespace tamis::tools {
namespace {

constexpr size_t kDigits = 2 * sizeof(HashSecret);

std::optional<HashSecret> Parse(std::string_view text) {
  constexpr std::string_view kBlanksOfLine = " \t\r\n";
  while (!text.empty() && kBlanksOfLine.find(text.back()) != std::string_view::npos) {
    text.remove_suffix(1);
  }
  while (!text.empty() && kBlanksOfLine.find(text.front()) != std::string_view::npos) {
    text.remove_prefix(1);
  }
  if (text.size() != kDigits) return std::nullopt;
  HashSecret secret{};
  for (size_t byte = 0; byte < sizeof(secret); ++byte) {
    const char* const digits = text.data() + 2 * byte;
    uint8_t value = 0;
    if (std::from_chars(digits, digits + 2, value, 16).ptr != digits + 2) return std::nullopt;
    (byte < 8 ? secret.low : secret.high) |= uint64_t{value} << (8 * (byte % 8));
  }
  return secret;
}

}  // namespace

void SecretOptions::AddTo(const CommandLine& command) {
  command.Add("--secret", path, "file with the secret of a keyed hash: a line of 32 hex digits")
      .Type("FILE");
}

std::vector<std::string> SecretOptions::And(std::vector<std::string> paths) const {
  if (!path.empty()) paths.push_back(path);
  return paths;
}

std::optional<HashSecret> SecretOptions::Read() const {
  if (path.empty()) return std::nullopt;
  if (path == "-") {
    throw Error(ErrorCode::kInvalidArgument, "--secret: give a file; standard input is for keys");
  }
  if (Parse(path) && !std::filesystem::exists(path)) {
    throw Error(ErrorCode::kInvalidArgument,
                "--secret: this looks like a secret itself, which others can see in a command; "
                "give the name of a file that contains it");
  }
  InputFile file(path);
  constexpr size_t kEnough = 4096;  // enough for the secret and blanks around it
  while (!file.last() && file.text().size() <= kEnough) file.Fill();
  const std::optional<HashSecret> secret = Parse(file.text());
  if (!secret) {
    throw Error(ErrorCode::kInvalidArgument,
                file.name() + ": not a secret; a secret is 32 hexadecimal digits on a single line");
  }
  return secret;
}

}  // namespace tamis::tools
