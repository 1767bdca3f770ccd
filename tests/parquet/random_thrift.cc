#include "tests/parquet/random_thrift.h"

#include <algorithm>
#include <set>
#include <utility>

namespace tamis::parquet {
namespace {

using Bytes = std::vector<std::byte>;

constexpr uint8_t kI32 = 5, kI64 = 6, kBinary = 8, kList = 9, kSet = 10, kMap = 11, kStruct = 12;

void Put(Bytes& out, uint64_t byte) { out.push_back(static_cast<std::byte>(byte)); }

void PutVarint(Bytes& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) Put(out, value % 0x80 + 0x80);
  Put(out, value);
}

uint64_t ZigZag(int64_t value) {
  return value < 0 ? 2 * ~static_cast<uint64_t>(value) + 1 : 2 * static_cast<uint64_t>(value);
}

uint64_t Below(std::mt19937_64& random, uint64_t n) { return random() % n; }

void Append(Bytes& out, const Bytes& bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }

void WriteTo(Tree& tree, Bytes& out) {
  switch (tree.kind) {
    case Tree::Kind::kBytes:
      return Append(out, tree.bytes);
    case Tree::Kind::kStructs:
      if (tree.structs.size() >= 15 || tree.long_size) {
        Put(out, 0xF0 + kStruct);
        PutVarint(out, tree.structs.size());
      } else {
        Put(out, 16 * tree.structs.size() + kStruct);
      }
      for (Tree& element : tree.structs) WriteTo(element, out);
      return;
    case Tree::Kind::kStruct:
      break;
  }
  int last = 0;
  for (TreeField& field : tree.fields) {
    const int difference = field.id - last;
    field.absolute = field.absolute || difference < 1 || difference > 15;
    if (field.absolute) {
      Put(out, field.type);
      PutVarint(out, ZigZag(field.id));
    } else {
      Put(out, static_cast<uint64_t>(16 * difference + field.type));
    }
    WriteTo(field.value, out);
    last = field.id;
  }
  Put(out, 0);
}

// Returns the bytes behind the header of a field of that type, or of an element of a list.
Bytes RandomValue(std::mt19937_64& random, uint8_t type, int depth, bool in_list);

Bytes RandomStruct(std::mt19937_64& random, int depth) {
  Bytes out;
  for (uint64_t i = Below(random, 5); i > 0; --i) {
    const uint8_t type = static_cast<uint8_t>(1 + Below(random, depth > 0 ? 13 : 8));
    const uint64_t difference = 1 + Below(random, 12);
    Put(out, 16 * difference + type);
    Append(out, RandomValue(random, type, depth - 1, false));
  }
  Put(out, 0);
  return out;
}

Bytes RandomValue(std::mt19937_64& random, uint8_t type, int depth, bool in_list) {
  Bytes out;
  const auto some = [&](uint64_t n) {
    for (uint64_t i = 0; i < n; ++i) Put(out, random() & 0xFF);
  };
  const auto any_type = [&] { return static_cast<uint8_t>(1 + Below(random, depth > 0 ? 13 : 8)); };
  switch (type) {
    case 1:
    case 2:
      if (in_list) Put(out, type);
      break;
    case 3:
      some(1);
      break;
    case 4:
      PutVarint(out, random() & 0xFFFF);
      break;
    case kI32:
      PutVarint(out, random() & 0xFFFFFFFF);
      break;
    case kI64:
      PutVarint(out, random() >> Below(random, 64));
      break;
    case 7:
      some(8);
      break;
    case kBinary: {
      const uint64_t size = Below(random, 4) == 0 ? Below(random, 300) : Below(random, 20);
      PutVarint(out, size);
      some(size);
      break;
    }
    case kList:
    case kSet: {
      const uint64_t size = Below(random, 20);
      const uint8_t element = any_type();
      if (size >= 15) {
        Put(out, 0xF0 + element);
        PutVarint(out, size);
      } else {
        Put(out, 16 * size + element);
      }
      for (uint64_t i = 0; i < size; ++i)
        Append(out, RandomValue(random, element, depth - 1, true));
      break;
    }
    case kMap: {
      const uint64_t size = Below(random, 5);
      PutVarint(out, size);
      if (size == 0) break;
      const uint8_t key = any_type(), value = any_type();
      Put(out, 16 * uint64_t{key} + value);
      for (uint64_t i = 0; i < size; ++i) {
        Append(out, RandomValue(random, key, depth - 1, true));
        Append(out, RandomValue(random, value, depth - 1, true));
      }
      break;
    }
    case kStruct:
      return RandomStruct(random, depth - 1);
    default:  // 13, a UUID
      some(16);
  }
  return out;
}

// Returns fields with numbers that are not in `taken`. Most are ordered and close, as in real
// files.
Tree RandomFields(std::mt19937_64& random, const std::set<int>& taken, int highest) {
  Tree tree = {.kind = Tree::Kind::kStruct, .fields = {}};
  std::set<int> ids;
  for (uint64_t i = Below(random, 12); i > 0; --i) {
    const bool strange = Below(random, 8) == 0;
    const int id = strange ? static_cast<int>(Below(random, 65536)) - 32768
                           : 1 + static_cast<int>(Below(random, static_cast<uint64_t>(highest)));
    if (taken.count(id) == 0) ids.insert(id);
  }
  for (const int id : ids) {
    const uint8_t type = static_cast<uint8_t>(1 + Below(random, 13));
    tree.fields.push_back({static_cast<int16_t>(id),
                           type,
                           Below(random, 10) == 0,
                           {.bytes = RandomValue(random, type, 3, false), .fields = {}}});
  }
  return tree;
}

// Inserts the field by its number, or anywhere.
void Place(std::mt19937_64& random, Tree& tree, TreeField field) {
  auto at = std::find_if(tree.fields.begin(), tree.fields.end(),
                         [&](const TreeField& other) { return other.id > field.id; });
  if (Below(random, 6) == 0) {
    at = tree.fields.begin() + static_cast<ptrdiff_t>(Below(random, tree.fields.size() + 1));
  }
  tree.fields.insert(at, std::move(field));
}

TreeField FieldOfStructs(std::mt19937_64& random, int16_t id, std::vector<Tree> structs) {
  return {id,
          kList,
          Below(random, 10) == 0,
          {.kind = Tree::Kind::kStructs,
           .fields = {},
           .structs = std::move(structs),
           .long_size = Below(random, 10) == 0}};
}

Tree RandomColumnChunk(std::mt19937_64& random) {
  Tree meta = RandomFields(random, {14, 15}, 20);
  if (Below(random, 3) == 0) {
    Place(random, meta, IntegerField(14, kI64, static_cast<int64_t>(random() >> 20)));
    if (Below(random, 2) == 0) {
      Place(random, meta, IntegerField(15, kI32, static_cast<int64_t>(random() >> 40)));
    }
  }
  if (Below(random, 10) == 0) {  // not the field of a filter for any reader
    const uint8_t type = static_cast<uint8_t>(1 + Below(random, 13));
    Place(random, meta,
          {15, type, false, {.bytes = RandomValue(random, type, 2, false), .fields = {}}});
    std::erase_if(meta.fields, [&, seen = false](const TreeField& field) mutable {
      return field.id == 15 && std::exchange(seen, true);
    });
  }
  Tree chunk = RandomFields(random, {3}, 12);
  Place(random, chunk, {3, kStruct, Below(random, 10) == 0, std::move(meta)});
  return chunk;
}

Tree& ValueOf(Tree& tree, int16_t id) {
  return std::find_if(tree.fields.begin(), tree.fields.end(),
                      [&](const TreeField& field) { return field.id == id; })
      ->value;
}

}  // namespace

Bytes WriteTree(Tree& tree) {
  Bytes out;
  WriteTo(tree, out);
  return out;
}

TreeField IntegerField(int16_t id, uint8_t type, int64_t value) {
  TreeField field = {id, type, false, {}};
  PutVarint(field.value.bytes, ZigZag(value));
  return field;
}

Tree RandomFooter(std::mt19937_64& random, size_t row_groups, size_t columns) {
  std::vector<Tree> groups;
  for (size_t i = 0; i < row_groups; ++i) {
    std::vector<Tree> chunks;
    for (size_t j = 0; j < columns; ++j) chunks.push_back(RandomColumnChunk(random));
    groups.push_back(RandomFields(random, {1}, 10));
    Place(random, groups.back(), FieldOfStructs(random, 1, std::move(chunks)));
  }
  Tree footer = RandomFields(random, {4}, 12);
  Place(random, footer, FieldOfStructs(random, 4, std::move(groups)));
  return footer;
}

Tree& MetaDataOf(Tree& footer, size_t row_group, size_t column) {
  Tree& group = ValueOf(footer, 4).structs[row_group];
  return ValueOf(ValueOf(group, 1).structs[column], 3);
}

}  // namespace tamis::parquet
