// Numbers of the fields of parquet.thrift that this library reads.
#ifndef TAMIS_PARQUET_SRC_FIELDS_H_
#define TAMIS_PARQUET_SRC_FIELDS_H_

#include <cstdint>

namespace tamis::parquet::fields {

namespace file_meta_data {
enum : int16_t {
  kSchema = 2,
  kNumRows = 3,
  kRowGroups = 4,
  kKeyValueMetadata = 5,
  kCreatedBy = 6,
  kColumnOrders = 7,
  kEncryptionAlgorithm = 8,
  kFooterSigningKeyMetadata = 9
};
}
namespace schema_element {
enum : int16_t {
  kType = 1,
  kTypeLength = 2,
  kName = 4,
  kNumChildren = 5,
  kConvertedType = 6,
  kScale = 7,
  kPrecision = 8,
  kLogicalType = 10
};
}
namespace logical_type {
enum : int16_t {
  kString = 1,
  kMap = 2,
  kList = 3,
  kEnum = 4,
  kDecimal = 5,
  kDate = 6,
  kTime = 7,
  kTimestamp = 8,
  kInteger = 10,
  kUnknown = 11,
  kJson = 12,
  kBson = 13,
  kUuid = 14,
  kFloat16 = 15
};
}
namespace row_group {
enum : int16_t { kColumns = 1, kTotalByteSize = 2, kNumRows = 3, kTotalCompressedSize = 6 };
}
namespace column_chunk {
enum : int16_t { kFilePath = 1, kMetaData = 3, kCryptoMetadata = 8, kEncryptedMetaData = 9 };
}
namespace column_meta_data {
enum : int16_t {
  kType = 1,
  kPath = 3,
  kNumValues = 5,
  kUncompressed = 6,
  kCompressed = 7,
  kDataPage = 9,
  kDictionaryPage = 11,
  kStatistics = 12,
  kEncodingStats = 13,
  kBloomFilterOffset = 14,
  kBloomFilterLength = 15
};
}
namespace page_encoding_stats {
enum : int16_t { kPageType = 1, kEncoding = 2, kCount = 3 };
}
namespace statistics {
enum : int16_t {
  kNulls = 3,
  kDistinct = 4,
  kMaxValue = 5,
  kMinValue = 6,
  kMaxExact = 7,
  kMinExact = 8
};
}
namespace column_order {
enum : int16_t { kTypeOrder = 1 };
}
// BloomFilterHeader. The last three fields are unions, each with one member in Parquet.
namespace bloom_filter_header {
enum : int16_t { kNumBytes = 1, kAlgorithm = 2, kHash = 3, kCompression = 4, kOnlyMember = 1 };
}

}  // namespace tamis::parquet::fields

#endif  // TAMIS_PARQUET_SRC_FIELDS_H_
