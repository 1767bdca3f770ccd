// SHA-1: servers identify scripts by it.
#ifndef TAMIS_REDIS_SRC_CLIENT_SHA1_H_
#define TAMIS_REDIS_SRC_CLIENT_SHA1_H_

#include <string>
#include <string_view>

namespace tamis::redis {

// Returns the hash as 40 hexadecimal digits in lower case.
std::string Sha1Text(std::string_view bytes);

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_SHA1_H_
