#include <tamis/error.h>

#include "tools/input/unpacker.h"

#if TAMIS_ZLIB
#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#endif

namespace tamis::tools {

#if TAMIS_ZLIB

namespace {

uInt AtMostUInt(size_t n) {
  return static_cast<uInt>(std::min<size_t>(n, std::numeric_limits<uInt>::max()));
}

class GzipUnpacker : public Unpacker {
 public:
  explicit GzipUnpacker(const std::string& name) : name_(name) {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~GzipUnpacker() override { inflateEnd(&stream_); }

  size_t Unpack(std::string_view& in, std::span<char> out) override {
    if (state_ != State::kInside && !BeginMember(in)) return 0;
    stream_.next_in = reinterpret_cast<const Bytef*>(in.data());
    stream_.avail_in = AtMostUInt(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = AtMostUInt(out.size());
    const uInt in_before = stream_.avail_in, out_before = stream_.avail_out;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    in.remove_prefix(in_before - stream_.avail_in);
    if (status == Z_STREAM_END) {
      state_ = State::kBetween;
    } else if (status == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (status != Z_OK &&
               status != Z_BUF_ERROR) {  // Z_BUF_ERROR: no input, or `out` is full
      Fail(std::string("its gzip data are damaged: ") +
           (stream_.msg != nullptr ? stream_.msg : "they need a dictionary"));
    }
    return out_before - stream_.avail_out;
  }

  bool complete() const override { return state_ != State::kInside; }

 private:
  enum class State {
    kInside,   // inside a member
    kBetween,  // between two members, or after the last
    kPadding,  // in zeros after the last member, with which tapes are padded
  };

  [[noreturn]] void Fail(const std::string& problem) const {
    throw Error(ErrorCode::kCorrupt, name_ + ": " + problem);
  }

  // Returns whether `in` continues with another member.
  bool BeginMember(std::string_view& in) {
    if (in.empty()) return false;
    if (state_ == State::kPadding || in.front() == '\0') {
      state_ = State::kPadding;
      in.remove_prefix(std::min(in.find_first_not_of('\0'), in.size()));
      if (in.empty()) return false;
    }
    constexpr char kFirstByte = '\x1F';
    if (state_ == State::kPadding || in.front() != kFirstByte) {
      Fail("bytes that are not gzip data follow the gzip data");
    }
    inflateReset(&stream_);
    state_ = State::kInside;
    return true;
  }

  const std::string name_;
  z_stream stream_ = {};
  State state_ = State::kInside;
};

}  // namespace

std::unique_ptr<Unpacker> MakeGzipUnpacker(const std::string& name) {
  return std::make_unique<GzipUnpacker>(name);
}

std::string GzipLibrary() { return std::string("zlib ") + zlibVersion(); }

#else

std::unique_ptr<Unpacker> MakeGzipUnpacker(const std::string&) { return nullptr; }

std::string GzipLibrary() { return ""; }

#endif

}  // namespace tamis::tools
