#include "tamis/filters/filter.h"

#include <atomic>
#include <utility>

#include "core/src/base/hash_check.h"
#include "core/src/bulk/output.h"
#include "core/src/file/atomic_file.h"
#include "core/src/file/file_format.h"
#include "core/src/file/mapped_from.h"
#include "core/src/filters/base/filter_access.h"
#include "core/src/filters/base/filter_observers.h"
#include "tamis/backends.h"
#include "tamis/detail/filter_base.h"
#include "tamis/error.h"

namespace tamis {

using detail::Batch;
using detail::FilterAccess;
using detail::FilterBase;
using detail::Kernels;

Filter::~Filter() = default;

ChangeableFilter* Filter::changeable() noexcept { return nullptr; }

uint64_t Filter::capacity() const noexcept {
  return static_cast<const FilterBase*>(this)->capacity_;
}

uint64_t Filter::inserted_count() const noexcept {
  return static_cast<const FilterBase*>(this)->inserted_;
}

double Filter::bits_per_key() const noexcept {
  return 8.0 * static_cast<double>(bytes()) / static_cast<double>(capacity());
}

const HashSpec& Filter::hash() const noexcept {
  return static_cast<const FilterBase*>(this)->hash_;
}

KeyTypes Filter::key_types() const noexcept {
  return static_cast<const FilterBase*>(this)->key_types_;
}

void Filter::set_key_types(KeyTypes types) noexcept {
  static_cast<FilterBase*>(this)->key_types_ = types;
}

bool Filter::read_only() const noexcept {
  return static_cast<const FilterBase*>(this)->storage_.read_only();
}

bool Filter::moved_from() const noexcept {
  return static_cast<const FilterBase*>(this)->storage_.moved_from();
}

std::span<const std::byte> Filter::payload() const noexcept {
  const detail::Storage& storage = static_cast<const FilterBase*>(this)->storage_;
  return {storage.data(), storage.size()};
}

const Backend& Filter::backend() const noexcept {
  return *static_cast<const FilterBase*>(this)->backend_;
}

bool Filter::Contains(uint64_t key) const noexcept {
  return ContainsHash(static_cast<const FilterBase*>(this)->hasher_(key));
}

bool Filter::Contains(std::string_view key) const noexcept {
  return ContainsHash(HashBytes(key, hash()));
}

bool Filter::ContainsHash(uint64_t hash) const noexcept {
  return static_cast<const FilterBase*>(this)->ProbeOne(hash);
}

namespace detail {

FilterBase::FilterBase(uint64_t capacity, HashSpec hash, Storage storage, const Backend* backend)
    : capacity_(capacity),
      hash_(CheckedHash(hash)),
      hasher_(hash),
      backend_(backend != nullptr ? backend : &DefaultBackend()),
      storage_(std::move(storage)) {}

FilterBase::FilterBase(const FileHeader& header, Storage storage, const Backend* backend)
    : FilterBase(header.capacity, header.hash, std::move(storage), backend) {
  inserted_ = header.inserted;
  key_types_ = header.key_types;
  has_secret_ = header.has_secret;
}

// A moved-from filter is an empty filter whose storage points at one cache line. Each kind sets the
// geometry that fits this size.
FilterBase::FilterBase(FilterBase&& other) noexcept
    : Filter(std::move(other)),
      capacity_(std::exchange(other.capacity_, 1)),
      inserted_(std::exchange(other.inserted_, 0)),
      key_types_(std::exchange(other.key_types_, {})),
      has_secret_(other.has_secret_),
      shared_(std::exchange(other.shared_, false)),
      hash_(other.hash_),
      hasher_(other.hasher_),
      backend_(other.backend_),
      storage_(std::move(other.storage_)),
      identity_(std::exchange(other.identity_, NewIdentity())),
      changes_(std::exchange(other.changes_, 0)) {}

FilterBase& FilterBase::operator=(FilterBase&& other) noexcept {
  Filter::operator=(std::move(other));
  capacity_ = std::exchange(other.capacity_, 1);
  inserted_ = std::exchange(other.inserted_, 0);
  key_types_ = std::exchange(other.key_types_, {});
  has_secret_ = other.has_secret_;
  has_views_ = false;
  shared_ = std::exchange(other.shared_, false);
  hash_ = other.hash_;
  hasher_ = other.hasher_;
  backend_ = other.backend_;
  storage_ = std::move(other.storage_);
  TellFilterObservers(identity_);
  identity_ = std::exchange(other.identity_, NewIdentity());
  changes_ = std::exchange(other.changes_, 0);
  return *this;
}

FilterBase::~FilterBase() { TellFilterObservers(identity_); }

uint64_t FilterBase::bytes() const noexcept { return storage_.size(); }

void FilterBase::set_backend(const Backend& backend) noexcept { backend_ = &backend; }

QueryTraits FilterBase::traits() const noexcept { return {.backend = backend_}; }

void FilterBase::Query(const Keys& keys, uint64_t* bits) const {
  FilterAccess::Query(*this, *backend_->kernels, keys, bits);
}

const Filter* FilterBase::engine_filter() const noexcept { return this; }

uint64_t FilterBase::NewIdentity() noexcept {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

void FilterBase::RequireWritable() const {
  if (read_only()) {
    throw Error(ErrorCode::kReadOnly,
                "the filter is mapped from a file, or was moved from, and cannot be changed");
  }
}

void FilterBase::RequireIntact() const { detail::RequireIntact(storage_); }

FileHeader FilterBase::HeaderOf(const std::array<uint64_t, 3>& geometry) const noexcept {
  FileHeader header;
  header.kind = kind();
  header.hash = hash_;
  header.geometry = geometry;
  header.capacity = capacity_;
  header.inserted = inserted_;
  header.payload_bytes = bytes();
  header.key_types = key_types_;
  header.has_secret = has_secret_;
  return header;
}

void FilterBase::AddCounts(const FilterBase& other) noexcept {
  inserted_ += other.inserted_;
  key_types_.Add(other.key_types_);
  Changed();
}

void FilterBase::Save(const std::filesystem::path& path, const SaveOptions& options) const {
  struct ToFile final : PartsWriter {
    ToFile(const std::filesystem::path& to, const SaveOptions& how) : path(to), options(how) {}
    void Write(std::span<const std::span<const std::byte>> parts) const override {
      WriteFileAtomically(path, parts, options);
    }
    const std::filesystem::path& path;
    const SaveOptions& options;
  };
  Write(options, ToFile(path, options));
}

void FilterBase::Write(const SaveOptions& options, const PartsWriter& writer) const {
  if (shared_) {
    throw Error(ErrorCode::kInvalidArgument,
                "the filter belongs to a concurrent filter, and may change while it is written: "
                "call Save of the concurrent filter");
  }
  if (storage_.moved_from()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "a filter that was moved from has no keys to save: save the one that it was moved to");
  }
  WriteFilter(Header(), storage_, options, writer);
}

uint64_t FilterBase::FileBytes(const SaveOptions& options) const {
  return Extent{HeaderToSave(Header(), options)}.end();
}

}  // namespace detail
}  // namespace tamis
