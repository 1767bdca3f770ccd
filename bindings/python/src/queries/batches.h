// Runs calls with many keys in batches without the GIL, and collects their answers.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_QUERIES_BATCHES_H_
#define TAMIS_BINDINGS_PYTHON_SRC_QUERIES_BATCHES_H_

#include <nanobind/nanobind.h>
#include <tamis/key_types.h>
#include <tamis/keys.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "bindings/python/src/classes/gate.h"
#include "bindings/python/src/keys/held_buffer.h"
#include "bindings/python/src/keys/key_source.h"
#include "bindings/python/src/queries/answer.h"
#include "tamis/detail/str_cat.h"

namespace tamis::python {

// Batches with at least this number of keys are processed without the GIL. Smaller batches take
// less than a millisecond and keep the GIL, but one of them releases it after kConvertedKeys keys.
// If each batch released it, a thread that computes would run for sys.getswitchinterval() between
// two batches.
inline constexpr size_t kReleasesGil = kCachedKeys + 1;

// Calls work(keys, first) for each batch of `source`, without the GIL if there are many keys.
// Before each batch, calls prepare(keys, first) and then lock() with the GIL. Keeps the result of
// lock() until work() returns. `progress` is None, or a function that is called with the number of
// keys done. Returns the number of keys.
template <typename Prepare, typename Lock, typename Work>
uint64_t ForBatches(KeySource& source, nb::handle progress, const Prepare& prepare,
                    const Lock& lock, const Work& work, size_t many = kReleasesGil) {
  uint64_t done = 0;
  size_t with_gil = 0;  // keys since other threads last had a chance to run
  const auto report = [&] {
    CheckSignals();
    if (!progress.is_none()) Call(progress, nb::int_(done));
  };
  Keys keys;
  while (source.Next(keys)) {
    prepare(keys, done);
    {
      [[maybe_unused]] const auto held = lock();
      with_gil += keys.size();
      if (keys.size() < many && with_gil < kConvertedKeys) {
        work(keys, done);
      } else {
        with_gil = 0;
        const WithoutGil released;
        work(keys, done);
      }
    }
    done += keys.size();
    if (with_gil == 0) report();
  }
  if (with_gil > 0) report();
  return done;
}

inline void NoPreparation(const Keys&, uint64_t) {}

// The result of a call with one byte per key: an array of the caller, or an Answer.
class Bools {
 public:
  explicit Bools(nb::handle out) {
    if (out.is_none()) return;
    held_ = std::make_unique<HeldBuffer>(out, PyBUF_CONTIG | PyBUF_FORMAT);
    const Py_buffer& view = held_->view();
    const char* format = view.format != nullptr ? view.format : "B";
    if (std::strchr("<>=@|", *format) != nullptr) ++format;
    const bool bytes = *format != '\0' && format[1] == '\0' && std::strchr("?Bb", *format);
    if (view.ndim != 1 || view.itemsize != 1 || !bytes) {
      throw nb::value_error("out is a contiguous array of one dimension, of bool or uint8");
    }
    room_ = static_cast<uint64_t>(view.len);
  }

  // Makes room for the expected number of keys, `n`. Throws ValueError if `out` is too small.
  void Reserve(uint64_t n) {
    if (held_ == nullptr) {
      answer_.memory->Reserve(n);
    } else if (n > room_) {
      throw nb::value_error(
          tamis::detail::StrCat("out has ", room_, " elements, and there are ", n, " keys or more")
              .c_str());
    }
  }
  uint8_t* data() const {
    return held_ ? static_cast<uint8_t*>(held_->view().buf) : answer_.memory->As<uint8_t>();
  }
  std::span<uint8_t> At(uint64_t first, size_t n) const { return {data() + first, n}; }

  // Returns the result of the call: `out`, or an array like `like`.
  nb::object Finish(uint64_t n, nb::handle out, nb::handle like) {
    if (held_ != nullptr) return nb::borrow(out);
    answer_.size = n;
    return Call(InKinds("like"), nb::cast(std::move(answer_)), like);
  }

