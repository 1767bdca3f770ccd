// The base class of all filter classes: their common data, and the stages of queries that each
// class defines.
#ifndef TAMIS_DETAIL_FILTER_BASE_H_
#define TAMIS_DETAIL_FILTER_BASE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "tamis/detail/change.h"
#include "tamis/detail/compiler.h"
#include "tamis/detail/kernels.h"
#include "tamis/detail/storage.h"
#include "tamis/filters/filter.h"
#include "tamis/key_types.h"

namespace tamis::detail {

class BulkWriter;
class PartsWriter;
struct FilterAccess;

class FilterBase : public Filter {
 public:
  uint64_t bytes() const noexcept override;
  void set_backend(const Backend& backend) noexcept override;
  QueryTraits traits() const noexcept override;
  void Save(const std::filesystem::path& path, const SaveOptions& options = {}) const override;

 protected:
  FilterBase(uint64_t capacity, HashSpec hash, Storage storage, const Backend* backend);
  FilterBase(const FileHeader& header, Storage storage, const Backend* backend);
  FilterBase(FilterBase&&) noexcept;
  FilterBase& operator=(FilterBase&&) noexcept;
  ~FilterBase() override;

  void RequireWritable() const;
  // Throws FormatError if the filter is mapped from a damaged file. Each call reads the whole file.
  // Call this before copying the contents into another filter, because Save would give damaged
  // contents valid checksums there.
  void RequireIntact() const;

  // Returns the header of a filter with this geometry.
  FileHeader HeaderOf(const std::array<uint64_t, 3>& geometry) const noexcept;
  // Passes the parts of this filter's file to `writer`. Throws the errors of Save and of `writer`.
  virtual void Write(const SaveOptions& options, const PartsWriter& writer) const;
  // Returns the size of the file that Write makes. Throws Error(kInvalidArgument) for options that
  // do not fit.
  virtual uint64_t FileBytes(const SaveOptions& options) const;
  // Adds the counts and key types of a filter that was merged.
  void AddCounts(const FilterBase& other) noexcept;
  // Records the type of a key. In nearly all calls, the type is known, and the call writes nothing.
  TAMIS_HD void NoteOne(KeyType type) noexcept {
    if (!key_types_.Has(type)) [[unlikely]] {
      key_types_.Add(type);
    }
  }
  // Records the type of a key if it was inserted. Returns `inserted`.
  TAMIS_HD bool Note(KeyType type, bool inserted) noexcept {
    if (inserted) NoteOne(type);
    return inserted;
  }

  // Call this after any change of the contents, so that copies of the contents elsewhere are
  // replaced. The call may be omitted if inserted_ changes too. This saves a store when one key is
  // inserted.
  TAMIS_HD void Changed() noexcept { ++changes_; }

  void Query(const Keys& keys, uint64_t* bits) const override;
  const Filter* engine_filter() const noexcept override;
  // `bits` has BitmapWords(batch.n) words.
  virtual void Probe(const Kernels& kernels, const Batch& batch, uint64_t* bits) const noexcept = 0;
  // Queries one key, given its hash, with the filter's own backend.
  virtual bool ProbeOne(uint64_t hash) const noexcept = 0;
  // The number of blocks if each key is in block ((hash >> 32) * blocks) >> 32 and in no other, so
  // that queries can be ordered by region. 0 for other filters.
  virtual uint64_t ordered_blocks() const noexcept { return 0; }

  uint64_t capacity_ = 0;
  uint64_t inserted_ = 0;
  KeyTypes key_types_;
  bool has_secret_ = false;  // whether the filter's file had the secret
  bool has_views_ = false;   // whether there are views, which may insert keys of any type
  bool shared_ = false;      // see FilterAccess::SetShared
  HashSpec hash_;
  KeyHasher hasher_;  // hashes keys as hash_ says
  const Backend* backend_ = nullptr;
  Storage storage_;

 private:
  friend class tamis::Filter;
  friend struct FilterAccess;

  // Identifies the contents. Each filter of the process has a different number, and a move passes
  // the number on with the contents.
  static uint64_t NewIdentity() noexcept;
  uint64_t identity_ = NewIdentity();
  uint64_t changes_ = 0;
};

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_FILTER_BASE_H_
