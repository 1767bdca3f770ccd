// One file with keys, or standard input, read in large blocks and unpacked where it is packed.
#ifndef TAMIS_TOOLS_INPUT_INPUT_FILE_H_
#define TAMIS_TOOLS_INPUT_INPUT_FILE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "tools/input/file_kind.h"
#include "tools/input/unpacker.h"

namespace tamis::tools {

// Throws Error(kIo) for the file of this name and a value of errno.
[[noreturn]] void FailRead(const std::string& name, int error);

// A file of which a window is in memory: text() is what has been read and not yet consumed.
class InputFile {
 public:
  // "-" is standard input. Throws Error(kIo).
  explicit InputFile(const std::string& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  // The path, or "(standard input)".
  const std::string& name() const { return name_; }

  std::string_view text() const { return {buffer_.get() + begin_, end_ - begin_}; }
  // Whether no more follows text().
  bool last() const { return last_; }
  // Drops the first `bytes` of text(), which stay valid until Fill().
  void Consume(size_t bytes) { begin_ += bytes; }

  // To be called before anything is consumed: reads the first bytes, makes text() what is in a file
  // that gzip or zstd has packed, and refuses files that are no text, unless they are `raw`, of any
  // bytes. Text must go on without a NUL byte, or Fill() refuses it. Returns the bytes of the file
  // that this has taken. Throws Error(kIo), Error(kCorrupt), and Error(kInvalidArgument) with the
  // way to make text of it.
  size_t Recognize(bool raw);

  // Reads on: as much as there is room for from a file; from a pipe what is there, waiting only for
  // the first byte. The window grows if text() fills it. Returns the bytes of the file that this
  // has taken: packed ones, where it is packed. Throws as Recognize().
  size_t Fill();

 private:
  // Makes room in the window, which grows if text() fills it.
  void MakeRoom();
  // Reads up to `bytes`; 0 at the end of the file.
  size_t ReadBlock(char* to, size_t bytes);
  size_t FillPlain();
  size_t FillUnpacked();
  [[noreturn]] void Refuse(const FileKind& kind) const;
  // For text without a NUL byte.
  void RequireText(std::string_view text) const;
  // Whether tamis can.
  bool StartUnpacking(Packing packing);

  int fd_;
  std::string name_;
  size_t capacity_;
  std::unique_ptr<char[]> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool last_ = false;
  bool must_be_text_ = false;

  // Of a packed file.
  std::unique_ptr<Unpacker> unpacker_;
  std::unique_ptr<char[]> packed_buffer_;
  std::string_view packed_;  // what has been read and not yet unpacked
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_INPUT_FILE_H_
