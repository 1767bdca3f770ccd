#include "tools/input/file_kind.h"

#include <algorithm>

namespace tamis::tools {
namespace {

using std::string_view_literals::operator""sv;

struct Magic {
  // The first bytes. '#' stands for a digit, '@' for a byte from 0x50 to 0x5F, and '!' for a
  // control character that text does not contain.
  std::string_view bytes;
  FileKind kind;
};

constexpr FileKind Unread(const char* what, const char* command, const char* advice = nullptr) {
  return {Packing::kNone, what, command, advice};
}

constexpr FileKind kGzip = {Packing::kGzip, "packed by gzip", "gzip -dc", nullptr};
constexpr FileKind kZstd = {Packing::kZstd, "packed by zstd", "zstd -dc", nullptr};
constexpr FileKind kZip =
    Unread("a zip file", "unzip -p", "if it is a spreadsheet, save it as CSV");
constexpr FileKind kUtf16Little = Unread("text in UTF-16", "iconv -f UTF-16LE -t UTF-8");
constexpr FileKind kUtf16Big = Unread("text in UTF-16", "iconv -f UTF-16BE -t UTF-8");
constexpr FileKind kTamis = Unread("a filter saved by tamis", nullptr,
                                   "give files with keys instead; `tamis merge` merges filters");
constexpr FileKind kText;

// The first match counts.
constexpr Magic kMagics[] = {
    {"\x1F\x8B"sv, kGzip},
    {"\x28\xB5\x2F\xFD"sv, kZstd},
    {"@*M\x18"sv, kZstd},  // a skippable frame, with which pzstd begins
    {"tamis\r\n\x1A"sv, kTamis},
    {"tamis\r\n\x07"sv, kTamis},  // an imported filter
    {"tamis\r\n\x17"sv, kTamis},  // a window
    {"PAR1!"sv, Unread("a Parquet file", nullptr,
                       "export the column with the keys, for example: duckdb -c \"COPY (SELECT id "
                       "FROM 'FILE') TO 'ids.csv'\"")},
    {"ARROW1\0\0"sv, Unread("an Arrow file", nullptr, "export the column with the keys as CSV")},
    {"SQLite format 3\0"sv,
     Unread("an SQLite database", nullptr,
            "export the column with the keys: sqlite3 -csv FILE 'SELECT id FROM ids'")},
    {"\xFD\x37zXZ\0"sv, Unread("packed by xz", "xz -dc")},
    {"BZh#1AY&SY"sv, Unread("packed by bzip2", "bzip2 -dc")},
    {"\x04\x22\x4D\x18"sv, Unread("packed by lz4", "lz4 -dc")},
    {"PK\x03\x04"sv, kZip},
    {"PK\x05\x06"sv, kZip},
    {"\xFF\xFE\0\0"sv, Unread("text in UTF-32", "iconv -f UTF-32 -t UTF-8")},
    {"\xFF\xFE"sv, Unread("text in UTF-16", "iconv -f UTF-16 -t UTF-8")},
    {"\xFE\xFF"sv, Unread("text in UTF-16", "iconv -f UTF-16 -t UTF-8")},
};

bool Fits(char pattern, char c) {
  switch (pattern) {
    case '#':
      return c >= '0' && c <= '9';
    case '@':
      return c >= '\x50' && c <= '\x5F';
    case '!':
      return c >= '\0' && c < ' ' && c != '\t' && c != '\n' && c != '\r';
    default:
      return c == pattern;
  }
}

// Returns whether in each pair of bytes only the byte at `place` is NUL, as in UTF-16.
bool HasNulsAt(std::string_view text, size_t place) {
  for (size_t i = 0; i < text.size(); ++i) {
    if ((text[i] == '\0') != (i % 2 == place)) return false;
  }
  return true;
}

// Like RecognizeFile, for UTF-16 without a byte order mark.
std::optional<FileKind> RecognizeUtf16(std::string_view text, bool last) {
  constexpr size_t kLeast = 4, kMost = 4096;
  text = text.substr(0, kMost);
  const bool little = HasNulsAt(text, 1);
  if (!little && !HasNulsAt(text, 0)) return kText;
  if (text.size() < kLeast) return last ? std::optional(kText) : std::nullopt;
  return little ? kUtf16Little : kUtf16Big;
}

}  // namespace

const FileKind kBinary =
    Unread("binary, with a NUL byte", nullptr, "if it contains raw 64-bit integers, give --u64");

std::string FileKind::Refusal(const std::string& name) const {
  std::string text = name + " is " + what + ", which tamis does not read: ";
  if (command != nullptr) text += std::string("`") + command + " FILE | tamis ...`";
  if (command != nullptr && advice != nullptr) text += "; ";
  if (advice != nullptr) text += advice;
  return text + ". To read the bytes as they are, give --as-is";
}

std::optional<FileKind> RecognizeFile(std::string_view text, bool last) {
  for (const Magic& magic : kMagics) {
    const auto differs =
        std::mismatch(magic.bytes.begin(), magic.bytes.end(), text.begin(), text.end(), Fits);
    if (differs.first == magic.bytes.end()) return magic.kind;
    if (differs.second == text.end() && !last) return std::nullopt;
  }
  return RecognizeUtf16(text, last);
}

}  // namespace tamis::tools
