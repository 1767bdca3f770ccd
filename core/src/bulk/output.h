// The output stage of bulk lookups: the only code that turns the bits of keys into an output.
#ifndef TAMIS_CORE_SRC_BULK_OUTPUT_H_
#define TAMIS_CORE_SRC_BULK_OUTPUT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/src/base/function_ref.h"
#include "tamis/detail/kernels.h"
#include "tamis/keys.h"
#include "tamis/queryable.h"
#include "tamis/unanswered_error.h"

namespace tamis::detail {

// Each throws Error(kInvalidArgument) if `out` is too small for the results of `keys` keys, or
// cannot represent them, such as 32-bit indices of more than 2^32 keys.
void RequireRoom(Bitmap out, uint64_t keys);
void RequireRoom(std::span<uint8_t> out, uint64_t keys);
void RequireRoom(std::span<uint32_t> out, uint64_t keys);
void RequireRoom(std::span<uint64_t> out, uint64_t keys);

// The kind and memory of the output of a call: bits, bytes, rows (the indices that Select writes),
// or only a count. Copies of an Output share the memory.
class Output {
 public:
  Output(Bitmap bits) noexcept : Output(Type::kBits, bits.words().data(), bits.words().size()) {}
  Output(std::span<uint8_t> bytes) noexcept : Output(Type::kBytes, bytes.data(), bytes.size()) {}
  Output(std::span<uint32_t> rows) noexcept : Output(Type::kRows32, rows.data(), rows.size()) {}
  Output(std::span<uint64_t> rows) noexcept : Output(Type::kRows64, rows.data(), rows.size()) {}
  static Output Count() noexcept { return Output(Type::kCount, nullptr, 0); }

  // Throws the errors of the functions with the same name above.
  void RequireRoom(uint64_t keys) const;

  // Returns the words of a bitmap, which may be written without Write, or nullptr for other
  // outputs.
  uint64_t* bits() const noexcept {
    return type_ == Type::kBits ? static_cast<uint64_t*>(out_) : nullptr;
  }

  bool has_rows() const noexcept { return type_ == Type::kRows32 || type_ == Type::kRows64; }

  // Returns the part of the output for the keys from `begin` on; `begin` must be a multiple of 64.
  // The rows of the part begin where they would be if all earlier keys were found. Close moves them
  // to their final place.
  Output From(uint64_t begin) const noexcept;

  // Writes the results for keys [begin, begin + n), counted from the start of this part, from their
  // bits. Calls must be in the order of keys. Returns how many bits are set. `bits` may be the
  // bitmap of the output itself.
  size_t Write(const CommonKernels& kernels, const uint64_t* bits, size_t n,
               uint64_t begin) noexcept;

  // Moves the rows of all parts so that no gaps are left. Part i has written found[i] rows; each
  // part had `part_keys` keys, except for the last.
  void Close(std::span<const size_t> found, uint64_t part_keys) const noexcept;

 private:
  enum class Type : uint8_t { kBits, kBytes, kRows32, kRows64, kCount };

  Output(Type type, void* out, uint64_t size) noexcept : type_(type), out_(out), size_(size) {}

  template <typename Element>
  Element* elements() const noexcept {
    return static_cast<Element*>(out_);
  }
  size_t ElementBytes() const noexcept;  // 1 for a bitmap

  Type type_;
  void* out_;
  uint64_t size_;       // size of the whole output
  uint64_t first_ = 0;  // the index of the first key of this part
  size_t written_ = 0;  // rows
};

// A call of Queryable::Query.
using QueryFunction = FunctionRef<void(const Keys& some, uint64_t* bits)>;

// Queries all keys and writes the output. A bitmap is queried in one piece, other outputs by
// traits.slice_keys. Returns the number of keys that may be in the queried object. Throws
// Error(kInvalidArgument) before the first query if the output is too small. Throws the errors of
// the query; UnansweredError is thrown only after all outputs are written.
size_t Answer(QueryFunction query, const QueryTraits& traits, const Keys& keys, Output output);

// Queries the keys of a selection vector by traits.slice_keys, and writes the indices whose keys
// may be in the queried object, in the order of `selection`. Throws Error(kInvalidArgument) before
// the first query if `out` is too small or an index is out of range, and the errors of the query.
template <typename Index>
size_t AnswerFrom(QueryFunction query, const QueryTraits& traits, const Keys& keys,
                  std::span<const Index> selection, std::span<Index> out);
extern template size_t AnswerFrom(QueryFunction query, const QueryTraits& traits, const Keys& keys,
                                  std::span<const uint32_t> selection, std::span<uint32_t> out);
extern template size_t AnswerFrom(QueryFunction query, const QueryTraits& traits, const Keys& keys,
                                  std::span<const uint64_t> selection, std::span<uint64_t> out);

// The keys without an answer in the parts of a call, in the order of keys.
class UnansweredKeys {
 public:
  // Calls work(), and records the UnansweredError that it throws for keys from `begin` on.
  template <typename Work>
  void Catch(const Work& work, uint64_t begin) {
    try {
      work();
    } catch (UnansweredError& error) {
      error.Shift(begin);
      Add(error);
    }
  }
  // Throws an UnansweredError for all recorded keys, if there are any.
  void Throw(uint64_t done);

 private:
  void Add(const UnansweredError& error);

  std::optional<UnansweredError> first_;
  std::vector<uint64_t> keys_;  // the keys of all recorded errors
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_OUTPUT_H_
