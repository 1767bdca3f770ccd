#include "tamis/redis/redis_bloom_dump.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "redis/src/client/client.h"
#include "redis/src/client/problem.h"
#include "redis/src/client/slot.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/formats/redis_bloom.h"
#include "tamis/formats/redis_cuckoo.h"
#include "tamis/units.h"

namespace tamis::redis {
namespace {

using Bytes = std::span<const std::byte>;

// Upper bound for one chunk: MAX_SCANDUMP_SIZE of rebloom.c. A header has about 50 bytes per link.
constexpr size_t kChunkBytes = size_t{16} << 20;
constexpr int kPasses = 5;
// Lower bound for a chunk, except the last one of a link or layer. RedisBloom ends a chunk after 16
// MiB, or at the end of a link or layer. Without this bound, a server could send one byte per
// chunk, and a dump would never end.
constexpr uint64_t kLeastBytes = uint64_t{64} << 10;
constexpr size_t kFrameBytes = 16;
constexpr size_t kShownKey = 64;

// A kind of filter. `type` is the reply to TYPE.
struct Kind {
  const char* type;
  const char* command;
  const char* format;
  std::vector<uint64_t> (*parts_of_header)(Bytes header);
};
constexpr Kind kBloom = {"MBbloom--", "BF.SCANDUMP", "redisbloom",
                         &RedisBloomFilter::PartsOfHeader};
constexpr Kind kCuckoo = {"MBbloomCF", "CF.SCANDUMP", "redisbloom-cf",
                          &RedisCuckooFilter::PartsOfHeader};

// A reply of SCANDUMP. The last one has iterator 0 and no bytes.
struct Chunk {
  uint64_t iterator = 0;
  std::string bytes;

  bool IsLast() const { return iterator == 0 && bytes.empty(); }
  Bytes AsBytes() const { return std::as_bytes(std::span(bytes)); }
};

class Dumper {
 public:
  Dumper(const ServerOptions& servers, std::string_view key, uint64_t max_bytes)
      : client_(servers),
        key_(key),
        slot_(SlotOfKey(key)),
        which_("the key \"" + ShownText(key.substr(0, kShownKey)) + "\": "),
        max_bytes_(max_bytes) {}

  RedisBloomDump Read() {
    kind_ = FindKind();
    for (int i = 0; i < kPasses; ++i) {
      const std::optional<std::string> header = ReadOnce();
      if (!header) continue;
      const bool bloom = kind_ == &kBloom;
      const std::optional<bool> grew = bloom ? HasGrown(*header) : std::nullopt;
      if (bloom ? grew.has_value() : same_) {
        return {kind_->format, std::move(file_), grew.value_or(false)};
      }
    }
    throw Error(ErrorCode::kUnavailable,
                detail::StrCat(which_, "the filter changed during each of ", kPasses, " reads"));
  }

 private:
  [[noreturn]] void Fail(ErrorCode code, const std::string& text) const {
    throw Error(code, which_ + text);
  }

  Reply Ask(std::initializer_list<std::string_view> words, size_t reply_bytes) {
    Command command(slot_, words, reply_bytes);
    client_.Run(std::span(&command, 1));
    const std::optional<Problem> problem = ProblemOf(command);
    if (!problem) return std::move(command.reply);
    const std::string_view error = command.reply.text;
    if (error.starts_with("ERR unknown command")) {
      Fail(ErrorCode::kUnsupported,
           "the server does not have RedisBloom: it reports " + ShownText(error));
    }
    Fail(problem->code, problem->text);
  }

  const Kind* FindKind() {
    constexpr size_t kTypeBytes = 64;
    const Reply reply = Ask({"TYPE", key_}, kTypeBytes);
    for (const Kind* const kind : {&kBloom, &kCuckoo}) {
      if (reply.IsStatus(kind->type)) return kind;
    }
    if (reply.IsStatus("none")) Fail(ErrorCode::kUnavailable, "it does not exist on the server");
    if (reply.type != Reply::Type::kStatus) {
      Fail(ErrorCode::kCorrupt, "the server returned " + ReplyText(reply) + " for its type");
    }
    Fail(ErrorCode::kUnsupported,
         "it is not a filter of BF.* or CF.*, but has the type \"" + ShownText(reply.text) + "\"");
  }

  Chunk Scan(uint64_t iterator) {
    Reply reply = Ask({kind_->command, key_, std::to_string(iterator)}, kChunkBytes);
    const auto refuse = [&](const Reply& what) {
      Fail(ErrorCode::kCorrupt, std::string(kind_->command) +
                                    " did not return a number and bytes, but " + ReplyText(what));
    };
    if (!reply.IsArray() || reply.elements.size() != 2) refuse(reply);
    const Reply& number = reply.elements[0];
    const Reply& bytes = reply.elements[1];
    if (!number.IsInteger() || number.integer < 0) refuse(number);
    if (!bytes.IsString() && bytes.type != Reply::Type::kNil) refuse(bytes);
    return {static_cast<uint64_t>(reply.elements[0].integer), std::move(reply.elements[1].text)};
  }

