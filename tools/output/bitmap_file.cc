#include "tools/output/bitmap_file.h"

namespace tamis::tools {

void BitmapFile::Push(bool bit) {
  byte_ |= static_cast<unsigned>(bit) << bits_;
  if (++bits_ == 8) {
    bytes_ += static_cast<char>(byte_);
    byte_ = 0;
    bits_ = 0;
  }
}

void BitmapFile::Append(const Bitmap& found, bool invert, const KeyBatch& batch) {
  bytes_.clear();
  size_t key = 0;
  size_t bad = 0;
  for (size_t record = 0; record < batch.num_records(); ++record) {
    if (bad < batch.bad.size() && batch.bad[bad] == record) {
      Push(false);
      ++bad;
    } else {
      Push(found.Test(key) != invert);
      ++key;
    }
  }
  out_.Write(bytes_);
}

void BitmapFile::Close() {
  if (bits_ > 0) out_.Write(std::string(1, static_cast<char>(byte_)));
  bits_ = 0;
  out_.Close();
}

}  // namespace tamis::tools
