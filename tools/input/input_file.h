// Reads one file with keys, or standard input, in large blocks, and unpacks it if it is packed.
#ifndef TAMIS_TOOLS_INPUT_INPUT_FILE_H_
#define TAMIS_TOOLS_INPUT_INPUT_FILE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "tools/input/file_kind.h"
#include "tools/input/unpacker.h"

namespace tamis::tools {

// Throws Error(kIo) for the file `name` and a value of errno.
[[noreturn]] void FailRead(const std::string& name, int error);

// A file of which a window is in memory: text() is the part that was read and not yet consumed.
class InputFile {
 public:
  // "-" is standard input. Throws Error(kIo).
  explicit InputFile(const std::string& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  // The path, or "(standard input)".
  const std::string& name() const { return name_; }

  // kPadding readable bytes follow the text in memory. Their values do not matter.
  std::string_view text() const { return {buffer_.get() + begin_, end_ - begin_}; }
  static constexpr size_t kPadding = 64;
  // Returns whether text() is the last part of the file.
  bool last() const { return last_; }
  // Drops the first `bytes` of text(). They stay valid until Fill().
  void Consume(size_t bytes) { begin_ += bytes; }

  // Reads the first bytes, and starts to unpack a file that gzip or zstd has packed. Throws for
  // files that are not text, unless `raw` allows any bytes. For text, Fill() throws at the first
  // NUL byte. Must be called before Consume(). Returns the number of bytes of the file that were
  // read. Throws Error(kIo), Error(kCorrupt), and Error(kInvalidArgument) with the way to make text
  // of the file.
  size_t Recognize(bool raw);

  // Reads more: from a file as much as there is room for, from a pipe the bytes that are there.
  // Waits only for the first byte. The window grows if text() fills it. Returns the number of bytes
  // of the file that were read, which are packed bytes for a packed file. Throws what Recognize()
  // throws.
  size_t Fill();

 private:
  static std::unique_ptr<char[]> MakeBuffer(size_t capacity);
  // Makes room in the window. The window grows if text() fills it.
  void MakeRoom();
  // Reads up to `bytes` bytes. Returns 0 at the end of the file.
  size_t ReadBlock(char* to, size_t bytes);
  size_t FillPlain();
  size_t FillUnpacked();
  [[noreturn]] void Refuse(const FileKind& kind) const;
  // Throws if `text` contains a NUL byte.
  void RequireText(std::string_view text) const;
  // Returns false if tamis was built without the library for it.
  bool StartUnpacking(Packing packing);

  int fd_;
  std::string name_;
  size_t capacity_;
  std::unique_ptr<char[]> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool last_ = false;
  bool must_be_text_ = false;

  // Used for a packed file.
  std::unique_ptr<Unpacker> unpacker_;
  std::unique_ptr<char[]> packed_buffer_;
  std::string_view packed_;  // the part that was read and not yet unpacked
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_INPUT_FILE_H_
