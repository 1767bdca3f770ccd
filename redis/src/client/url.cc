#include "redis/src/client/url.h"

#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis::redis {
namespace {

// Enough for every host name, which has at most 253 bytes (RFC 1035).
constexpr size_t kMaxUrlHost = 255;
constexpr size_t kMaxUrl = 4096;

[[noreturn]] void RefuseUrl(const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument,
              "the URL of a Redis server " + what +
                  "; it has the form redis://[[user][:password]@]host[:port][/database]");
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string Decode(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
    if (high < 0 || low < 0) RefuseUrl("has a % that is not followed by two hexadecimal digits");
    decoded += static_cast<char>(16 * high + low);
    i += 2;
  }
  return decoded;
}

// Cuts `text` at the first `mark`, and writes the text after it to `rest`. Returns false if `mark`
// does not occur.
bool CutAt(std::string_view& text, char mark, std::string_view& rest) {
  const size_t at = text.find(mark);
  if (at == std::string_view::npos) return false;
  rest = text.substr(at + 1);
  text = text.substr(0, at);
  return true;
}

bool IsHostCharacter(char c, bool bracketed) {
  const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     c == '.' || c == '-' || c == '_';
  return plain || (bracketed && (c == ':' || c == '%'));
}

void ParseHost(std::string_view text, bool bracketed, Address& address) {
  if (text.empty()) RefuseUrl("has no host");
  if (text.size() > kMaxUrlHost) RefuseUrl("has a host of more than 255 characters");
  for (const char c : text) {
    if (!IsHostCharacter(c, bracketed)) RefuseUrl("has an invalid character in its host");
  }
  address.host = text;
}

void ParseHostAndPort(std::string_view text, Address& address) {
  std::string_view port;
  bool has_port = false;
  if (!text.empty() && text.front() == '[') {
    text.remove_prefix(1);
    std::string_view rest;
    if (!CutAt(text, ']', rest)) RefuseUrl("has a [ without a ]");
    if (!rest.empty() && rest.front() != ':')
      RefuseUrl("has extra characters between ] and its port");
    has_port = !rest.empty();
    if (has_port) port = rest.substr(1);
    ParseHost(text, /*bracketed=*/true, address);
  } else {
    has_port = CutAt(text, ':', port);
    ParseHost(text, /*bracketed=*/false, address);
  }
  if (!has_port) return;
  uint64_t number = 0;
  if (!ParseDecimal(port, 65535, number) || number == 0) {
    RefuseUrl("has a port that is not in [1, 65535]");
  }
  address.port = static_cast<uint16_t>(number);
}

}  // namespace

std::string AddressText(const Address& address) {
  const bool brackets = address.host.find(':') != std::string::npos;
  return detail::StrCat(brackets ? "[" + address.host + "]" : address.host, ":", address.port);
}

bool ParseDecimal(std::string_view text, uint64_t max, uint64_t& value) {
  if (text.empty() || text.size() > 20 || (text.size() > 1 && text.front() == '0')) return false;
  uint64_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    const auto digit = static_cast<uint64_t>(c - '0');
    if (number > (max - digit) / 10 || digit > max) return false;
    number = 10 * number + digit;
  }
  value = number;
  return true;
}

Url ParseUrl(std::string_view text) {
  if (text.size() > kMaxUrl) RefuseUrl("is longer than 4096 bytes");
  Url url;
  if (text.starts_with("redis://")) {
    text.remove_prefix(8);
  } else if (text.starts_with("rediss://")) {
    text.remove_prefix(9);
    url.tls = true;
  } else {
    RefuseUrl("does not begin with redis:// or rediss://");
  }
  // Takes the last @, because an unencoded password may contain @ and a host cannot.
  if (const size_t at = text.rfind('@'); at != std::string_view::npos) {
    std::string_view user = text.substr(0, at);
    std::string_view password;
    const bool has_password = CutAt(user, ':', password);
    url.user = Decode(user);
    url.password = Decode(password);
    if (has_password && url.password.empty()) RefuseUrl("has a user with an empty password");
    if (!has_password && url.user.empty()) RefuseUrl("has an @ without a user");
    text.remove_prefix(at + 1);
  }
  std::string_view database;
  if (CutAt(text, '/', database) && !database.empty()) {
    uint64_t number = 0;
    if (!ParseDecimal(database, 0x7FFFFFFF, number))
      RefuseUrl("has a database that is not a number");
    url.database = static_cast<uint32_t>(number);
  }
  ParseHostAndPort(text, url.address);
  return url;
}

}  // namespace tamis::redis
