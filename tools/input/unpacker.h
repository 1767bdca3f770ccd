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

  // Unpacks from the front of `in` to the front of `out` as long as there is input and room.
  // Removes from `in` what it used. Returns the number of bytes that it wrote, also of input that
  // earlier calls took. Throws Error(kCorrupt).
  virtual size_t Unpack(std::string_view& in, std::span<char> out) = 0;

  // Returns whether the packed data may end here. Several packed files in a row, as `cat a.gz b.gz`
  // makes them, count as one.
  virtual bool complete() const = 0;
};

// `name` is the name of the file, for errors. Return nullptr if tamis was built without the
// library.
std::unique_ptr<Unpacker> MakeGzipUnpacker(const std::string& name);
std::unique_ptr<Unpacker> MakeZstdUnpacker(const std::string& name);

// Return the library that unpacks, with its version, such as "zlib 1.2.13", or "" if tamis was
// built without it.
std::string GzipLibrary();
std::string ZstdLibrary();

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_UNPACKER_H_
