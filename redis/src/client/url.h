// URLs of Redis servers.
#ifndef TAMIS_REDIS_SRC_CLIENT_URL_H_
#define TAMIS_REDIS_SRC_CLIENT_URL_H_

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace tamis::redis {

// The address of a node. IPv6 addresses have no brackets.
struct Address {
  std::string host;
  uint16_t port = 6379;

  friend auto operator<=>(const Address&, const Address&) = default;
};

// Returns "host:port", or "[host]:port" for an IPv6 address.
std::string AddressText(const Address& address);

struct Url {
  Address address;
  bool tls = false;
  std::string user;      // empty: the default user
  std::string password;  // empty: none
  uint32_t database = 0;
};

// Parses a URL in the form of ServerOptions::url. Throws Error(kInvalidArgument). The text of the
// error contains no part of the URL, because that part may be a password.
Url ParseUrl(std::string_view text);

// Parses decimal digits without leading zeros, so each number has one text. Returns false and
// leaves `value` unchanged for any other text and for numbers above `max`.
bool ParseDecimal(std::string_view text, uint64_t max, uint64_t& value);

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_URL_H_
