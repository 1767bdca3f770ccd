#include <tamis/error.h>

#include "tools/input/unpacker.h"

#if TAMIS_ZSTD
#include <zstd.h>

#include <new>
#endif

namespace tamis::tools {

#if TAMIS_ZSTD

namespace {

class ZstdUnpacker : public Unpacker {
 public:
  explicit ZstdUnpacker(const std::string& name) : name_(name), stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }
  ~ZstdUnpacker() override { ZSTD_freeDStream(stream_); }

  size_t Unpack(std::string_view& in, std::span<char> out) override {
    // After the end of a frame, a call of the library would expect another frame. The file may have
    // no more frames.
    if (in.empty() && complete_) return 0;
    ZSTD_inBuffer input = {in.data(), in.size(), 0};
    ZSTD_outBuffer output = {out.data(), out.size(), 0};
    const size_t status = ZSTD_decompressStream(stream_, &output, &input);
    in.remove_prefix(input.pos);
    if (ZSTD_isError(status) != 0) {
      throw Error(ErrorCode::kCorrupt, name_ +
                                           ": its zstd data are damaged, or need another "
                                           "program: " +
                                           ZSTD_getErrorName(status));
    }
    complete_ = status == 0;
    return output.pos;
  }

  bool complete() const override { return complete_; }

 private:
  const std::string name_;
  ZSTD_DStream* const stream_;
  bool complete_ = false;
};

}  // namespace

std::unique_ptr<Unpacker> MakeZstdUnpacker(const std::string& name) {
  return std::make_unique<ZstdUnpacker>(name);
}

std::string ZstdLibrary() { return std::string("libzstd ") + ZSTD_versionString(); }

#else

std::unique_ptr<Unpacker> MakeZstdUnpacker(const std::string&) { return nullptr; }

std::string ZstdLibrary() { return ""; }

#endif

}  // namespace tamis::tools
