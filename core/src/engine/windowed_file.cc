// Files of windows: core/FORMAT.md, "Windows".
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "core/src/file/atomic_file.h"
#include "core/src/file/field_check.h"
#include "core/src/file/file_format.h"
#include "core/src/file/header_fields.h"
#include "core/src/file/regular_file.h"
#include "tamis/detail/str_cat.h"
#include "tamis/engine/windowed_filter.h"
#include "tamis/error.h"
#include "tamis/filters/any_filter.h"
#include "tamis/filters/serialize.h"

namespace tamis {

using detail::FieldCheck;
using detail::GetField;
using detail::Padded;
using detail::PutField;

namespace {

namespace fs = std::filesystem;
using std::chrono::nanoseconds;

constexpr uint32_t kWindowVersion = 1;
constexpr size_t kWindowHeaderBytes = 128;
constexpr size_t kTrailerBytes = 8;

// The offsets of the fields.
namespace at {
constexpr size_t kMagic = 0;
constexpr size_t kVersion = 8;
constexpr size_t kHeaderLength = 12;
constexpr size_t kFilterKind = 16;
constexpr size_t kFilters = 20;
constexpr size_t kWindow = 24;
constexpr size_t kSpan = 32;
constexpr size_t kTime = 40;
constexpr size_t kHasTime = 48;
constexpr size_t kReserved1 = 52;
constexpr size_t kFilterLength = 56;
constexpr size_t kReserved2 = 64;
constexpr size_t kHeaderChecksum = 120;
}  // namespace at

using Bytes = std::array<std::byte, kWindowHeaderBytes>;

// A header, and the length of each filter's file.
struct Layout {
  WindowHeader header;
  uint64_t filter_bytes;

