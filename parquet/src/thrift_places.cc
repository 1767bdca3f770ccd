#include "parquet/src/thrift_places.h"

namespace tamis::parquet {

const PlacedField* PlacedStruct::Find(int16_t id) const {
  for (const PlacedField& placed : fields) {
    if (placed.field.id == id) return &placed;
  }
  return nullptr;
}

PlacedStruct PlacesOf(std::span<const std::byte> bytes, size_t at, uint64_t base) {
  ThriftWalker walker(bytes, base, at);
  PlacedStruct places = {.begin = at};
  ThriftStruct fields(walker);
  while (const auto field = fields.Next()) {
    walker.SkipValue(*field);
    places.fields.push_back({*field, walker.at()});
  }
  places.stop_at = fields.stop_at();
  places.last_id = fields.last_id();
  return places;
}

}  // namespace tamis::parquet
