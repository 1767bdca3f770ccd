// Writes a file of one bit per record.
#ifndef TAMIS_TOOLS_OUTPUT_BITMAP_FILE_H_
#define TAMIS_TOOLS_OUTPUT_BITMAP_FILE_H_

#include <tamis/keys.h>

#include <cstdint>
#include <string>

#include "tools/input/key_reader.h"
#include "tools/output/console.h"

namespace tamis::tools {

// Bit i of the file is the bit of record i, good or bad: bit i % 8 of byte i / 8. Bits past the
// last record are 0.
class BitmapFile {
 public:
  explicit BitmapFile(const std::string& path) : out_(path) {}

  // Appends the bits of the records of `batch`: for keys the bits of `found`, or the opposite bits
  // if `invert`, and 0 for records without a key.
  void Append(const Bitmap& found, bool invert, const KeyBatch& batch);
  void Close();

 private:
  void Push(bool bit);

  Output out_;
  std::string bytes_;  // of the current batch
  unsigned byte_ = 0;
  int bits_ = 0;  // number of bits in byte_, which is not yet in bytes_
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_OUTPUT_BITMAP_FILE_H_
