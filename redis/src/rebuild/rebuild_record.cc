#include "redis/src/rebuild/rebuild_record.h"

#include "redis/src/client/line_reader.h"
#include "redis/src/client/url.h"
#include "redis/src/filter/layout.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis::redis {
namespace {

constexpr std::string_view kRebuildWord = "tamis-redis-rebuild";
constexpr uint64_t kRebuildVersion = 1;
constexpr size_t kMaxRebuildText = 256;  // longer than any text of RecordText

}  // namespace

std::string RecordText(const RebuildRecord& record) {
  return detail::StrCat(kRebuildWord, " ", kRebuildVersion, "\nowner ", HexText(record.owner),
                        "\nold ", HexText(record.old), "\nnext ", HexText(record.next), "\n");
}

RebuildRecord ParseRecord(std::string_view text) {
  LineReader reader("the record of a rebuild",
                    text.size() > kMaxRebuildText ? std::string_view() : text);
  uint64_t version = 0;
  if (!ParseDecimal(reader.Value(kRebuildWord), ~uint64_t{0}, version)) {
    reader.Refuse("does not name a version");
  }
  if (version != kRebuildVersion) {
    throw Error(ErrorCode::kUnsupported,
                "it is being rebuilt by an unknown version of the library");
  }
  RebuildRecord record;
  record.owner = reader.Hex("owner");
  record.old = reader.Hex("old");
  record.next = reader.Hex("next");
  if (record.old == 0 || record.next == 0 || record.old == record.next) {
    reader.Refuse("does not name two generations");
  }
  reader.End();
  return record;
}

}  // namespace tamis::redis
