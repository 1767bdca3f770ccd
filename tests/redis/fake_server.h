// A server whose answers are chosen by a test.
#ifndef TAMIS_TESTS_REDIS_FAKE_SERVER_H_
#define TAMIS_TESTS_REDIS_FAKE_SERVER_H_

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tamis::redis {

class FakeServer {
 public:
  using Words = std::vector<std::string>;
  // Returns the bytes of the answer to a command, or nothing to close the connection. Called by
  // many threads.
  using Handler = std::function<std::optional<std::string>(const Words&)>;

  explicit FakeServer(Handler handler);
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;
  ~FakeServer();

  int port() const { return port_; }
  std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }
  int connections() const { return connections_; }
  // Number of commands that arrived before the previous command of their connection was answered.
  int early() const { return early_; }
  // Sends answers `bytes` bytes at a time, with this pause between; 0: at once.
  void Drip(size_t bytes, int pause_ms) {
    drip_bytes_ = bytes;
    drip_ms_ = pause_ms;
  }
  // When a part of a command with this word has arrived, the server sends `answer`, and reads
  // nothing more from this connection until LetGo. Must be called before a client connects.
  void AnswerBegun(std::string word, std::string answer) {
    begun_ = std::move(word);
    answer_of_begun_ = std::move(answer);
  }
  void LetGo() { ++let_go_; }

 private:
  void Accept();
  void Serve(int fd);
  bool Answer(int fd, const std::string& bytes);

  Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stop_ = false;
  std::atomic<int> connections_ = 0;
  std::atomic<int> early_ = 0;
  std::atomic<size_t> drip_bytes_ = 0;
  std::atomic<int> drip_ms_ = 0;
  std::string begun_;
  std::string answer_of_begun_;
  std::atomic<int> let_go_ = 0;
  std::mutex mutex_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

// The answer of a server without cluster mode, if the command asks for its slots.
std::optional<std::string> AnswerOfSingle(const FakeServer::Words& words);
// Returns the string as the protocol sends it.
std::string Bulk(const std::string& text);

}  // namespace tamis::redis

#endif  // TAMIS_TESTS_REDIS_FAKE_SERVER_H_
