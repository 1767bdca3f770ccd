// A concurrent filter of any kind, shared by objects of Python, live filters and who reads them.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_LIVE_ANY_CONCURRENT_H_
#define TAMIS_BINDINGS_PYTHON_SRC_LIVE_ANY_CONCURRENT_H_

#include <tamis/any_filter.h>
#include <tamis/error.h>
#include <tamis/live/concurrent_bloom.h>
#include <tamis/live/concurrent_cuckoo.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "bindings/python/src/classes/for_class.h"

namespace tamis::python {

// A pointer: copies are the same filter. Has what Live asks of a filter that may be changed and
// erased from; from those that cannot erase nothing is erased.
class AnyConcurrent {
 public:
  static constexpr bool kConcurrentChanges = true;

  template <typename F>
  explicit AnyConcurrent(F filter) : filter_(std::make_shared<F>(std::move(filter))) {}

  // Reads a file, and checks all of it. Throws as the functions below and tamis::Load.
  static AnyConcurrent Load(const std::filesystem::path& path, const LoadOptions& options);

  // What work(filter) returns, of the filter as what it is.
  template <typename Work>
  auto Visit(const Work& work) const {
    return std::visit([&](const auto& filter) { return work(*filter); }, filter_);
  }

  FilterKind kind() const noexcept {
    return Visit([]<typename F>(const F&) { return F::kKind; });
  }
  bool erasable() const noexcept {
    return Visit([]<typename F>(const F&) { return kErasable<F>; });
  }
  HashSpec hash() const {
    return Visit([](const auto& f) { return f.hash(); });
  }
  KeyForms key_forms() const {
    return Visit([](const auto& f) { return f.key_forms(); });
  }
  void set_key_forms(KeyForms forms) {
    Visit([&](auto& f) { f.set_key_forms(forms); });
  }

  bool Contains(uint64_t key) const {
    return Visit([&](const auto& f) { return f.Contains(key); });
  }
  bool Contains(std::string_view key) const {
    return Visit([&](const auto& f) { return f.Contains(key); });
  }
  size_t Contains(const Keys& keys, Bitmap out) const {
    return Visit([&](const auto& f) { return f.Contains(keys, out); });
  }
  size_t Count(const Keys& keys) const {
    return Visit([&](const auto& f) { return f.Count(keys); });
  }
  size_t Insert(const Keys& keys) {
    return Visit([&](auto& f) { return f.Insert(keys); });
  }
  bool InsertHash(uint64_t hash) {
    return Visit([&](auto& f) { return f.InsertHash(hash); });
  }
  size_t Erase(const Keys& keys) {
    return Visit([&]<typename F>(F& f) -> size_t {
      if constexpr (kErasable<F>) return f.Erase(keys);
      return 0;
    });
  }
  bool EraseHash(uint64_t hash) {
    return Visit([&]<typename F>(F& f) {
      if constexpr (kErasable<F>) return f.EraseHash(hash);
      return false;
    });
  }

 private:
  template <typename F>
  static constexpr bool kErasable = requires(F& f, const Keys& keys) {
    f.Erase(keys);
  };

  std::variant<std::shared_ptr<ConcurrentSplitBlockBloomFilter>,
               std::shared_ptr<ConcurrentBloomFilter>, std::shared_ptr<ConcurrentCuckooFilter<8>>,
               std::shared_ptr<ConcurrentCuckooFilter<12>>,
               std::shared_ptr<ConcurrentCuckooFilter<16>>>
      filter_;
};

[[noreturn]] inline void ThrowNotConcurrent(FilterKind kind) {
  throw Error(ErrorCode::kUnsupported, std::string("there is no concurrent filter of kind ") +
                                           FilterKindName(kind) +
                                           ": split-block, bloom and cuckoo filters have one");
}

// Returns make.operator()<F>() for the class F of concurrent filters of that kind. Throws
// Error(kUnsupported) if there is none.
template <typename Make>
auto ForConcurrentKind(FilterKind kind, const Make& make) {
  using Made = decltype(make.template operator()<ConcurrentBloomFilter>());
  return ForClass<ConcurrentSplitBlockBloomFilter, ConcurrentBloomFilter, ConcurrentCuckooFilter<8>,
                  ConcurrentCuckooFilter<12>, ConcurrentCuckooFilter<16>>(
      kind, make, [&]() -> Made { ThrowNotConcurrent(kind); });
}

// Takes over a plain filter, without a copy. Throws Error(kUnsupported) and Error(kReadOnly).
AnyConcurrent MakeConcurrent(AnyFilter filter);

inline AnyConcurrent AnyConcurrent::Load(const std::filesystem::path& path,
                                         const LoadOptions& options) {
  return MakeConcurrent(tamis::Load(path, options));
}

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_LIVE_ANY_CONCURRENT_H_
