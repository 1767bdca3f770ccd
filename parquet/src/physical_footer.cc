// Rewrites a footer without the logical types of its columns.
#include <cstdint>
#include <span>
#include <vector>

#include "parquet/src/fields.h"
#include "parquet/src/thrift_places.h"
#include "parquet/src/thrift_walker.h"
#include "tamis/parquet/add.h"

namespace tamis::parquet {
namespace {

constexpr int kMaxDelta = 15;  // largest difference of field numbers in a one-byte header

bool IsMeaning(int16_t id) {
  namespace element = fields::schema_element;
  return id == element::kConvertedType || id == element::kScale || id == element::kPrecision ||
         id == element::kLogicalType;
}

class Writer {
 public:
  explicit Writer(const Footer& footer) : bytes_(footer.bytes()), base_(footer.offset()) {}

  std::vector<std::byte> Write() {
    const PlacedStruct meta = PlacesOf(bytes_, 0, base_);
    int16_t last = 0;
    for (const PlacedField& placed : meta.fields) {
      if (placed.field.id == fields::file_meta_data::kKeyValueMetadata) continue;
      PutHeader(last, placed.field);
      if (placed.field.id == fields::file_meta_data::kSchema) {
        PutSchema(placed);
      } else {
        Copy(placed.field.value_at, placed.end);
      }
      last = placed.field.id;
    }
    Put(0);
    return std::move(out_);
  }

 private:
  void PutSchema(const PlacedField& schema) {
    ThriftWalker walker(bytes_, base_, schema.field.value_at);
    const ThriftList list = walker.List();
    Copy(schema.field.value_at, walker.at());
    size_t at = walker.at();
    for (uint32_t i = 0; i < list.size; ++i) {
      const PlacedStruct element = PlacesOf(bytes_, at, base_);
      int16_t last = 0;
      for (const PlacedField& placed : element.fields) {
        if (IsMeaning(placed.field.id)) continue;
        PutHeader(last, placed.field);
        Copy(placed.field.value_at, placed.end);
        last = placed.field.id;
      }
      Put(0);
      at = element.stop_at + 1;
    }
  }

  void Copy(size_t begin, size_t end) {
    const auto bytes = bytes_.subspan(begin, end - begin);
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }

  void Put(uint64_t byte) { out_.push_back(static_cast<std::byte>(byte)); }

  void PutHeader(int16_t last, const ThriftField& field) {
    const int delta = field.id - last;
    const auto type = static_cast<uint64_t>(field.type);
    if (delta > 0 && delta <= kMaxDelta) return Put(static_cast<uint64_t>(delta) << 4 | type);
    Put(type);
    const int32_t id = field.id;
    auto zigzag = static_cast<uint32_t>(id) << 1 ^ static_cast<uint32_t>(id >> 31);
    for (; zigzag >= 0x80; zigzag >>= 7) Put((zigzag & 0x7F) | 0x80);
    Put(zigzag);
  }

  std::span<const std::byte> bytes_;
  uint64_t base_;
  std::vector<std::byte> out_;
};

}  // namespace

std::vector<std::byte> PhysicalFooter(const Footer& footer) { return Writer(footer).Write(); }

}  // namespace tamis::parquet
