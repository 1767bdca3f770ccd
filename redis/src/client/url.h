// URLs of Redis servers.
#ifndef TAMIS_REDIS_SRC_CLIENT_URL_H_
#define TAMIS_REDIS_SRC_CLIENT_URL_H_

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace tamis::redis {

// A node: the host as connecting takes it, so that IPv6 addresses have no brackets.
struct Address {
  std::string host;
  uint16_t port = 6379;

  friend auto operator<=>(const Address&, const Address&) = default;
};

// "host:port", and "[host]:port" of an IPv6 address.
std::string AddressText(const Address& address);

struct Url {
  Address address;
  bool tls = false;
  std::string user;      // empty: the default user
  std::string password;  // empty: none
  uint32_t database = 0;
};

// As ServerOptions::url says. Throws Error(kInvalidArgument), which does not show what may be a
// password.
Url ParseUrl(std::string_view text);

// Decimal digits and nothing else, without leading zeros: the one text of each number. False, with
// `value` unchanged, for any other text and for values above `max`.
bool ParseDecimal(std::string_view text, uint64_t max, uint64_t& value);

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_URL_H_
