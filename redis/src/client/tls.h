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

  // The TLS state of a connection. The redisContext of the connection owns it.
  using Session = void;

  virtual ~Tls() = default;
  // Begins TLS on a connection to `host`. Returns nullptr if that failed.
  virtual Session* Start(redisContext* context, const std::string& host) = 0;
  // Returns whether the handshake is complete. Before that, the server sends no data.
  virtual bool IsBegun(const Session* session) const = 0;
  // Returns the reason why the certificate of the server is not trusted, so that connecting again
  // is useless. Returns nullptr if the certificate is trusted or has not arrived.
  virtual const char* WhyUntrusted(const Session* session) const = 0;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_TLS_H_
