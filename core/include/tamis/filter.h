// What all filters have in common: sizes, bulk operations over every form of keys, and files.
#ifndef TAMIS_FILTER_H_
#define TAMIS_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "tamis/backend.h"
#include "tamis/detail/change.h"
#include "tamis/detail/kernels.h"
#include "tamis/detail/storage.h"
#include "tamis/file.h"
#include "tamis/hash.h"
#include "tamis/keys.h"
#include "tamis/memory.h"

namespace tamis {

class BulkWriter;  // private to the library

// The false-positive rate of Bloom filters for which none is asked.
inline constexpr double kDefaultFpr = 0.01;

// How a filter is made. Give capacity and fpr, or bytes.
struct FilterOptions {
  uint64_t capacity = 0;  // keys to be inserted; at least 1 unless bytes is given
  // False-positive rate at capacity, in [kMinFpr, kMaxFpr]. 0: as the kind has it, kDefaultFpr for
  // Bloom filters, and for cuckoo filters that of their fingerprints in a full table.
  double fpr = 0;
  uint64_t bytes = 0;  // if not 0, the size: rounded down to whole blocks, at least one
  HashSpec hash = {};
  MemoryOptions memory = {};
  const Backend* backend = nullptr;  // nullptr: DefaultBackend()
};

// An approximate-membership filter: answers "no" only for keys that were never inserted, and
// "maybe" for all others, wrongly so at the false-positive rate.
//
// Bulk functions run on the calling thread with the filter's backend, whose choice changes the
// speed and never a bit; Engine adds threads. Any number of threads may probe a filter that does
// not change; a change needs exclusive access.
class Filter {
 public:
  virtual ~Filter() = default;

  virtual FilterKind kind() const noexcept = 0;

  // Keys that the filter was sized for.
  uint64_t capacity() const noexcept { return capacity_; }
  // Keys inserted so far, duplicates included, less those erased; the sum of both after a merge.
  uint64_t inserted_count() const noexcept { return inserted_; }
  // Bytes of the filter itself.
  virtual uint64_t bytes() const noexcept { return storage_.size(); }
  // Bits of memory per key of the capacity.
  double bits_per_key() const noexcept {
    return 8.0 * static_cast<double>(bytes()) / static_cast<double>(capacity_);
  }
  // The number of distinct keys inserted, estimated from the contents. O(bytes()).
  virtual double estimated_count() const noexcept = 0;
  // The false-positive rate at the present fill, from estimated_count(). O(bytes()).
  virtual double expected_fpr() const noexcept = 0;

  const HashSpec& hash() const noexcept { return hash_; }
  // True for a filter that is mapped from a file: it can be asked, not changed.
  bool read_only() const noexcept { return storage_.read_only(); }
  // The contents, as they are in a file.
  std::span<const std::byte> payload() const noexcept { return {storage_.data(), storage_.size()}; }

  const Backend& backend() const noexcept { return *backend_; }
  virtual void set_backend(const Backend& backend) noexcept { backend_ = &backend; }

  // Sets one bit per key: "maybe" is 1. Returns the number of ones. `out` needs BitmapWords(n)
  // words or more, of which exactly so many are written.
  size_t Contains(Keys keys, Bitmap out) const noexcept;
  // Writes one byte per key, 0 or 1. Returns the number of ones. `out` needs n bytes or more.
  size_t Contains(Keys keys, std::span<uint8_t> out) const noexcept;
  // Writes the indices of the keys that may be in, ascending, and returns how many there are. `out`
  // needs n elements or more, whatever the result, of which those past the result are unspecified;
  // for 32-bit indices n is at most 2^32.
  size_t Select(Keys keys, std::span<uint32_t> out) const noexcept;
  size_t Select(Keys keys, std::span<uint64_t> out) const noexcept;
  // The number of keys that may be in.
  size_t Count(Keys keys) const noexcept;

