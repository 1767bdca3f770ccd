#include "redis/src/client/tls.h"

#include <hiredis/hiredis.h>
#if TAMIS_REDIS_TLS
#include <hiredis/hiredis_ssl.h>
#include <openssl/ssl.h>
#endif

#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis::redis {

#if TAMIS_REDIS_TLS
namespace {

// Uses OpenSSL directly, because hiredis before 1.1 does not verify host names.
class OpenSslTls final : public Tls {
 public:
  explicit OpenSslTls(const std::string& ca_file)
      : context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free) {
    if (context_ == nullptr) throw Error(ErrorCode::kUnavailable, "OpenSSL cannot be used");
    SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION);
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    const int loaded =
        ca_file.empty() ? SSL_CTX_set_default_verify_paths(context_.get())
                        : SSL_CTX_load_verify_locations(context_.get(), ca_file.c_str(), nullptr);
    if (loaded != 1) {
      throw Error(ErrorCode::kInvalidArgument, "the certificates of TLS cannot be read from " +
                                                   (ca_file.empty() ? "the system" : ca_file));
    }
  }

  Session* Start(redisContext* context, const std::string& host) override {
    SSL* const ssl = SSL_new(context_.get());
    if (ssl == nullptr) return nullptr;
    // Accepts only a certificate for this name or address.
    X509_VERIFY_PARAM* const param = SSL_get0_param(ssl);
    if (X509_VERIFY_PARAM_set1_ip_asc(param, host.c_str()) != 1 &&
        (SSL_set1_host(ssl, host.c_str()) != 1 ||
         SSL_set_tlsext_host_name(ssl, host.c_str()) != 1)) {
      SSL_free(ssl);
      return nullptr;
    }
    // redisInitiateSSL takes ownership of `ssl`, even if it fails.
    return redisInitiateSSL(context, ssl) == REDIS_OK ? ssl : nullptr;
  }

  bool IsBegun(const Session* session) const override {
    return SSL_is_init_finished(static_cast<const SSL*>(session)) == 1;
  }

  const char* WhyUntrusted(const Session* session) const override {
    const long result = SSL_get_verify_result(static_cast<const SSL*>(session));
    return result == X509_V_OK ? nullptr : X509_verify_cert_error_string(result);
  }

 private:
  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context_;
};

}  // namespace

std::shared_ptr<Tls> Tls::Make(const std::string& ca_file) {
  return std::make_shared<OpenSslTls>(ca_file);
}
#else
std::shared_ptr<Tls> Tls::Make(const std::string&) {
  throw Error(ErrorCode::kUnsupported,
              detail::StrCat(
                  "rediss:// requires TLS, but this library was built with a hiredis without TLS (",
                  HIREDIS_MAJOR, ".", HIREDIS_MINOR, "; TLS requires 1.0 or newer)"));
}
#endif

}  // namespace tamis::redis
