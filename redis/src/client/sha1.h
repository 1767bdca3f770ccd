// SHA-1, by which servers name the scripts that they have.
#ifndef TAMIS_REDIS_SRC_CLIENT_SHA1_H_
#define TAMIS_REDIS_SRC_CLIENT_SHA1_H_

#include <string>
#include <string_view>

namespace tamis::redis {

// 40 hexadecimal digits.
std::string Sha1Text(std::string_view bytes);

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_SHA1_H_
