#include "bindings/c/redis/src/local.h"

#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "bindings/c/src/guard.h"
#include "tamis/c/file.h"

namespace tamis::c {
namespace {

// As memory that is to be mapped begins.
constexpr std::align_val_t kAlignment{64};

// Of functions of libtamis_c, which have kept the message.
void RequireOk(tamis_status status) {
  if (status == TAMIS_OK) return;
  const std::optional<ErrorCode> code = CodeOf(status);
  if (!code) throw std::runtime_error(tamis_last_error());
  throw Error(*code, tamis_last_error());
}

void RequireCompatible(const tamis_filter_info& info, const HashSpec& hash) {
  if (info.kind != static_cast<uint32_t>(FilterKind::kSplitBlock)) {
    Refuse(std::string("the filter is of the kind ") +
               FilterKindName(static_cast<FilterKind>(info.kind)) +
               ", and those on servers are split-block filters",
           ErrorCode::kIncompatible);
  }
  if (info.hash_kind != static_cast<uint32_t>(hash.kind) || info.seed != hash.seed) {
    Refuse("the filter has another hash than the one on the servers", ErrorCode::kIncompatible);
  }
}

// What libtamis_c makes a filter of: the bytes of a file without a secret, which it is told.
class Copy {
 public:
  explicit Copy(const SplitBlockBloomFilter& filter) {
    SaveOptions save;
    if (const HashSpec& hash = filter.hash(); IsKeyed(hash.kind)) {
      save.with_secret = false;
      options_.has_secret = 1;
      options_.secret_low = hash.secret.low;
      options_.secret_high = hash.secret.high;
    }
    size_ = SerializedBytes(filter, save);
    bytes_ = std::make_unique_for_overwrite<std::byte[]>(size_);
    Serialize(filter, std::span(bytes_.get(), size_), save);
  }

  tamis_filter* MakeHandle() const {
    tamis_filter* handle = nullptr;
    RequireOk(tamis_filter_deserialize(bytes_.get(), size_, &options_, &handle));
    return handle;
  }

 private:
  tamis_open_options options_ = TAMIS_INIT(tamis_open_options);
  uint64_t size_ = 0;
  std::unique_ptr<std::byte[]> bytes_;
};

}  // namespace

tamis_filter* LocalHandle(const SplitBlockBloomFilter& filter) { return Copy(filter).MakeHandle(); }

tamis_filter* LocalHandle(SplitBlockBloomFilter&& filter) {
  const Copy copy(filter);
  { const SplitBlockBloomFilter gone = std::move(filter); }
  return copy.MakeHandle();
}

void Local::Aligned::operator()(std::byte* bytes) const { ::operator delete(bytes, kAlignment); }

Local::Local(const tamis_filter* handle, const HashSpec& hash) {
  RequireArray<void*>(handle, "local");
  auto info = TAMIS_INIT(tamis_filter_info);
  RequireOk(tamis_filter_get_info(handle, &info));
  RequireCompatible(info, hash);
  auto save = TAMIS_INIT(tamis_save_options);
  MapOptions map;
  if (IsKeyed(hash.kind)) {
    save.with_secret = -1;
    map.secret = hash.secret;
  }
  uint64_t size = 0;
  RequireOk(tamis_filter_serialized_bytes(handle, &save, &size));
  bytes_.reset(static_cast<std::byte*>(::operator new(size, kAlignment)));
  RequireOk(tamis_filter_serialize(handle, &save, bytes_.get(), size, nullptr));
  filter_.emplace(Map(std::span<const std::byte>(bytes_.get(), size), map));
}

}  // namespace tamis::c
