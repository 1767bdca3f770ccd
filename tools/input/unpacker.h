// Unpacks data that gzip or zstd has packed, piece by piece.
#ifndef TAMIS_TOOLS_INPUT_UNPACKER_H_
#define TAMIS_TOOLS_INPUT_UNPACKER_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tamis::tools {

enum class Packing { kNone, kGzip, kZstd };

class Unpacker {
 public:
  virtual ~Unpacker() = default;

  // Unpacks from the front of `in` to the front of `out`, at most until `in` is empty or `out` is
  // full. Removes the unpacked bytes from `in`. Returns the number of bytes written to `out`, which
  // may come from input of earlier calls. Throws Error(kCorrupt).
  virtual size_t Unpack(std::string_view& in, std::span<char> out) = 0;

  // Returns whether the packed data may end here. The output of `cat a.gz b.gz`, for example,
  // counts as one packed file, and may end after each part.
  virtual bool complete() const = 0;
};

// Return nullptr if tamis was built without the library. Errors contain `name`, the file's name.
std::unique_ptr<Unpacker> MakeGzipUnpacker(const std::string& name);
std::unique_ptr<Unpacker> MakeZstdUnpacker(const std::string& name);

// Return the name and version of the library, such as "zlib 1.2.13", or "" if tamis was built
// without the library.
std::string GzipLibrary();
std::string ZstdLibrary();

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_UNPACKER_H_