  uint64_t FilterAt(uint32_t i) const { return kWindowHeaderBytes + i * Padded(filter_bytes); }
};

Bytes Encode(const Layout& layout) {
  const WindowHeader& header = layout.header;
  Bytes bytes{};
  std::memcpy(bytes.data(), detail::kWindowMagic.data(), detail::kWindowMagic.size());
  PutField(bytes, at::kVersion, kWindowVersion);
  PutField(bytes, at::kHeaderLength, uint32_t{kWindowHeaderBytes});
  PutField(bytes, at::kFilterKind, header.kind);
  PutField(bytes, at::kFilters, header.filters);
  PutField(bytes, at::kWindow, header.window);
  PutField(bytes, at::kSpan, int64_t{header.span.count()});
  PutField(bytes, at::kTime, int64_t{header.time.value_or(nanoseconds(0)).count()});
  PutField(bytes, at::kHasTime, uint32_t{header.time.has_value()});
  PutField(bytes, at::kFilterLength, layout.filter_bytes);
  PutField(bytes, at::kHeaderChecksum, XXH3_64bits(bytes.data(), at::kHeaderChecksum));
  return bytes;
}

// Decodes and checks the header of a file of `size` bytes.
Layout Decode(const Bytes& bytes, uint64_t size, const FieldCheck& check) {
  const auto equal = [&](const char* field, size_t at, uint64_t value, uint64_t wanted) {
    check.Equal(field, at, value, wanted);
  };
  if (std::memcmp(bytes.data(), detail::kWindowMagic.data(), detail::kWindowMagic.size()) != 0) {
    check.Fail(ErrorCode::kCorrupt, "magic", at::kMagic, "is not the magic number of a window");
  }
  check.Equal("version", at::kVersion, GetField<uint32_t>(bytes, at::kVersion), kWindowVersion,
              ErrorCode::kUnsupported);
  if (GetField<uint64_t>(bytes, at::kHeaderChecksum) !=
      XXH3_64bits(bytes.data(), at::kHeaderChecksum)) {
    check.Fail(ErrorCode::kCorrupt, "header checksum", at::kHeaderChecksum,
               "does not match the header");
  }
  equal("header length", at::kHeaderLength, GetField<uint32_t>(bytes, at::kHeaderLength),
        kWindowHeaderBytes);
  equal("reserved", at::kReserved1, GetField<uint32_t>(bytes, at::kReserved1), 0);
  for (size_t i = at::kReserved2; i < at::kHeaderChecksum; i += 8) {
    equal("reserved", i, GetField<uint64_t>(bytes, i), 0);
  }
  Layout layout{};
  WindowHeader& header = layout.header;
  header.kind = GetField<FilterKind>(bytes, at::kFilterKind);
  if (header.kind != SplitBlockBloomFilter::kKind && header.kind != BloomFilter::kKind) {
    check.Fail(ErrorCode::kUnsupported, "filter kind", at::kFilterKind,
               detail::StrCat("is ", static_cast<uint32_t>(header.kind),
                              ", allowed: ", static_cast<uint32_t>(SplitBlockBloomFilter::kKind),
                              " or ", static_cast<uint32_t>(BloomFilter::kKind)));
  }
  header.filters = GetField<uint32_t>(bytes, at::kFilters);
  check.InRange("filters", at::kFilters, header.filters, windowed::kMinFilters,
                windowed::kMaxFilters);
  header.window = GetField<uint64_t>(bytes, at::kWindow);
  check.InRange("window", at::kWindow, header.window, 1, ~uint64_t{0});
  const auto span = GetField<uint64_t>(bytes, at::kSpan);
  check.InRange("span", at::kSpan, span, 0, static_cast<uint64_t>(windowed::kMaxSpan.count()));
  header.span = nanoseconds(static_cast<int64_t>(span));
  const auto has_time = GetField<uint32_t>(bytes, at::kHasTime);
  check.InRange("time flag", at::kHasTime, has_time, 0, span != 0 ? 1 : 0);
  const auto time = GetField<int64_t>(bytes, at::kTime);
  if (has_time != 0) {
    header.time = nanoseconds(time);
  } else {
    equal("time", at::kTime, static_cast<uint64_t>(time), 0);
  }
  layout.filter_bytes = GetField<uint64_t>(bytes, at::kFilterLength);
  const uint64_t room = (size - kWindowHeaderBytes - kTrailerBytes) / header.filters;
  check.InRange("filter length", at::kFilterLength, layout.filter_bytes, detail::kHeaderBytes2,
                room);
  const uint64_t wanted = layout.FilterAt(header.filters) + kTrailerBytes;
  if (size != wanted) {
    check.Fail(ErrorCode::kCorrupt, "file length", std::min(size, wanted),
               detail::StrCat("must be ", wanted, ", but the file has ", size, " bytes"));
  }
  return layout;
}

Layout ReadLayout(const detail::RegularFile& file, Bytes& bytes) {
  const FieldCheck check{file.path()};
  if (file.bytes() < kWindowHeaderBytes + kTrailerBytes) {
    check.Fail(ErrorCode::kCorrupt, "file length", file.bytes(),
               detail::StrCat("a window has at least ", kWindowHeaderBytes + kTrailerBytes,
                              " bytes, but the file has ", file.bytes()));
  }
  file.Read(bytes, 0);
  return Decode(bytes, file.bytes(), check);
}

// The checksum at the end: of the header and of the headers of all filters.
class HeadersChecksum {
 public:
  explicit HeadersChecksum(const Bytes& header) : bytes_(header.begin(), header.end()) {}

  void Add(std::span<const std::byte> filter) {
    const auto header = filter.first(detail::kHeaderBytes2);
    bytes_.insert(bytes_.end(), header.begin(), header.end());
  }
  uint64_t Value() const { return XXH3_64bits(bytes_.data(), bytes_.size()); }

