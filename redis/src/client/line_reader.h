// Reads texts from servers. Each line is a name, a space and a value.
#ifndef TAMIS_REDIS_SRC_CLIENT_LINE_READER_H_
#define TAMIS_REDIS_SRC_CLIENT_LINE_READER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace tamis::redis {

// Reads the lines in a fixed order. Functions throw Error(kCorrupt), which names the line, if a
// line is not as expected.
class LineReader {
 public:
  // `what` describes the text in errors.
  LineReader(std::string what, std::string_view text) : what_(std::move(what)), rest_(text) {}

  std::string_view Value(std::string_view name);
  uint64_t Number(std::string_view name, uint64_t min, uint64_t max);
  // Reads 16 hexadecimal digits.
  uint64_t Hex(std::string_view name);
  void End();

  [[noreturn]] void Refuse(const std::string& why) const;

 private:
  std::string what_;
  std::string_view rest_;
  int line_ = 0;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_LINE_READER_H_
