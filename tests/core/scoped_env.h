// Sets environment variables for the duration of a test.
#ifndef TAMIS_TESTS_CORE_SCOPED_ENV_H_
#define TAMIS_TESTS_CORE_SCOPED_ENV_H_

#include <cstdlib>
#include <optional>
#include <string>

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

  void Set(const char* value) {
    if (value != nullptr) {
      setenv(name_, value, 1);
    } else {
      unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

}  // namespace tamis

#endif  // TAMIS_TESTS_CORE_SCOPED_ENV_H_
