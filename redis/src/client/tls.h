// TLS, if hiredis supports it.
#ifndef TAMIS_REDIS_SRC_CLIENT_TLS_H_
#define TAMIS_REDIS_SRC_CLIENT_TLS_H_

#include <memory>
#include <string>

struct redisContext;

namespace tamis::redis {

class Tls {
 public:
  // Throws Error(kUnsupported) if this library was built with a hiredis without TLS,
  // Error(kInvalidArgument) if the certificates cannot be read, and Error(kUnavailable) if OpenSSL
  // cannot be used.
  static std::shared_ptr<Tls> Make(const std::string& ca_file);

  // The TLS side of a connection. Lives as long as its context.
  using Session = void;

  virtual ~Tls() = default;
  // Begins TLS on a connection to `host`. Returns nullptr if that failed.
  virtual Session* Start(redisContext* context, const std::string& host) = 0;
  // Returns whether the handshake is complete. Data comes from the server only after that.
  virtual bool IsBegun(const Session* session) const = 0;
  // Returns why the certificate of the server is not trusted, which is final; nullptr if it is
  // trusted or has not arrived.
  virtual const char* WhyUntrusted(const Session* session) const = 0;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_TLS_H_
