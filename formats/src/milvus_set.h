// A membership filter of Milvus as a filter with the keys of one domain.
#ifndef TAMIS_FORMATS_SRC_MILVUS_SET_H_
#define TAMIS_FORMATS_SRC_MILVUS_SET_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

#include "tamis/backend.h"
#include "tamis/formats/format_filter.h"
#include "tamis/formats/milvus.h"
#include "tamis/keys.h"
#include "tamis/memory.h"

namespace tamis::milvus {

// Like Load, for an open file. Also returns the header.
SplitBlockBloomFilter LoadWithHeader(const std::filesystem::path& path, const MemoryOptions& memory,
                                     const Backend* backend, Header& header);

}  // namespace tamis::milvus

namespace tamis::detail {

// Has the same functions as the classes of other formats. Keys of a domain that the header lacks
// are absent. Keys of the other type throw Error(kInvalidArgument).
class MilvusSet final : public FormatFilter {
 public:
  struct Options {
    MemoryOptions memory;
    const Backend* backend;
  };
  static MilvusSet FromBytes(std::span<const std::byte> bytes, KeyType form,
                             const Options& options);
  static MilvusSet Load(const std::filesystem::path& path, KeyType form, const Options& options);

  QueryTraits traits() const noexcept override { return filter_.traits(); }
  KeyTypes key_types() const noexcept override { return form_; }
  uint64_t bytes() const noexcept override { return filter_.bytes(); }
  uint64_t serialized_bytes() const noexcept override { return milvus::kHeaderBytes + bytes(); }
  double estimated_count() const override { return filter_.estimated_count(); }
  double expected_fpr() const override { return filter_.expected_fpr(); }

  void Write(const ByteSink& write) const override;

 private:
  MilvusSet(KeyType form, SplitBlockBloomFilter filter, const milvus::Header& header) noexcept
      : form_(form), filter_(std::move(filter)), header_(header) {}

  void Query(const Keys& keys, uint64_t* bits) const override;
  size_t Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) override;
  void MergeFrom(const FormatFilter& other) override;
  void RequireForm(const Keys& keys) const;
  // Whether the filter has keys of its type.
  bool HasDomain() const noexcept { return header_.key_types.Has(form_); }

  KeyType form_;
  SplitBlockBloomFilter filter_;
  milvus::Header header_;
};

}  // namespace tamis::detail

#endif  // TAMIS_FORMATS_SRC_MILVUS_SET_H_
