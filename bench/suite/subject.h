// Filters under test, ours and others': the same operations, whatever the library.
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

// Where answers go; each in the form that its function gives.
struct Answers {
  explicit Answers(size_t queries)
      : bits(BitmapWords(queries)), bytes(queries), rows(queries), size(queries) {}

  HugeVector<uint64_t> bits;
  HugeVector<uint8_t> bytes;
  HugeVector<uint32_t> rows;  // the first num_rows are valid
  size_t num_rows = 0;
  size_t size;
};

// How a call is carried out. Peers have neither backends nor threads.
struct Way {
  const Backend* backend = nullptr;
  unsigned threads = 1;
  bool one_key = false;    // insertion of integers, on one thread: one key a call
  bool if_absent = false;  // insertion of integers, on one thread: by InsertIfAbsent
  uint32_t call_keys = 0;  // of lookups of integers; 0: all in one call
};

class Subject {
 public:
  explicit Subject(std::string kind) : kind_(std::move(kind)) {}
  virtual ~Subject() = default;

  const std::string& kind() const noexcept { return kind_; }

  // What to call its origin in a report: "tamis", or a library and its version.
  virtual std::string library() const = 0;
  bool is_peer() const { return library() != "tamis"; }

  virtual bool Can(Operation operation, KeyType form) const = 0;
  // Whether keys that are in may be inserted again and leave the filter as it was. Else they are
  // erased before: a subject that can neither has no Operation::kInsert.
  virtual bool reinserts() const = 0;

  // Whether it is built from all its keys at once and never changes: it has Build instead of Insert
  // and Erase.
  virtual bool is_static() const { return false; }

  // Whether it can have the keys of that size, or at least half of its bytes.
  virtual bool Fits(const SizeClass& /*size*/) const { return true; }

  // Makes an empty filter of about `bytes` in that memory: as large as it can be, down to half. A
  // static subject makes the filter in Build. Close gives the memory back.
  virtual void Open(std::pmr::memory_resource& memory, uint64_t bytes) = 0;
  virtual void Close() = 0;

  virtual uint64_t capacity() const = 0;  // keys that it takes
  virtual uint64_t bytes() const = 0;
  // The rate of false positives that theory gives for its present fill; nothing if unknown.
  virtual std::optional<double> expected_fpr() const = 0;
  // The bits, if they are to be equal whatever the backend that set them.
  virtual std::span<const std::byte> contents() const = 0;

  virtual void Clear() = 0;
  // Throws std::runtime_error if not all keys find room, or are there to be erased.
  virtual void Insert(const Keys& keys, Way way) = 0;
  virtual void Erase(const Keys& keys, Way way) = 0;
  // Replaces the filter of a static subject by a filter of these keys. They are read once. Throws
  // std::runtime_error if the filter cannot be built.
  virtual void Build(const RepeatableSource& /*keys*/, Way /*way*/) {
    throw std::logic_error(kind() + " is not built from all keys at once");
  }
  // kContains, kEngineContains, kSelect or kOneKey.
  virtual void Ask(Operation operation, const Keys& keys, Way way, Answers& answers) = 0;
  // kContainsBesideWriter: asks on the calling thread while another one inserts the keys `written`,
  // once, or, where keys that are in cannot be inserted again, erases and inserts them until all
  // were asked. Returns nanoseconds for as many keys as are asked.
  virtual double AskBesideWriter(const Keys&, const Keys& /*written*/, Answers&) {
    throw std::logic_error(kind() + " is not asked while it is changed");
  }
  // Whether Ask gives this answer as bits, else as bytes (or rows, for kSelect).
  virtual bool AnswersInBits(Operation operation) const = 0;

 private:
  std::string kind_;
};

// What the filters of other libraries that are measured here have functions for.
constexpr bool CanPeer(Operation operation) {
  return operation == Operation::kContains || operation == Operation::kOneKey ||
         operation == Operation::kInsert || operation == Operation::kBuild ||
         operation == Operation::kBuildOneKey;
}

// For a filter of about `bytes` in that memory; bits_per_key 0 leaves its capacity to it.
FilterOptions OptionsOf(std::pmr::memory_resource& memory, uint64_t bytes, double bits_per_key);

using Subjects = std::vector<std::unique_ptr<Subject>>;

// All kinds of filters of this library; the first is its default. A new kind is one entry in
// tamis_subjects.cc.
Subjects TamisSubjects();
// Those that may be changed while others ask: kConcurrentPrefix and the name of the plain kind.
Subjects LiveSubjects();
inline constexpr std::string_view kConcurrentPrefix = "concurrent_";
// What was found of other libraries when this was built.
Subjects PeerSubjects();

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_SUBJECT_H_
