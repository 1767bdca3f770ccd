// Adds contents of other split-block filters piece by piece, for jobs on many machines.
#include <nanobind/stl/string.h>
#include <tamis/key_types_text.h>

#include <cstring>
#include <string>

#include "bindings/python/src/classes/classes.h"
#include "bindings/python/src/classes/py_filter.h"
#include "tamis/detail/str_cat.h"

namespace tamis::python {
namespace {

// Returns the key types whose KeyTypesText is `text`, or kUnknown if there are none.
KeyTypes KeyTypesOf(const std::string& text) {
  for (unsigned bits = 0; bits < 1u << KeyTypes::kCount; ++bits) {
    const KeyTypes types = KeyTypes::FromBits(static_cast<uint16_t>(bits));
    if (KeyTypesText(types) == text) return types;
  }
  return KeyType::kUnknown;
}

void OrInto(std::byte* to, const std::byte* from, size_t n) {
  size_t i = 0;
  for (; i + sizeof(uint64_t) <= n; i += sizeof(uint64_t)) {
    uint64_t a, b;
    std::memcpy(&a, to + i, sizeof(a));
    std::memcpy(&b, from + i, sizeof(b));
    a |= b;
    std::memcpy(to + i, &a, sizeof(a));
  }
  for (; i < n; ++i) to[i] |= from[i];
}

void MergeContents(PyFilter& f, BufferArg data, Unsigned offset, Unsigned inserted_count,
                   const std::string& key_types) {
  const HeldBuffer held(data, PyBUF_SIMPLE);
  const auto n = static_cast<size_t>(held.view().len);
  const Writing lock(f.gate);
  f.RequireChangeable();
  auto* const found = f.filter.As<SplitBlockBloomFilter>();
  if (found == nullptr) throw nb::type_error("this is not a split-block filter");
  SplitBlockBloomFilter& filter = *found;
  if (offset.value > filter.bytes() || n > filter.bytes() - offset.value) {
    throw nb::value_error(tamis::detail::StrCat("bytes [", offset.value, ", +", n,
                                                ") are not within the ", filter.bytes(),
                                                " of the contents")
                              .c_str());
  }
  KeyTypes types = filter.key_types();
  types.Add(KeyTypesOf(key_types));
  const WithoutGil released;
  const SplitBlockView view = filter.mutable_view();
  OrInto(view.mutable_blocks().data() + offset.value,
         static_cast<const std::byte*>(held.view().buf), n);
  view.AddInserted(inserted_count.value);
  filter.set_key_types(types);
}

}  // namespace

void DefineContents(nb::class_<FilterOf<FilterKind::kSplitBlock>, PyFilter>& filter) {
  filter.def(
      "merge_contents", MergeContents, nb::arg("data"), nb::arg("offset") = Unsigned{},
      nb::kw_only(), nb::arg("inserted_count") = Unsigned{}, nb::arg("key_types") = "unknown",
      "Adds a part of the contents of another filter with equal size and hash. The contents are\n"
      "not checked.\n\n"
      "data: bytes of memoryview(other) from `offset` on.\n"
      "inserted_count, key_types: properties of the other filter. Pass them with one part only.\n\n"
      ">>> a, b = tamis.SplitBlockBloomFilter(1000), tamis.SplitBlockBloomFilter(1000)\n"
      ">>> a.update(range(500))\n"
      ">>> contents = memoryview(a)\n"
      ">>> b.merge_contents(contents[:100], inserted_count=500, key_types=a.key_types)\n"
      ">>> b.merge_contents(contents[100:], 100, key_types='none')\n"
      ">>> b.to_bytes() == a.to_bytes()\n"
      "True\n");
}

}  // namespace tamis::python
