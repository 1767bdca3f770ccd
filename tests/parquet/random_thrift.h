// Generates random structures of Thrift's compact protocol, as a future Parquet writer could write
// them: with fields of any number, order and type. Shares no code with the code under test.
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
  std::vector<TreeField> fields;      // of kStruct, in file order
  std::vector<Tree> structs = {};     // of kStructs
  bool long_size = false;             // of kStructs: the size is not in the first byte
};

struct TreeField {
  int16_t id = 0;
  uint8_t type = 0;       // of the protocol; 1 and 2 are booleans, which take 0 bytes
  bool absolute = false;  // the header has the number, not the difference to the previous one
  Tree value;
};

// Returns the bytes. Sets `absolute` of fields that need it.
std::vector<std::byte> WriteTree(Tree& tree);

// Returns the FileMetaData of a Parquet file with `row_groups` times `columns` column chunks, and
// with fields of no version of Parquet. Some chunks have a filter.
Tree RandomFooter(std::mt19937_64& random, size_t row_groups, size_t columns);

// Returns the ColumnMetaData in such a tree.
Tree& MetaDataOf(Tree& footer, size_t row_group, size_t column);

// Returns a field with an integer.
TreeField IntegerField(int16_t id, uint8_t type, int64_t value);

}  // namespace tamis::parquet

#endif  // TAMIS_TESTS_PARQUET_RANDOM_THRIFT_H_
