// What gzip and zstd have packed, unpacked piece by piece.
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

  // Unpacks to the front of `out` as far as there is room and input, and drops from the front of
  // `in` what it took. Returns the bytes that it wrote: with an empty `in` those of input that it
  // took before. Throws Error(kCorrupt).
  virtual size_t Unpack(std::string_view& in, std::span<char> out) = 0;

  // Whether the packed data may end here. Several in a row, as `cat a.gz b.gz` makes them, are one.
  virtual bool complete() const = 0;
};

// `name` is that of the file, for errors. Null where tamis was built without zlib, or libzstd.
std::unique_ptr<Unpacker> MakeGzipUnpacker(const std::string& name);
std::unique_ptr<Unpacker> MakeZstdUnpacker(const std::string& name);

// The library that unpacks and its version, "zlib 1.2.13"; empty where tamis was built without it.
std::string GzipLibrary();
std::string ZstdLibrary();

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_UNPACKER_H_