  // Inserts keys in their order. Returns how many were inserted: all of them, but for cuckoo
  // filters that are full; none if the filter is read_only(). Nothing is lost of a key that could
  // not be inserted but itself.
  size_t Insert(Keys keys) noexcept;
  // The same, and writes the indices of the other keys, ascending, to rejected[0 .. n - result).
  // `rejected` needs n elements.
  size_t Insert(Keys keys, std::span<uint64_t> rejected) noexcept;

  // Empties the filter. Throws Error(kReadOnly) if it is read_only().
  virtual void Clear();

  // Writes the filter to `path`, atomically: to a temporary file in the same directory that is
  // synchronized and then renamed, so that under this name there is the old file or the whole new
  // one, and never a part. Throws Error(kIo), leaving no temporary file behind.
  virtual void Save(const std::filesystem::path& path) const;

  // The header that Save writes, without the checksum.
  virtual FileHeader Header() const noexcept = 0;

 protected:
  Filter(uint64_t capacity, HashSpec hash, detail::Storage storage, const Backend* backend);
  Filter(Filter&&) noexcept = default;
  Filter& operator=(Filter&&) noexcept = default;

  void RequireWritable() const;

  // To be called by whatever changes the contents: copies of them elsewhere are then out of date.
  void Changed() noexcept { ++changes_; }

  // Stages of the bulk functions, for each kind to define. `bits` has BitmapWords(batch.n) words.
  virtual void Probe(const Kernels& kernels, const Batch& batch, uint64_t* bits) const noexcept = 0;
  // Changes the filter by keys in their order, the first of which has the index `first`. Returns
  // for how many that was possible, and adds the indices of the others to `rejects`.
  virtual size_t ChangeBatch(Change change, const Kernels& kernels, const Batch& batch,
                             uint64_t first, Rejects& rejects) noexcept = 0;
  // For n keys in all; nullptr if there is none. Throws Error(kOutOfMemory) or std::bad_alloc.
  virtual std::unique_ptr<BulkWriter> MakeWriter(Change change, const Kernels& kernels, uint64_t n,
                                                 unsigned lanes);
  // Whether a writer is expected to beat ChangeBatch for n keys on one thread.
  virtual bool WriterPays(uint64_t n) const noexcept;
  // For the writer that Filter makes: the number of equal parts that can be written independently,
  // of which a key writes part ((hash >> 32) * NumParts()) >> 32.
  virtual uint64_t NumParts() const noexcept { return 1; }

  size_t ChangeAll(Change change, const Keys& keys, Rejects rejects) noexcept;

  uint64_t capacity_ = 0;
  uint64_t inserted_ = 0;
  HashSpec hash_;
  KeyHasher hasher_;  // of hash_
  const Backend* backend_ = nullptr;
  detail::Storage storage_;

 private:
  // Which contents these are: no other filter of the process has the same identity, but one that
  // this is moved to.
  static uint64_t NewIdentity() noexcept;
  uint64_t identity_ = NewIdentity();
  uint64_t changes_ = 0;

  friend class Engine;
  friend class PartitionedInserter;
  friend struct FilterAccess;
  template <typename F>
  friend class ScalableFilter;

  // The bulk functions with the kernels of a given backend; `first` is added to every index.
  size_t ContainsWith(const Kernels& kernels, const Keys& keys, uint64_t* bits) const noexcept;
  size_t ContainsWith(const Kernels& kernels, const Keys& keys, uint8_t* bytes) const noexcept;
  size_t SelectWith(const Kernels& kernels, const Keys& keys, uint64_t first,
                    uint32_t* out) const noexcept;
  size_t SelectWith(const Kernels& kernels, const Keys& keys, uint64_t first,
                    uint64_t* out) const noexcept;
  size_t CountWith(const Kernels& kernels, const Keys& keys) const noexcept;
  size_t ChangeWith(Change change, const Kernels& kernels, const Keys& keys, bool partitioned,
                    Rejects rejects) noexcept;
  void CountChange(Change change, uint64_t keys) noexcept;

  // Calls visit(bits, n, begin) for the bits of consecutive batches of n keys.
  template <typename Visit>
  void ForEachBits(const Kernels& kernels, const Keys& keys, const Visit& visit) const noexcept;
};

}  // namespace tamis

#endif  // TAMIS_FILTER_H_