  // Reads a dump into file_, and returns its header. Sets same_ to whether file_ had the same dump
  // before. Returns nothing if the chunks do not match, because the filter has changed.
  std::optional<std::string> ReadOnce() {
    same_ = !file_.empty();
    at_ = 0;
    Chunk chunk = Scan(0);
    if (chunk.IsLast() && kind_ == &kCuckoo) {
      Fail(ErrorCode::kUnsupported,
           "it is a cuckoo filter without keys, which CF.SCANDUMP cannot dump");
    }
    if (chunk.iterator != 1) {
      Fail(ErrorCode::kCorrupt,
           detail::StrCat("its dump begins with the iterator ", chunk.iterator, ", must be 1"));
    }
    const std::vector<uint64_t> parts = PartsOf(chunk);
    Take(chunk);
    std::string header = std::move(chunk.bytes);
    uint64_t done = 0;
    for (const uint64_t part : parts) {
      for (uint64_t left = part; left > 0; left -= chunk.bytes.size()) {
        chunk = Scan(1 + done);
        const std::string problem = WrongIn(chunk, done, left);
        if (!problem.empty()) {
          if (Scan(0).bytes != header) return {};
          Fail(ErrorCode::kCorrupt, problem);
        }
        Take(chunk);
        done += chunk.bytes.size();
      }
    }
    return header;
  }

  // Returns `read()`, and adds the key to the text of a FormatError.
  template <typename Read>
  auto OfHeader(const Read& read) const {
    try {
      return read();
    } catch (const FormatError& error) {
      throw FormatError(error.code(), error.check(), error.offset(), which_ + error.what());
    }
  }

  std::vector<uint64_t> PartsOf(const Chunk& header) const {
    std::vector<uint64_t> parts =
        OfHeader([&] { return kind_->parts_of_header(header.AsBytes()); });
    uint64_t left = max_bytes_;
    for (const uint64_t part : parts) {
      if (part > left) {
        Fail(ErrorCode::kOutOfMemory, "the filter has more than the " +
                                          BytesText(static_cast<double>(max_bytes_)) +
                                          " that are allowed");
      }
      left -= part;
    }
    return parts;
  }

  // Returns the problem of a chunk that follows `done` bytes of the filter, and begins `left` bytes
  // before the end of a link or layer. Returns "" if the chunk is valid.
  static std::string WrongIn(const Chunk& chunk, uint64_t done, uint64_t left) {
    const uint64_t bytes = chunk.bytes.size();
    const std::string where = detail::StrCat(" after ", done, " bytes of the filter");
    if (chunk.IsLast()) return "its dump ends" + where;
    if (bytes > left || bytes < std::min(left, kLeastBytes)) {
      return detail::StrCat("its dump has a chunk of ", bytes, " bytes", where, ", where ", left,
                            " are left of a part");
    }
    if (chunk.iterator != 1 + done + bytes) {
      return detail::StrCat("its dump has the iterator ", chunk.iterator, where, ", must be ",
                            1 + done + bytes);
    }
    return {};
  }

  // Compares the chunk with the previous dump, which is in file_. From the first difference on,
  // writes the chunk to file_.
  void Take(const Chunk& chunk) {
    std::byte frame[kFrameBytes];
    for (size_t i = 0; i < 8; ++i) {
      frame[i] = static_cast<std::byte>(chunk.iterator >> (8 * i));
      frame[8 + i] = static_cast<std::byte>(uint64_t{chunk.bytes.size()} >> (8 * i));
    }
    Take(Bytes(frame));
    Take(chunk.AsBytes());
  }
  void Take(Bytes bytes) {
    if (same_ && (file_.size() - at_ < bytes.size() ||
                  std::memcmp(file_.data() + at_, bytes.data(), bytes.size()) != 0)) {
      same_ = false;
    }
    if (!same_) {
      file_.resize(at_);
      file_.insert(file_.end(), bytes.begin(), bytes.end());
    }
    at_ += bytes.size();
  }

  // Returns whether a Bloom filter has grown since it had this header, or nothing if it is another
  // filter.
  std::optional<bool> HasGrown(const std::string& header) {
    const Chunk now = Scan(0);
    if (now.bytes == header) return false;
    const Bytes before = std::as_bytes(std::span(header));
    if (!OfHeader([&] { return RedisBloomFilter::HasGrown(before, now.AsBytes()); })) return {};
    return true;
  }

  Client client_;
  const std::string key_;
  const uint32_t slot_;
  const std::string which_;
  const uint64_t max_bytes_;
  const Kind* kind_ = nullptr;
  std::vector<std::byte> file_;
  size_t at_ = 0;      // position of this pass in file_
  bool same_ = false;  // whether this pass has found the same bytes so far
};

}  // namespace

RedisBloomDump DumpRedisBloom(const ServerOptions& servers, std::string_view key,
                              const RedisBloomDumpOptions& options) {
  return Dumper(servers, key, options.max_bytes).Read();
}

}  // namespace tamis::redis
