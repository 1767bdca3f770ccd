// The standard streams. Results go to standard output, everything else to standard error.
#ifndef TAMIS_TOOLS_OUTPUT_CONSOLE_H_
#define TAMIS_TOOLS_OUTPUT_CONSOLE_H_

#include <string>
#include <string_view>

namespace tamis::tools {

// Opens what is closed of the descriptors 0, 1 and 2, in a way that makes their use fail: without
// this the next file to be opened would take the place of, say, standard output, and be written to.
void ReserveStandardStreams();

// Prints "tamis: `message`" on standard error, clear of a progress bar. Control characters, as
// names of files may have, are shown and not sent.
void Say(std::string_view message) noexcept;

// Thrown when the reader of standard output has gone, which is its right and no error of ours:
// the command ends without a message.
struct OutputClosed {};

// A buffered stream that does not lose errors: Write and Close throw Error(kIo), or OutputClosed
// where standard output is a pipe that nobody reads.
class Output {
 public:
  // Standard output.
  Output();
  // A file, in place of any that has this name: the contents of that stay until the first bytes are
  // handed on, so that a job which fails before does no harm. One that fails later, and so does not
  // Close, leaves no part of a result: a new file goes, an old one is empty.
  explicit Output(const std::string& path);
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output();

  void Write(std::string_view text);
  // Hands on what is buffered.
  void Flush();
  // Flushes, and learns of errors that are only reported now. To be called before destruction; what
  // has been written since the last Flush is lost otherwise.
  void Close();

 private:
  [[noreturn]] void Fail(int error) const;
  void WriteAll(std::string_view text);

  int fd_;
  bool is_new_ = false;
  bool is_regular_ = false;
  bool has_old_contents_ = false;
  std::string name_;
  std::string buffer_;
};

// Writes a report to standard output.
void Print(std::string_view text);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_OUTPUT_CONSOLE_H_
