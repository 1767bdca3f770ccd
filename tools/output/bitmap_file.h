// Writes a file of one bit per record.
#ifndef TAMIS_TOOLS_OUTPUT_BITMAP_FILE_H_
#define TAMIS_TOOLS_OUTPUT_BITMAP_FILE_H_

#include <tamis/keys.h>

#include <cstdint>
#include <string>

#include "tools/input/key_reader.h"
#include "tools/output/console.h"

namespace tamis::tools {

// The bit of record i, good or bad, is bit i % 8 of byte i / 8. Bits past the last record are 0.
class BitmapFile {
 public:
  explicit BitmapFile(const std::string& path) : out_(path) {}

  // Appends one bit for each record of `batch`: for a key its bit in `found`, inverted if `invert`,
  // and for a record without a key 0.
  void Append(const Bitmap& found, bool invert, const KeyBatch& batch);
  void Close();

 private:
  void Push(bool bit);

  Output out_;
  std::string bytes_;  // complete bytes of the current batch
  unsigned byte_ = 0;
  int bits_ = 0;  // number of bits in byte_
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_OUTPUT_BITMAP_FILE_H_
