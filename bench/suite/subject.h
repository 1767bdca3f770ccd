// Filters under test, of this library and of others. All have the same operations.
#ifndef TAMIS_BENCH_SUITE_SUBJECT_H_
#define TAMIS_BENCH_SUITE_SUBJECT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/huge_memory.h"
#include "bench/suite/axes.h"
#include "tamis/backend.h"
#include "tamis/engine/build.h"
#include "tamis/filters/filter.h"
#include "tamis/keys.h"

namespace tamis::bench {

// The memory for answers. Each function writes the array of its kind of answer.
struct Answers {
  explicit Answers(size_t queries)
      : bits(BitmapWords(queries)), bytes(queries), rows(queries), size(queries) {}

  HugeVector<uint64_t> bits;
  HugeVector<uint8_t> bytes;
  HugeVector<uint32_t> rows;  // the first num_rows are valid
  size_t num_rows = 0;
  size_t size;
};

// How a call is made. Peers have neither backends nor threads.
struct Way {
  const Backend* backend = nullptr;
  unsigned threads = 1;
  bool one_key = false;    // insertion of integers on one thread: one key per call
  bool if_absent = false;  // insertion of integers on one thread: by InsertIfAbsent
  uint32_t call_keys = 0;  // for queries of integers; 0: all in one call
};

class Subject {
 public:
  explicit Subject(std::string kind) : kind_(std::move(kind)) {}
  virtual ~Subject() = default;

  const std::string& kind() const noexcept { return kind_; }

  // Returns the origin of the filter for reports: "tamis", or a library and its version.
  virtual std::string library() const = 0;
  bool is_peer() const { return library() != "tamis"; }

  virtual bool Can(Operation operation, KeyType form) const = 0;
  // Returns whether inserting keys of the filter again does not change the filter. If false, keys
  // are erased before they are inserted again. A subject that supports neither has no
  // Operation::kInsert.
  virtual bool reinserts() const = 0;

  // Returns whether the filter is built from all its keys at once and never changes. Such a subject
  // has Build instead of Insert and Erase.
  virtual bool is_static() const { return false; }

  // Returns whether a filter of that size is possible. The filter must have the given number of
  // keys or, if no number is given, at least half of the given bytes.
  virtual bool Fits(const SizeClass& /*size*/) const { return true; }

  // Makes an empty filter in `memory`: the largest possible filter of at most `bytes` bytes and at
  // least half of them. A static subject makes the filter in Build. Close gives the memory back.
  virtual void Open(std::pmr::memory_resource& memory, uint64_t bytes) = 0;
  virtual void Close() = 0;

  virtual uint64_t capacity() const = 0;  // keys that fill it
  virtual uint64_t bytes() const = 0;
  // Returns the theoretical false-positive rate at the present fill, or nothing if it is unknown.
  virtual std::optional<double> expected_fpr() const = 0;
  // Returns the bits if all backends must set the same bits.
  virtual std::span<const std::byte> contents() const = 0;

  virtual void Clear() = 0;
  // Throws std::runtime_error if there is no room for some keys (Insert), or if some keys are not
  // in the filter (Erase).
  virtual void Insert(const Keys& keys, Way way) = 0;
  virtual void Erase(const Keys& keys, Way way) = 0;
  // Replaces the filter of a static subject by a filter of `keys`, which is read once. Throws
  // std::runtime_error if the filter cannot be built.
  virtual void Build(const RepeatableSource& /*keys*/, Way /*way*/) {
    throw std::logic_error(kind() + " is not built from all keys at once");
  }
  // Queries `keys` by kContains, kEngineContains, kSelect or kOneKey.
  virtual void Ask(Operation operation, const Keys& keys, Way way, Answers& answers) = 0;
  // Measures kContainsBesideWriter: queries the first argument on the calling thread while another
  // thread changes the filter. The other thread inserts `written` once. If keys cannot be inserted
  // again, it erases and inserts `written` until all keys were queried. Returns the nanoseconds for
  // a pass over the queried keys.
  virtual double AskBesideWriter(const Keys&, const Keys& /*written*/, Answers&) {
    throw std::logic_error(kind() + " is not asked while it is changed");
  }
  // Returns whether Ask writes bits for this operation. If not, it writes bytes, or rows for
  // kSelect.
  virtual bool AnswersInBits(Operation operation) const = 0;

 private:
  std::string kind_;
};

// Returns whether the peers have a function for the operation.
constexpr bool CanPeer(Operation operation) {
  return operation == Operation::kContains || operation == Operation::kOneKey ||
         operation == Operation::kInsert || operation == Operation::kBuild ||
         operation == Operation::kBuildOneKey;
}

// Returns options for a filter of about `bytes` bytes in `memory`. If bits_per_key is 0, the filter
// chooses its capacity.
FilterOptions OptionsOf(std::pmr::memory_resource& memory, uint64_t bytes, double bits_per_key);

using Subjects = std::vector<std::unique_ptr<Subject>>;

// Returns all kinds of filters of this library. The first is the default kind. A new kind is one
// entry in tamis_subjects.cc.
Subjects TamisSubjects();
// Returns the kinds that threads may change while other threads query them. Their names are
// kConcurrentPrefix and the name of the plain kind.
Subjects LiveSubjects();
inline constexpr std::string_view kConcurrentPrefix = "concurrent_";
// Returns the filters of other libraries that were found when this was built.
Subjects PeerSubjects();

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_SUBJECT_H_
