#include "tamis/formats/foreign_filter.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "core/src/formats/foreign_formats.h"
#include "core/src/formats/milvus_set.h"
#include "tamis/error.h"
#include "tamis/formats/guava.h"
#include "tamis/formats/kudu.h"

namespace tamis {
namespace {

namespace fs = std::filesystem;

template <typename F>
class Of final : public ForeignFilter::Any {
 public:
  Of(const ForeignFormat& format, F filter) noexcept : Any(format), filter_(std::move(filter)) {}

  uint64_t bytes() const noexcept override { return filter_.bytes(); }
  double estimated_count() const override { return filter_.estimated_count(); }
  double expected_fpr() const override { return filter_.expected_fpr(); }
  size_t Contains(const Keys& keys, Bitmap out) const override {
    return filter_.Contains(keys, out);
  }
  size_t Contains(const Keys& keys, std::span<uint8_t> out) const override {
    return filter_.Contains(keys, out);
  }
  size_t Select(const Keys& keys, std::span<uint64_t> out) const override {
    return filter_.Select(keys, out);
  }
  size_t Count(const Keys& keys) const override { return filter_.Count(keys); }
  size_t Insert(const Keys& keys) override { return filter_.Insert(keys); }
  void Merge(const Any& other) override { filter_.Merge(static_cast<const Of&>(other).filter_); }
  void Write(const ByteSink& write) const override { filter_.Write(write); }
  void Save(const fs::path& path, const SaveOptions& options) const override {
    filter_.Save(path, options);
  }

 private:
  F filter_;
};

using Bytes = std::span<const std::byte>;
using Made = std::unique_ptr<ForeignFilter::Any>;

// A format, and how its filters are made.
struct Row {
  ForeignFormat format;
  Made (*from_bytes)(const ForeignFormat&, Bytes, const ForeignLoadOptions&);
  Made (*load)(const ForeignFormat&, const fs::path&, const ForeignLoadOptions&);
};

// Of a class whose FromBytes and Load take the form of the keys.
template <typename F, auto form>
constexpr Row RowOf(const char* name, const char* what, bool integers) {
  return {{name, what, integers},
          [](const ForeignFormat& format, Bytes bytes, const ForeignLoadOptions& options) -> Made {
            return std::make_unique<Of<F>>(
                format, F::FromBytes(bytes, form, {options.memory, options.backend}));
          },
          [](const ForeignFormat& format, const fs::path& path,
             const ForeignLoadOptions& options) -> Made {
            return std::make_unique<Of<F>>(format,
                                           F::Load(path, form, {options.memory, options.backend}));
          }};
}

using Guava = GuavaBloomFilter;
using Kudu = KuduBlockBloomFilter;
using Milvus = detail::MilvusSet;

constexpr Row kRows[] = {
    RowOf<Guava, GuavaFunnel::kBytes>("guava:bytes", "Guava, byteArrayFunnel", false),
    RowOf<Guava, GuavaFunnel::kInt>("guava:int", "Guava, integerFunnel", true),
    RowOf<Guava, GuavaFunnel::kLong>("guava:long", "Guava, longFunnel", true),
    RowOf<Guava, GuavaFunnel::kUnencodedChars>("guava:unencoded-chars",
                                               "Guava, unencodedCharsFunnel", false),
    RowOf<Guava, GuavaFunnel::kUtf8>("guava:utf8", "Guava, stringFunnel(UTF_8)", false),
    RowOf<Kudu, KuduType::kBytes>("kudu:bytes", "Kudu, STRING, VARCHAR or BINARY", false),
    RowOf<Kudu, KuduType::kInt16>("kudu:int16", "Kudu, INT16", true),
    RowOf<Kudu, KuduType::kInt32>("kudu:int32", "Kudu, INT32 or DATE", true),
    RowOf<Kudu, KuduType::kInt64>("kudu:int64", "Kudu, INT64 or UNIXTIME_MICROS", true),
    RowOf<Kudu, KuduType::kInt8>("kudu:int8", "Kudu, INT8", true),
    RowOf<Milvus, KeyForm::kInteger>("milvus:int64", "Milvus, integers", true),
    RowOf<Milvus, KeyForm::kBytes>("milvus:utf8", "Milvus, VARCHAR", false),
};

constexpr auto kFormats = [] {
  std::array<ForeignFormat, std::size(kRows)> formats{};
  for (size_t i = 0; i < formats.size(); ++i) formats[i] = kRows[i].format;
  return formats;
}();

// The row of a name, and its format as ForeignFormats has it.
std::pair<const Row&, const ForeignFormat&> RowNamed(std::string_view name) {
  std::string names;
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (name == kFormats[i].name) return {kRows[i], kFormats[i]};
    names += std::string(names.empty() ? "" : ", ") + kFormats[i].name;
  }
  throw Error(ErrorCode::kInvalidArgument,
              "there is no format \"" + std::string(name) + "\"; there are " + names);
}

}  // namespace

std::span<const ForeignFormat> ForeignFormats() noexcept { return kFormats; }

ForeignFilter ForeignFilter::FromBytes(Bytes bytes, std::string_view format,
                                       const ForeignLoadOptions& options) {
  const auto [row, named] = RowNamed(format);
  return ForeignFilter(row.from_bytes(named, bytes, options));
}

ForeignFilter ForeignFilter::Load(const fs::path& path, std::string_view format,
                                  const ForeignLoadOptions& options) {
  const auto [row, named] = RowNamed(format);
  return ForeignFilter(row.load(named, path, options));
}

ForeignFilter::ForeignFilter(std::unique_ptr<Any> any) noexcept : any_(std::move(any)) {}
ForeignFilter::ForeignFilter(ForeignFilter&&) noexcept = default;
ForeignFilter& ForeignFilter::operator=(ForeignFilter&&) noexcept = default;
ForeignFilter::~ForeignFilter() = default;

const ForeignFormat& ForeignFilter::format() const noexcept { return any_->format(); }
uint64_t ForeignFilter::bytes() const noexcept { return any_->bytes(); }
double ForeignFilter::estimated_count() const { return any_->estimated_count(); }
double ForeignFilter::expected_fpr() const { return any_->expected_fpr(); }

size_t ForeignFilter::Contains(const Keys& keys, Bitmap out) const {
  return any_->Contains(keys, out);
}

size_t ForeignFilter::Contains(const Keys& keys, std::span<uint8_t> out) const {
  return any_->Contains(keys, out);
}

size_t ForeignFilter::Select(const Keys& keys, std::span<uint64_t> out) const {
  return any_->Select(keys, out);
}

size_t ForeignFilter::Count(const Keys& keys) const { return any_->Count(keys); }

size_t ForeignFilter::Insert(const Keys& keys) { return any_->Insert(keys); }

void ForeignFilter::Merge(const ForeignFilter& other) {
  if (&format() != &other.format()) {
    throw Error(ErrorCode::kIncompatible, std::string("filters of the formats ") + format().name +
                                              " and " + other.format().name + " cannot be united");
  }
  any_->Merge(*other.any_);
}

std::vector<std::byte> ForeignFilter::ToBytes() const {
  std::vector<std::byte> bytes;
  any_->Write([&](Bytes piece) { bytes.insert(bytes.end(), piece.begin(), piece.end()); });
  return bytes;
}

void ForeignFilter::Save(const fs::path& path, const SaveOptions& options) const {
  any_->Save(path, options);
}

}  // namespace tamis
