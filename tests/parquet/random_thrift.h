// Structures of Thrift's compact protocol, made at random and written byte for byte, as a Parquet
// writer of another day could: with fields of any number, order and type. Knows nothing of the code
// that it tests.
#ifndef TAMIS_TESTS_PARQUET_RANDOM_THRIFT_H_
#define TAMIS_TESTS_PARQUET_RANDOM_THRIFT_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace tamis::parquet {

struct TreeField;

// A value: bytes as they are, a struct, or a list of structs.
struct Tree {
  enum class Kind { kBytes, kStruct, kStructs };

  Kind kind = Kind::kBytes;
  std::vector<std::byte> bytes = {};  // of kBytes
  std::vector<TreeField> fields;      // of kStruct, in their order in the file
  std::vector<Tree> structs = {};     // of kStructs
  bool long_size = false;             // of kStructs: the number is not in the first byte
};

struct TreeField {
  int16_t id = 0;
  uint8_t type = 0;       // of the protocol; 1 and 2 are booleans, which have no bytes
  bool absolute = false;  // its header has the number and not the difference to the one before
  Tree value;
};

// Also sets `absolute` of fields that can be written in no other way.
std::vector<std::byte> WriteTree(Tree& tree);

// The FileMetaData of a Parquet file with `row_groups` times `columns` column chunks, among fields
// that no version of Parquet has. Some chunks have a filter.
Tree RandomFooter(std::mt19937_64& random, size_t row_groups, size_t columns);

// The ColumnMetaData in such a tree.
Tree& MetaDataOf(Tree& footer, size_t row_group, size_t column);

// A field of one number, of a type of integers.
TreeField IntegerField(int16_t id, uint8_t type, int64_t value);

}  // namespace tamis::parquet

#endif  // TAMIS_TESTS_PARQUET_RANDOM_THRIFT_H_