 private:
  std::vector<std::byte> bytes_;
};

// Loads the filter at `offset` of the file.
template <typename F>
F LoadOne(std::span<const std::byte> bytes, uint64_t offset, const fs::path& path,
          const LoadOptions& options) {
  try {
    const AnyFilter filter = tamis::Load(bytes, options);
    if (F* const found = filter.As<F>()) return std::move(*found);
  } catch (const FormatError& error) {
    detail::ThrowFormatError(path, error.code(), error.check(), offset + error.offset(),
                             "a filter of the window is damaged");
  }
  detail::ThrowFormatError(path, ErrorCode::kCorrupt, "filter kind", offset,
                           "differs from the kind in the header of the window");
}

}  // namespace

template <typename F>
void WindowedFilter<F>::Save(const fs::path& path, const SaveOptions& options) const {
  if (options.version == 1) {
    throw Error(ErrorCode::kInvalidArgument, "a window cannot be saved in version 1");
  }
  const Layout layout{{F::kKind, static_cast<uint32_t>(filters_.size()), window_, span_, time_},
                      SerializedBytes(filters_.front(), options)};
  const auto write = [&](os::TemporaryFile& file) {
    const Bytes header = Encode(layout);
    HeadersChecksum checksum(header);
    file.Write(header);
    for (size_t i = 1; i <= filters_.size(); ++i) {  // the oldest first
      std::vector<std::byte> bytes = Serialize(filters_[(newest_ + i) % filters_.size()], options);
      checksum.Add(bytes);
      bytes.resize(Padded(bytes.size()));
      file.Write(bytes);
    }
    const uint64_t sum = checksum.Value();
    file.Write(std::as_bytes(std::span(&sum, 1)));
  };
  detail::WriteFileAtomicallyBy(path, write, options);
}

template <typename F>
WindowedFilter<F> WindowedFilter<F>::Load(const fs::path& path, const LoadOptions& options) {
  const detail::RegularFile file(path);
  const FieldCheck check{path};
  Bytes bytes;
  const Layout layout = ReadLayout(file, bytes);
  const WindowHeader& header = layout.header;
  if (header.kind != F::kKind) {
    check.Fail(ErrorCode::kUnsupported, "filter kind", at::kFilterKind,
               "is not the kind of this WindowedFilter");
  }
  const os::Mapping mapping = file.Map();
  const std::span<const std::byte> mapped = mapping.bytes();
  HeadersChecksum checksum(bytes);
  for (uint32_t i = 0; i < header.filters; ++i) checksum.Add(mapped.subspan(layout.FilterAt(i)));
  const uint64_t end = layout.FilterAt(header.filters);
  if (GetField<uint64_t>(mapped, end) != checksum.Value()) {
    check.Fail(ErrorCode::kCorrupt, "headers checksum", end,
               "does not match the headers of the window and of its filters");
  }
  std::vector<F> filters;
  for (uint32_t i = 0; i < header.filters; ++i) {
    const uint64_t begin = layout.FilterAt(i);
    filters.push_back(LoadOne<F>(mapped.subspan(begin, layout.filter_bytes), begin, path, options));
    for (uint64_t j = begin + layout.filter_bytes; j < layout.FilterAt(i + 1); ++j) {
      check.Equal("padding", j, static_cast<uint64_t>(mapped[j]), 0);
    }
  }
  WindowedFilter window({.window = header.window, .span = header.span, .filters = header.filters},
                        std::move(filters));
  window.newest_ = header.filters - 1;
  window.time_ = header.time;
  for (uint32_t i = 0; i < header.filters; ++i) {
    const F& filter = window.filters_[i];
    const FieldCheck of_filter{path, layout.FilterAt(i)};
    of_filter.Equal("capacity", detail::offset::kCapacity, filter.capacity(), window.share_);
    // A full filter is no longer the newest.
    const uint64_t most = window.limit_ - (i + 1 == header.filters ? 1 : 0);
    of_filter.InRange("inserted", detail::offset::kInserted, filter.inserted_count(), 0, most);
    if (!(filter.hash() == window.hash())) {
      of_filter.Fail(ErrorCode::kCorrupt, "hash kind", detail::offset::kHashKind,
                     "the filters of the window have different hashes");
    }
  }
  return window;
}

template void WindowedFilter<SplitBlockBloomFilter>::Save(const fs::path&,
                                                          const SaveOptions&) const;
template void WindowedFilter<BloomFilter>::Save(const fs::path&, const SaveOptions&) const;
template WindowedFilter<SplitBlockBloomFilter> WindowedFilter<SplitBlockBloomFilter>::Load(
    const fs::path&, const LoadOptions&);
template WindowedFilter<BloomFilter> WindowedFilter<BloomFilter>::Load(const fs::path&,
                                                                       const LoadOptions&);

bool IsWindow(const fs::path& path) {
  const detail::RegularFile file(path);
  std::array<std::byte, detail::kWindowMagic.size()> magic;
  if (file.bytes() < magic.size()) return false;
  file.Read(magic, 0);
  return std::memcmp(magic.data(), detail::kWindowMagic.data(), magic.size()) == 0;
}

WindowHeader ReadWindowHeader(const fs::path& path) {
  Bytes bytes;
  return ReadLayout(detail::RegularFile(path), bytes).header;
}

}  // namespace tamis
