// TLS, where hiredis has it.
#ifndef TAMIS_REDIS_SRC_CLIENT_TLS_H_
#define TAMIS_REDIS_SRC_CLIENT_TLS_H_

#include <memory>
#include <string>

struct redisContext;

namespace tamis::redis {

class Tls {
 public:
  // Throws Error(kUnsupported) if this library was built with a hiredis that has no TLS, and
  // Error(kInvalidArgument) if the certificates cannot be read.
  static std::shared_ptr<Tls> Make(const std::string& ca_file);

  // What a connection with TLS is here, as long as its context lives.
  using Session = void;

  virtual ~Tls() = default;
  // Turns a connection to `host` into one with TLS. nullptr if that failed.
  virtual Session* Start(redisContext* context, const std::string& host) = 0;
  // Whether the two have greeted each other, so that what comes is the server's.
  virtual bool IsBegun(const Session* session) const = 0;
  // Why the server's certificate is not trusted, which no second try changes; nullptr if it is, or
  // has not come.
  virtual const char* WhyUntrusted(const Session* session) const = 0;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_TLS_H_
