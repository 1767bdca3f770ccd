#include "tamis/formats/foreign_filter.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "core/src/bulk/changeable_access.h"
#include "core/src/bulk/queryable_access.h"
#include "formats/src/format_lookup.h"
#include "formats/src/milvus_set.h"
#include "tamis/error.h"
#include "tamis/formats/dcso.h"
#include "tamis/formats/guava.h"
#include "tamis/formats/kudu.h"
#include "tamis/formats/redis_bloom.h"
#include "tamis/formats/redis_cuckoo.h"
#include "tamis/formats/spark.h"
#include "tamis/key_types_text.h"

namespace tamis {
namespace {

namespace fs = std::filesystem;

using Bytes = std::span<const std::byte>;
using Made = std::unique_ptr<FormatFilter>;

// A format, and the functions that make its filters.
struct Row {
  ForeignFormat format;
  Made (*from_bytes)(Bytes, const ForeignLoadOptions&);
  Made (*load)(const fs::path&, const ForeignLoadOptions&);
  Made (*map)(const fs::path&, const ForeignLoadOptions&);  // nullptr unless the class has Map
};

template <typename Source>
constexpr Row RowOf(const char* name, const char* what, KeyTypes key_types) {
  return {{name, what, key_types, Source::kMap != nullptr},
          Source::FromBytes,
          Source::Load,
          Source::kMap};
}

// FromBytes and Load for class F. `more` are the arguments of the class between the source and the
// options.
template <typename F, auto... more>
struct From {
  static Made FromBytes(Bytes bytes, const ForeignLoadOptions& options) {
    return std::make_unique<F>(
        F::FromBytes(bytes, more..., {.memory = options.memory, .backend = options.backend}));
  }
  static Made Load(const fs::path& path, const ForeignLoadOptions& options) {
    return std::make_unique<F>(
        F::Load(path, more..., {.memory = options.memory, .backend = options.backend}));
  }
  static constexpr decltype(&Load) kMap = nullptr;
};

// The same for a class with Map.
template <typename F>
struct FromMapped : From<F> {
  static Made Map(const fs::path& path, const ForeignLoadOptions& options) {
    return std::make_unique<F>(F::Map(path, {.backend = options.backend}));
  }
  static constexpr decltype(&Map) kMap = Map;
};

template <GuavaFunnel funnel>
using Guava = From<GuavaBloomFilter, funnel>;

template <KuduType type>
using Kudu = From<KuduBlockBloomFilter, type>;
template <KeyType form>
using Milvus = From<detail::MilvusSet, form>;

constexpr KeyTypes kIntegers = KeyType::kInteger;
constexpr KeyTypes kStrings = KeyType::kBytes;
constexpr KeyTypes kBoth = detail::kIntegersAndStrings;

constexpr Row kRows[] = {
    RowOf<FromMapped<DcsoBloomFilter>>("dcso", "DCSO bloom, flor, poppy v1", kStrings),
    RowOf<Guava<GuavaFunnel::kBytes>>("guava:bytes", "Guava, byteArrayFunnel", kStrings),
    RowOf<Guava<GuavaFunnel::kInt>>("guava:int", "Guava, integerFunnel", kIntegers),
    RowOf<Guava<GuavaFunnel::kLong>>("guava:long", "Guava, longFunnel", kIntegers),
    RowOf<Guava<GuavaFunnel::kUnencodedChars>>("guava:unencoded-chars",
                                               "Guava, unencodedCharsFunnel", kStrings),
    RowOf<Guava<GuavaFunnel::kUtf8>>("guava:utf8", "Guava, stringFunnel(UTF_8)", kStrings),
    RowOf<Kudu<KuduType::kBytes>>("kudu:bytes", "Kudu, STRING, VARCHAR or BINARY", kStrings),
    RowOf<Kudu<KuduType::kInt16>>("kudu:int16", "Kudu, INT16", kIntegers),
    RowOf<Kudu<KuduType::kInt32>>("kudu:int32", "Kudu, INT32 or DATE", kIntegers),
    RowOf<Kudu<KuduType::kInt64>>("kudu:int64", "Kudu, INT64 or UNIXTIME_MICROS", kIntegers),
    RowOf<Kudu<KuduType::kInt8>>("kudu:int8", "Kudu, INT8", kIntegers),
    RowOf<Milvus<KeyType::kInteger>>("milvus:int64", "Milvus, integers", kIntegers),
    RowOf<Milvus<KeyType::kBytes>>("milvus:utf8", "Milvus, VARCHAR", kStrings),
    RowOf<From<RedisBloomFilter>>("redisbloom", "RedisBloom BF, integers as decimal text", kBoth),
    RowOf<From<RedisCuckooFilter>>("redisbloom-cf", "RedisBloom CF, integers as decimal text",
                                   kBoth),
    RowOf<From<SparkBloomFilter>>("spark:long", "Apache Spark, of integers", kIntegers),
    RowOf<From<SparkBloomFilter>>("spark:string", "Apache Spark, of strings or byte[]", kStrings),
};

constexpr auto kFormats = [] {
  std::array<ForeignFormat, std::size(kRows)> formats{};
  for (size_t i = 0; i < formats.size(); ++i) formats[i] = kRows[i].format;
  return formats;
}();

// Returns the row for `name`, and its format in ForeignFormats.
std::pair<const Row&, const ForeignFormat&> RowNamed(std::string_view name) {
  std::string names;
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (name == kFormats[i].name) return {kRows[i], kFormats[i]};
    names += std::string(names.empty() ? "" : ", ") + kFormats[i].name;
  }
  throw Error(ErrorCode::kInvalidArgument,
              "unknown format \"" + std::string(name) + "\"; allowed: " + names);
}

// Returns the keys. Throws if the format does not have keys of this type, even if its class would
// accept them.
const Keys& Checked(const ForeignFormat& format, const Keys& keys) {
  if (keys.empty() || format.key_types.Has(keys.key_type())) return keys;
  throw Error(ErrorCode::kInvalidArgument,
              std::string("the keys of ") + format.name + " are " + KeyTypesText(format.key_types) +
                  ", but the keys of this call are " +
                  (keys.layout() == KeyLayout::kHashes ? "hashes" : KeyTypesText(keys.key_type())));
}

}  // namespace

