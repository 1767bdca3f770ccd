#include "tamis/engine/windowed_filter.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "core/src/bulk/batches.h"
#include "core/src/bulk/outcomes.h"
#include "core/src/bulk/output.h"
#include "core/src/bulk/valid_keys.h"
#include "core/src/file/atomic_file.h"
#include "core/src/file/field_check.h"
#include "core/src/file/file_format.h"
#include "core/src/file/header_fields.h"
#include "core/src/file/regular_file.h"
#include "tamis/detail/str_cat.h"
#include "tamis/engine/engine.h"
#include "tamis/error.h"
#include "tamis/filters/any_filter.h"
#include "tamis/filters/filter_kinds.h"
#include "tamis/filters/serialize.h"
#include "tamis/filters/sizing.h"
#include "tamis/units.h"

namespace tamis {

using detail::Batch;
using detail::FieldCheck;
using detail::GetField;
using detail::Outcomes;
using detail::Padded;
using detail::PutField;

namespace {

using std::chrono::nanoseconds;

constexpr size_t kSlice = size_t{1} << 16;  // keys to hash at a time

// Rounds down, also for negative times.
int64_t NumberOfGeneration(nanoseconds time, nanoseconds generation) {
  const int64_t quotient = time / generation;
  return quotient - (time % generation < nanoseconds(0) ? 1 : 0);
}

void CheckWindow(const WindowOptions& options) {
  const auto refuse = [](const std::string& what, const std::string& range) {
    throw Error(ErrorCode::kInvalidArgument, what + " is out of range " + range);
  };
  if (options.window < 1) refuse("a window of 0 keys", "[1, 2^64)");
  const std::string filters = detail::StrCat("a window of ", options.filters, " filters");
  if (options.filters < windowed::kMinFilters || options.filters > windowed::kMaxFilters) {
    refuse(filters, detail::StrCat("[", windowed::kMinFilters, ", ", windowed::kMaxFilters, "]"));
  }
  if (options.span < nanoseconds(0) || options.span > windowed::kMaxSpan) {
    refuse(detail::StrCat("a window of ", options.span.count(), " ns"),
           detail::StrCat("[0, ", windowed::kMaxSpan.count(), "]"));
  }
  const double least = options.filters * kMinFpr;
  if (!(options.fpr >= least && options.fpr <= kMaxFpr)) {  // also refuses NaN
    refuse("a false-positive rate of " + NumberText(options.fpr) + " of " + filters,
           "[" + NumberText(least) + ", " + NumberText(kMaxFpr) + "]");
  }
}

}  // namespace

template <typename F>
WindowedFilter<F>::WindowedFilter(const WindowOptions& options, std::vector<F> filters)
    : window_(options.window), span_(options.span), filters_(std::move(filters)) {
  CheckWindow(options);
  const uint32_t others = options.filters - 1;
  share_ = window_ / others + (window_ % others != 0);
  const bool by_time = span_ != nanoseconds(0);
  limit_ = by_time ? std::numeric_limits<uint64_t>::max() : share_;
  generation_ = span_ / others + nanoseconds(span_ % others != nanoseconds(0) ? 1 : 0);
}

template <typename F>
WindowedFilter<F>::WindowedFilter(const WindowOptions& options)
    : WindowedFilter(options, std::vector<F>()) {
  const uint32_t g = options.filters;
  const FilterOptions made = {.capacity = share_,
                              .fpr = -std::expm1(std::log1p(-options.fpr) / g),
                              .hash = options.hash,
                              .memory = options.memory,
                              .backend = options.backend};
  filters_.reserve(g);
  while (filters_.size() < g) filters_.emplace_back(made);
}

template <typename F>
uint64_t WindowedFilter<F>::bytes() const noexcept {
  uint64_t sum = 0;
  for (const F& filter : filters_) sum += filter.bytes();
  return sum;
}

template <typename F>
double WindowedFilter<F>::expected_fpr() const {
  double log_of_none = 0;
  for (const F& filter : filters_) log_of_none += std::log1p(-FprByCount(filter));
  return std::max(0.0, -std::expm1(log_of_none));  // never -0
}

template <typename F>
KeyTypes WindowedFilter<F>::key_types() const noexcept {
  KeyTypes types;
  for (const F& filter : filters_) types.Add(filter.key_types());
  return types;
}

template <typename F>
size_t WindowedFilter<F>::Contains(Keys keys, Bitmap out, const Engine* engine) const {
  const auto query = [&](const Keys& some, uint64_t* bits) { Query(some, bits, engine); };
  return detail::Answer(query, traits(), keys, out);
}

template <typename F>
size_t WindowedFilter<F>::InsertIfAbsent(Keys keys, Bitmap fresh, const Engine* engine) {
  return Apply(Change::kInsertIfAbsent, keys, detail::BitsFor(keys.size(), fresh), engine);
}

template <typename F>
size_t WindowedFilter<F>::Insert(Keys keys, const Engine* engine) {
  return Apply(Change::kInsert, keys, {}, engine);
}

template <typename F>
void WindowedFilter<F>::Clear() {
  for (F& filter : filters_) filter.Clear();
  time_.reset();
}

template <typename F>
void WindowedFilter<F>::Advance(nanoseconds now) {
  if (span_ == nanoseconds(0)) {
    throw Error(ErrorCode::kInvalidArgument,
                "a window by keys has no time: set WindowOptions::span");
  }
  if (time_ && now <= *time_) return;
  if (time_) {
    const auto begun = static_cast<uint64_t>(NumberOfGeneration(now, generation_)) -
                       static_cast<uint64_t>(NumberOfGeneration(*time_, generation_));
    for (uint64_t i = 0; i < std::min<uint64_t>(begun, filters_.size()); ++i) Turn();
  }
  time_ = now;
}

template <typename F>
void WindowedFilter<F>::Turn() {
  newest_ = (newest_ + 1) % filters_.size();
  if (Newest().inserted_count() != 0) Newest().Clear();
}

template <typename F>
void WindowedFilter<F>::Query(const Keys& keys, uint64_t* bits, const Engine* engine) const {
  const detail::Kernels& kernels = *traits().backend->kernels;
  std::vector<uint64_t> hashes(std::min(keys.size(), kSlice));
  for (size_t begin = 0; begin < keys.size(); begin += kSlice) {
    const Keys some = keys.Slice(begin, kSlice);
    detail::ForEachBatchAndNulls(
        kernels, some, hash(), detail::kUnlimited,
        [&](const Batch& batch, size_t at) { kernels.hash(batch, hashes.data() + at); });
    Find(Hashes{std::span(hashes).first(some.size())}, nullptr, bits + begin / 64, engine);
  }
  detail::ClearNulls(keys, 0, keys.size(), bits);
}

// Inserts the keys in pieces. A piece ends where the newest filter may become full, so that the
// oldest filter is only cleared between two pieces.
template <typename F>
size_t WindowedFilter<F>::Apply(Change change, const Keys& keys, const ChangeOutputs& outputs,
                                const Engine* engine) {
  const detail::Kernels& kernels = *traits().backend->kernels;
  std::vector<uint64_t> hashes(std::min(keys.size(), kSlice));
  uint64_t inserted[kSlice / 64], older[kSlice / 64];
  const auto insert = [&](std::span<const uint64_t> some, uint64_t first, Outcomes& outcomes) {
    size_t num_fresh = 0;
    for (size_t at = 0, n = 0; at < some.size(); at += n) {
      n = std::min<uint64_t>(limit_ - Newest().inserted_count(), some.size() - at);
      const Hashes hashes_of_piece{some.subspan(at, n)};
      const Keys piece = Keys(hashes_of_piece).WithKeyType(keys.key_type());
      const Bitmap out({inserted, BitmapWords(n)});
      engine != nullptr ? engine->InsertIfAbsent(Newest(), piece, out)
                        : Newest().InsertIfAbsent(piece, out);
      if (change == Change::kInsertIfAbsent) {
        Find(hashes_of_piece, &Newest(), older, engine);
        for (size_t i = 0; i < BitmapWords(n); ++i) inserted[i] &= ~older[i];
        outcomes.AddFresh(first + at, inserted, n);
        num_fresh += kernels.popcount(inserted, BitmapWords(n));
      }
      if (Newest().inserted_count() >= limit_) Turn();
    }
    return change == Change::kInsert ? some.size() : num_fresh;
  };
  return detail::ForValidKeys(
      keys, hash(), outputs, [&](uint64_t n, const detail::BatchSource& source, Outcomes outcomes) {
        uint64_t done = 0;
        for (uint64_t begin = 0; begin < n; begin += kSlice) {
          const size_t size = std::min<uint64_t>(kSlice, n - begin);
          source(kernels, begin, size, [&](const Batch& batch, uint64_t index) {
            kernels.hash(batch, hashes.data() + (index - begin));
          });
          done += insert(std::span(hashes).first(size), begin, outcomes);
        }
        return done;
      });
}

template <typename F>
void WindowedFilter<F>::Find(Hashes hashes, const F* except, uint64_t* bits,
                             const Engine* engine) const {
  const size_t words = BitmapWords(hashes.values.size());
  uint64_t found[kSlice / 64];
  const Bitmap out({found, words});
  std::fill_n(bits, words, 0);
  for (const F& filter : filters_) {
    if (&filter == except) continue;
    engine != nullptr ? engine->Contains(filter, hashes, out) : filter.Contains(hashes, out);
    for (size_t i = 0; i < words; ++i) bits[i] |= found[i];
  }
}

// ---- Files: core/FORMAT.md, "Windows".

namespace {

namespace fs = std::filesystem;

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

template class WindowedFilter<SplitBlockBloomFilter>;
template class WindowedFilter<BloomFilter>;

}  // namespace tamis
