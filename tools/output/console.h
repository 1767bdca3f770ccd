// The standard streams. Results go to standard output, everything else to standard error.
#ifndef TAMIS_TOOLS_OUTPUT_CONSOLE_H_
#define TAMIS_TOOLS_OUTPUT_CONSOLE_H_

#include <atomic>
#include <string>
#include <string_view>

namespace tamis::tools {

// Prints "tamis: `message`" on standard error, after erasing a progress bar. Control characters, as
// in names of files, are printed as \xNN.
void Say(std::string_view message) noexcept;

// Thrown when the reader of standard output has gone. This is not an error, so the command ends
// without a message.
struct OutputClosed {};

// A buffered stream that does not lose errors: Write and Close throw Error(kIo), or OutputClosed if
// standard output is a pipe without a reader.
class Output {
 public:
  // Standard output.
  Output();
  // A file. An existing file keeps its contents until the first bytes are written, so a job that
  // fails before does no harm. If a job fails later, and does not call Close, no part of its result
  // remains: a new file is removed, an old file is emptied. A file that another program put in
  // its place stays. One such object may exist at a time.
  explicit Output(const std::string& path);
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output();

  void Write(std::string_view text);
  // Writes the buffered bytes.
  void Flush();
  // Flushes, and reports errors that appear only now. Without this call, bytes written since the
  // last Flush are lost.
  void Close();
  // Like Close, for a file. Then gives the file the name `path`, and replaces a file of this name.
  // After a power cut, the name does not lead to a part of the contents.
  void CloseAs(const std::string& path);

  // Discards the file that is being written, if there is one, like a job that fails. Call this only
  // when a signal is about to end the process; it is safe in a signal handler.
  static void DiscardUnfinished() noexcept;

 private:
  [[noreturn]] void Fail(int error) const;
  void WriteAll(std::string_view text);
  // Takes the file from DiscardUnfinished, which must not use it afterwards.
  void TakeFromSignals();
  void Discard() const;

  static std::atomic<Output*> unfinished_;

  int fd_;
  bool is_new_ = false;
  bool is_regular_ = false;
  std::atomic<bool> has_old_contents_ = false;
  std::string name_;
  std::string buffer_;
};

// Writes a report to standard output.
void Print(std::string_view text);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_OUTPUT_CONSOLE_H_
