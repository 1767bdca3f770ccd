// Sets environment variables for the duration of a test.
#ifndef TAMIS_TESTS_CORE_SCOPED_ENV_H_
#define TAMIS_TESTS_CORE_SCOPED_ENV_H_

#include <cstdlib>
#include <optional>
#include <string>

#include "tests/os/test_os.h"

namespace tamis {

class ScopedEnv {
 public:
  // If `value` is nullptr, the variable is not set.
  ScopedEnv(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    Set(value);
  }
  ScopedEnv(const ScopedEnv&) = delete;
  ScopedEnv& operator=(const ScopedEnv&) = delete;
  ~ScopedEnv() { Set(old_ ? old_->c_str() : nullptr); }

  void Set(const char* value) { test_os::SetEnvironment(name_, value); }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

}  // namespace tamis

#endif  // TAMIS_TESTS_CORE_SCOPED_ENV_H_
