#include "formats/src/milvus_set.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/src/bulk/changeable_access.h"
#include "core/src/bulk/valid_keys.h"
#include "tamis/error.h"

namespace tamis::detail {

MilvusSet MilvusSet::FromBytes(std::span<const std::byte> bytes, KeyType form,
                               const Options& options) {
  return MilvusSet(form, milvus::FromBytes(bytes, options.memory, options.backend),
                   milvus::ReadHeader(bytes));
}

MilvusSet MilvusSet::Load(const std::filesystem::path& path, KeyType form, const Options& options) {
  milvus::Header header;
  SplitBlockBloomFilter filter =
      milvus::LoadWithHeader(path, options.memory, options.backend, header);
  return MilvusSet(form, std::move(filter), header);
}

void MilvusSet::RequireForm(const Keys& keys) const {
  const bool integers = keys.layout() == KeyLayout::kU64 || keys.layout() == KeyLayout::kU32 ||
                        keys.layout() == KeyLayout::kI32;
  const bool hashes = keys.layout() == KeyLayout::kHashes;
  // An empty batch without a type has the layout of integers.
  if (!hashes && (integers == (form_ == KeyType::kInteger) || keys.empty())) return;
  throw Error(ErrorCode::kInvalidArgument,
              std::string("the keys of this Milvus filter are ") +
                  (form_ == KeyType::kInteger ? "integers" : "strings") + ", not " +
                  (hashes     ? "hashes"
                   : integers ? "integers"
                              : "strings"));
}

void MilvusSet::Query(const Keys& keys, uint64_t* bits) const {
  RequireForm(keys);
  if (HasDomain()) {
    filter_.Contains(keys, Bitmap({bits, BitmapWords(keys.size())}));
  } else {
    std::fill_n(bits, BitmapWords(keys.size()), 0);
  }
}

size_t MilvusSet::Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) {
  RequireForm(keys);
  const size_t done = ChangeableAccess::Apply(filter_, change, keys, outputs);
  const bool nulls = keys.validity() != nullptr;
  if ((nulls ? CountValid(keys, 0, keys.size()) : keys.size()) != 0) header_.key_types.Add(form_);
  return done;
}

void MilvusSet::MergeFrom(const FormatFilter& other) {
  const auto& from = static_cast<const MilvusSet&>(other);
  filter_.Merge(from.filter_);
  header_.key_types.Add(from.header_.key_types);
}

void MilvusSet::Write(const ByteSink& write) const { write(milvus::ToBytes(filter_, header_)); }

}  // namespace tamis::detail
