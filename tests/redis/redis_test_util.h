// Shared helpers for tests of tamis::redis.
#ifndef TAMIS_TESTS_REDIS_REDIS_TEST_UTIL_H_
#define TAMIS_TESTS_REDIS_REDIS_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <string>

#include "tamis/error.h"

namespace tamis::redis {

// Expects that `act` throws an Error with this code, and with `words` in its text.
template <typename Act>
void ExpectError(const Act& act, ErrorCode code, const std::string& words) {
  try {
    act();
    ADD_FAILURE() << "nothing was thrown; expected: " << words;
  } catch (const Error& error) {
    EXPECT_STREQ(ErrorCodeName(error.code()), ErrorCodeName(code)) << error.what();
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

}  // namespace tamis::redis

#endif  // TAMIS_TESTS_REDIS_REDIS_TEST_UTIL_H_