std::span<const ForeignFormat> ForeignFormats() noexcept { return kFormats; }

ForeignFilter ForeignFilter::FromBytes(Bytes bytes, std::string_view format,
                                       const ForeignLoadOptions& options) {
  const auto [row, named] = RowNamed(format);
  return ForeignFilter(named, row.from_bytes(bytes, options));
}

ForeignFilter ForeignFilter::Load(const fs::path& path, std::string_view format,
                                  const ForeignLoadOptions& options) {
  const auto [row, named] = RowNamed(format);
  return ForeignFilter(named, row.load(path, options));
}

ForeignFilter ForeignFilter::Map(const fs::path& path, std::string_view format,
                                 const ForeignLoadOptions& options) {
  const auto [row, named] = RowNamed(format);
  if (row.map == nullptr) {
    throw Error(ErrorCode::kUnsupported,
                std::string("filters of ") + named.name + " cannot be mapped, only loaded");
  }
  ForeignFilter filter(named, row.map(path, options));
  filter.mapped_ = true;
  return filter;
}

ForeignFilter::ForeignFilter(const ForeignFormat& format,
                             std::unique_ptr<FormatFilter> filter) noexcept
    : format_(&format), filter_(std::move(filter)) {}

FormatFilter& ForeignFilter::filter() const {
  if (filter_ != nullptr) return *filter_;
  throw Error(ErrorCode::kReadOnly, std::string("the filter of ") + format_->name +
                                        " was moved from, and has no contents");
}

const ForeignFormat& ForeignFilter::format() const noexcept { return *format_; }
uint64_t ForeignFilter::bytes() const noexcept { return filter_ != nullptr ? filter_->bytes() : 0; }
uint64_t ForeignFilter::serialized_bytes() const noexcept {
  return filter_ != nullptr ? filter_->serialized_bytes() : 0;
}
double ForeignFilter::estimated_count() const { return filter().estimated_count(); }
double ForeignFilter::expected_fpr() const { return filter().expected_fpr(); }

std::vector<FormatField> ForeignFilter::fields() const { return filter().fields(); }

QueryTraits ForeignFilter::traits() const noexcept {
  return filter_ != nullptr ? filter_->traits() : QueryTraits();
}

KeyTypes ForeignFilter::key_types() const noexcept { return format().key_types; }

ChangeTraits ForeignFilter::change_traits() const noexcept {
  return filter_ != nullptr ? filter_->change_traits() : FormatFilter::change_traits();
}

void ForeignFilter::Query(const Keys& keys, uint64_t* bits) const {
  detail::QueryableAccess::Query(filter(), Checked(format(), keys), bits);
}

size_t ForeignFilter::Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) {
  return detail::ChangeableAccess::Apply(filter(), change, Checked(format(), keys), outputs);
}

void ForeignFilter::Merge(const ForeignFilter& other) {
  if (&format() != &other.format()) {
    throw Error(ErrorCode::kIncompatible, std::string("filters of the formats ") + format().name +
                                              " and " + other.format().name + " cannot be merged");
  }
  filter().MergeFrom(other.filter());
}

void ForeignFilter::Write(const ByteSink& write) const { filter().Write(write); }

}  // namespace tamis
