#include "tools/secret.h"

#include <tamis/error.h>

#include <algorithm>
#include <string_view>

#include "tools/input_file.h"

namespace tamis::tools {
namespace {

constexpr size_t kDigits = 2 * sizeof(HashSecret);

// -1 if it is none.
int DigitValue(char digit) {
  constexpr std::string_view kLower = "0123456789abcdef", kUpper = "0123456789ABCDEF";
  const size_t found = std::min(kLower.find(digit), kUpper.find(digit));
  return found == std::string_view::npos ? -1 : static_cast<int>(found);
}

std::optional<HashSecret> Parse(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  while (!text.empty() && kBlanks.find(text.back()) != std::string_view::npos) {
    text.remove_suffix(1);
  }
  while (!text.empty() && kBlanks.find(text.front()) != std::string_view::npos) {
    text.remove_prefix(1);
  }
  if (text.size() != kDigits) return std::nullopt;
  HashSecret secret{};
  for (size_t i = 0; i < kDigits; ++i) {
    const int value = DigitValue(text[i]);
    if (value < 0) return std::nullopt;
    // Byte b is bits [8 (b mod 8), 8 (b mod 8) + 8) of its half; its first digit the upper four.
    const size_t byte = i / 2;
    const int shift = static_cast<int>(8 * (byte % 8)) + (i % 2 == 0 ? 4 : 0);
    (byte < 8 ? secret.low : secret.high) |= static_cast<uint64_t>(value) << shift;
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
  InputFile file(path);
  constexpr size_t kEnough = 4096;  // for it and blanks around it
  while (!file.last() && file.text().size() <= kEnough) file.Fill();
  const std::optional<HashSecret> secret = Parse(file.text());
  if (!secret) {
    throw Error(ErrorCode::kInvalidArgument,
                file.name() + ": not a secret; it is 32 hexadecimal digits on the only line");
  }
  return secret;
}

}  // namespace tamis::tools
