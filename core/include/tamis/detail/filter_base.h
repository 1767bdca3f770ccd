// What the classes of filters derive from: the data that all have, and the stages of lookups, which
// each defines.
#ifndef TAMIS_DETAIL_FILTER_BASE_H_
#define TAMIS_DETAIL_FILTER_BASE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "tamis/detail/change.h"
#include "tamis/detail/hd.h"
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
  // To be called before the contents go into another filter, which would be saved as intact. Throws
  // FormatError for a mapped filter whose file is damaged; the first that reads all of it.
  void RequireIntact() const;

  // The header of a filter of this geometry.
  FileHeader HeaderOf(const std::array<uint64_t, 3>& geometry) const noexcept;
  // Hands over the parts of the file of this filter. Throws as Save, and what `writer` throws.
  virtual void Write(const SaveOptions& options, const PartsWriter& writer) const;
  // How many bytes that are. Throws Error(kInvalidArgument) for options that do not go with it.
  virtual uint64_t FileBytes(const SaveOptions& options) const;
  // Counts what a merge has added.
  void AddCounts(const FilterBase& other) noexcept;
  // Records the type of a key if it was inserted. Returns `inserted`.
  TAMIS_HD bool Note(KeyType type, bool inserted) noexcept {
    if (inserted) key_types_.Add(type);
    return inserted;
  }

  // To be called by whatever changes the contents: copies of them elsewhere are then out of date.
  // What only adds to inserted_ is seen without: one store less for one key.
  TAMIS_HD void Changed() noexcept { ++changes_; }

  void Query(const Keys& keys, uint64_t* bits) const override;
  const Filter* engine_filter() const noexcept override;
  // `bits` has BitmapWords(batch.n) words.
  virtual void Probe(const Kernels& kernels, const Batch& batch, uint64_t* bits) const noexcept = 0;
  // One key, by its hash, with the filter's own backend.
  virtual bool ProbeOne(uint64_t hash) const noexcept = 0;
  // The blocks of a filter that has each key in block ((hash >> 32) * blocks) >> 32 and in no
  // other, so that lookups can be ordered by region; 0 for all others.
  virtual uint64_t ordered_blocks() const noexcept { return 0; }

  uint64_t capacity_ = 0;
  uint64_t inserted_ = 0;
  KeyTypes key_types_;
  bool has_secret_ = false;  // as its file had it
  bool has_views_ = false;   // which may insert keys of any type
  bool shared_ = false;      // see FilterAccess::SetShared
  HashSpec hash_;
  KeyHasher hasher_;  // of hash_
  const Backend* backend_ = nullptr;
  Storage storage_;

 private:
  friend class tamis::Filter;
  friend struct FilterAccess;

  // Which contents these are: no other filter of the process has the same identity, but one that
  // this is moved to.
  static uint64_t NewIdentity() noexcept;
  uint64_t identity_ = NewIdentity();
  uint64_t changes_ = 0;
};

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_FILTER_BASE_H_
