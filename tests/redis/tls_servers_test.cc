// Servers that speak TLS, with a certificate for "localhost" that the test makes.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tamis/error.h"
#include "tamis/redis/split_block_filter.h"
#include "tests/redis/servers.h"

namespace tamis::redis::tls_servers_test {

int FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  EXPECT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), bytes), 0);
  EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &bytes), 0);
  close(fd);
  return ntohs(address.sin_port);
}

// Makes a key and a self-signed certificate in files of this name.
bool MakeCertificate(const std::string& path) {
  const std::string command =
      "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext "
      "subjectAltName=DNS:localhost -keyout " +
      path + ".key -out " + path + ".crt 2>/dev/null";
  return std::system(command.c_str()) == 0;
}

std::string WhyRefused(const ServerOptions& options) {
  try {
    SplitBlockFilter::Create(options, NewName(), {{.capacity = 1'000}});
    return "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnavailable) << error.what();
    return error.what();
  }
}

TEST(RedisTlsTest, ServersAreTrustedByCertificateAndName) {
  if (!TAMIS_REDIS_TLS) GTEST_SKIP() << "this hiredis has no TLS";
  if (std::system("ldd \"$(command -v redis-server)\" 2>/dev/null | grep -q libssl") != 0) {
    GTEST_SKIP() << "there is no redis-server with TLS";
  }
  const std::string path = testing::TempDir() + "tamis_tls_" + NewName();
  ASSERT_TRUE(MakeCertificate(path)) << "the openssl command is needed";
  const std::string port = std::to_string(FreePort());
  Servers servers("single",
                  {"--tls-port", port, "--tls-cert-file", path + ".crt", "--tls-key-file",
                   path + ".key", "--tls-ca-cert-file", path + ".crt", "--tls-auth-clients", "no"});
  TAMIS_NEED(servers);

  ServerOptions options;
  options.url = "rediss://localhost:" + port;
  options.ca_file = path + ".crt";
  const std::string name = NewName();
  SplitBlockFilter filter = SplitBlockFilter::Create(options, name, {{.capacity = 100'000}});
  for (const Route route : {Route::kBlocks, Route::kSegments}) {
    SplitBlockFilter open = SplitBlockFilter::Open(options, name, {.route = route});
    const std::string key = "by route " + std::to_string(static_cast<int>(route));
    EXPECT_FALSE(open.Contains(key));
    open.Insert(key);
    EXPECT_TRUE(filter.Contains(key));
  }
  // The same filter through the server's other port.
  EXPECT_TRUE(SplitBlockFilter::Open(servers.options(), name).Contains("by route 0"));
  filter.Drop();

  ServerOptions untrusted = options;
  untrusted.ca_file.clear();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_NE(WhyRefused(untrusted).find("certificate is not trusted: self"), std::string::npos)
      << WhyRefused(untrusted);
  ServerOptions other_name = options;
  other_name.url = "rediss://127.0.0.1:" + port;
  EXPECT_NE(WhyRefused(other_name).find("certificate is not trusted: IP address mismatch"),
            std::string::npos)
      << WhyRefused(other_name);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, options.retry_for) << "as tried again";
  ServerOptions without = options;
  without.url = "redis://localhost:" + port;
  without.retry_for = std::chrono::seconds(1);
  EXPECT_NE(WhyRefused(without), "taken");
  ServerOptions no_file = options;
  no_file.ca_file = path + ".nowhere";
  try {
    SplitBlockFilter::Open(no_file, name);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
  }
  std::filesystem::remove(path + ".crt");
  std::filesystem::remove(path + ".key");
}

}  // namespace tamis::redis::tls_servers_test