 private:
  std::unique_ptr<HeldBuffer> held_;
  uint64_t room_ = 0;
  Answer answer_;
};

// Calls work(keys, bools) for batches of all keys of `source`, the keys of x. Returns the array
// with a bool for each key.
template <typename Lock, typename Work>
nb::object AnswerEach(KeySource& source, nb::handle x, nb::handle out, nb::handle progress,
                      const Lock& lock, const Work& work, size_t many = kReleasesGil) {
  Bools bools(out);
  if (source.size()) bools.Reserve(*source.size());
  const uint64_t n = ForBatches(
      source, progress,
      [&](const Keys& keys, uint64_t first) { bools.Reserve(first + keys.size()); }, lock,
      [&](const Keys& keys, uint64_t first) { work(keys, bools.At(first, keys.size())); }, many);
  return bools.Finish(n, out, x);
}

// Calls work(keys, indices) for batches of all keys of `source`, the keys of x. `work` writes the
// indices of the selected keys, and returns their number. Returns the array of all these indices.
template <typename Lock, typename Work>
nb::object SelectFrom(KeySource& source, nb::handle x, const Lock& lock, const Work& work,
                      size_t many = kReleasesGil) {
  Answer answer{.output = Answer::Output::kIndices};
  const auto room = [&](const Keys& keys, uint64_t) {
    answer.memory->Reserve((answer.size + keys.size()) * sizeof(uint64_t));
  };
  ForBatches(
      source, nb::none(), room, lock,
      [&](const Keys& keys, uint64_t first) {
        const std::span out(answer.memory->As<uint64_t>() + answer.size, keys.size());
        const size_t n = work(keys, out);
        for (size_t i = 0; first > 0 && i < n; ++i) out[i] += first;
        answer.size += n;
      },
      many);
  answer.memory->Resize(answer.size * sizeof(uint64_t));
  return Call(InKinds("like"), nb::cast(std::move(answer)), x);
}

// Returns the indices in an object. Throws TypeError for other keys, and ValueError for nulls.
inline std::vector<uint64_t> IndicesOf(nb::handle selection) {
  std::vector<uint64_t> rows;
  const auto source = MakeKeySource(selection);
  const auto add = [&rows]<typename T>(const Keys& keys) {
    const T* const data = keys.data<T>();
    rows.insert(rows.end(), data, data + keys.size());
  };
  Keys keys;
  while (source->Next(keys)) {
    if (keys.CountValid() != keys.size()) throw nb::value_error("selection has a null");
    if (keys.key_type() != KeyType::kInteger) throw nb::type_error("selection has integers only");
    switch (keys.layout()) {
      case KeyLayout::kU32:
        add.template operator()<uint32_t>(keys);
        break;
      case KeyLayout::kI32:
        add.template operator()<int32_t>(keys);
        break;
      default:
        add.template operator()<uint64_t>(keys);
    }
  }
  return rows;
}

// Throws IndexError if the largest index, the last one, is not below `num_keys`.
inline void RequireBelow(std::span<const uint64_t> ascending, uint64_t num_keys) {
  if (ascending.empty() || ascending.back() < num_keys) return;
  throw nb::index_error(tamis::detail::StrCat("selection has the index ",
                                              static_cast<int64_t>(ascending.back()),
                                              ", and there are ", num_keys, " keys")
                            .c_str());
}

// Calls work(keys, rows, out) for batches of the keys of `source`, the keys of x. `rows` are the
// indices in the batch that `selection` names. `work` writes the selected ones to `out`, and
// returns their number. Returns the array of all of these, in the order of `selection`.
template <typename Lock, typename Work>
nb::object SelectFromRows(KeySource& source, nb::handle x, nb::handle selection, const Lock& lock,
                          const Work& work, size_t many = kReleasesGil) {
  const std::vector<uint64_t> given = IndicesOf(selection);
  std::vector<uint64_t> sorted = given;
  if (!std::ranges::is_sorted(sorted)) std::ranges::sort(sorted);
  if (source.size()) RequireBelow(sorted, *source.size());
  Answer answer{.output = Answer::Output::kIndices};
  answer.memory->Reserve(given.size() * sizeof(uint64_t));
  auto* const out = answer.memory->As<uint64_t>();
  size_t at = 0, found = 0;
  const auto query = [&](const Keys& keys, uint64_t first) {
    const size_t begin = at;
    for (; at < sorted.size() && sorted[at] < first + keys.size(); ++at) sorted[at] -= first;
    const std::span rows(sorted.data() + begin, at - begin);
    const size_t n = work(keys, rows, std::span(out + found, rows.size()));
    for (size_t i = 0; first > 0 && i < rows.size(); ++i) rows[i] += first;
    for (size_t i = 0; first > 0 && i < n; ++i) out[found + i] += first;
    found += n;
  };
  const uint64_t num_keys = ForBatches(source, nb::none(), NoPreparation, lock, query, many);
  RequireBelow(sorted, num_keys);
  if (given != sorted) {
    // The same index has the same answer everywhere.
    const std::vector<uint64_t> in(out, out + found);
    const auto is_in = [&](uint64_t row) { return std::ranges::binary_search(in, row); };
    found = static_cast<size_t>(std::ranges::copy_if(given, out, is_in).out - out);
  }
  answer.size = found;
  answer.memory->Resize(answer.size * sizeof(uint64_t));
  return Call(InKinds("like"), nb::cast(std::move(answer)), x);
}

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_QUERIES_BATCHES_H_
