#include "tests/redis/fake_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <utility>

namespace tamis::redis {
namespace {

// Removes the first command from the front of `bytes`. Returns false if the command is incomplete,
// or if the bytes are not a command, such as the random bytes of a TLS handshake. Does not validate
// the library's commands.
bool TakeCommand(std::string& bytes, FakeServer::Words& words) {
  words.clear();
  if (bytes.empty() || bytes[0] != '*') return false;
  size_t at = 0;
  const auto number = [&](size_t& value) {
    const size_t end = bytes.find("\r\n", at);
    if (end == std::string::npos) return false;
    value = std::stoull(bytes.substr(at + 1, end - at - 1));
    at = end + 2;
    return true;
  };
  size_t count = 0;
  if (!number(count)) return false;
  for (size_t i = 0; i < count; ++i) {
    size_t size = 0;
    if (!number(size) || bytes.size() < at + size + 2) return false;
    words.push_back(bytes.substr(at, size));
    at += size + 2;
  }
  bytes.erase(0, at);
  return true;
}

}  // namespace

FakeServer::FakeServer(Handler handler) : handler_(std::move(handler)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener_, 64) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("cannot listen");
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { Accept(); });
}

FakeServer::~FakeServer() {
  stop_ = true;
  acceptor_.join();
  for (std::thread& thread : threads_) thread.join();
  close(listener_);
}

void FakeServer::Accept() {
  while (!stop_) {
    pollfd poller = {listener_, POLLIN, 0};
    if (poll(&poller, 1, 20) <= 0) continue;
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    ++connections_;
    threads_.emplace_back([this, fd] { Serve(fd); });
  }
}

void FakeServer::Serve(int fd) {
  std::string bytes;
  Words words;
  bool open = true, begun = false;
  while (open && !stop_) {
    pollfd poller = {fd, POLLIN, 0};
    if (poll(&poller, 1, 20) <= 0) continue;
    char buffer[4096];
    const ssize_t got = recv(fd, buffer, sizeof(buffer), 0);
    if (got <= 0) break;
    bytes.append(buffer, static_cast<size_t>(got));
    while (open && TakeCommand(bytes, words)) {
      const std::optional<std::string> answer = handler_(words);
      if (!bytes.empty() || poll(&poller, 1, 0) > 0) ++early_;
      open = answer && Answer(fd, *answer);
    }
    if (!begun_.empty() && !begun && bytes.find("\r\n" + begun_ + "\r\n") != std::string::npos) {
      begun = true;
      const int before = let_go_;
      open = Answer(fd, answer_of_begun_);
      while (let_go_ == before && !stop_) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  close(fd);
}

bool FakeServer::Answer(int fd, const std::string& bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const size_t count =
        drip_bytes_ == 0 ? bytes.size() - at : std::min<size_t>(drip_bytes_, bytes.size() - at);
    const ssize_t sent = send(fd, bytes.data() + at, count, MSG_NOSIGNAL);
    if (sent <= 0 || stop_) return false;
    at += static_cast<size_t>(sent);
    if (drip_bytes_ != 0) std::this_thread::sleep_for(std::chrono::milliseconds(drip_ms_));
  }
  return true;
}

std::optional<std::string> AnswerOfSingle(const FakeServer::Words& words) {
  if (words[0] == "CLUSTER") return "-ERR This instance has cluster support disabled\r\n";
  return {};
}

std::string Bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

}  // namespace tamis::redis
