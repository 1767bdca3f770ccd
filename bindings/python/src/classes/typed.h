// Types of arguments and results, for the stubs and help().
#ifndef TAMIS_BINDINGS_PYTHON_SRC_CLASSES_TYPED_H_
#define TAMIS_BINDINGS_PYTHON_SRC_CLASSES_TYPED_H_

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstddef>

namespace tamis::python {

namespace nb = nanobind;

// The name of a type, with its module. bindings/python/stubs.pattern defines the names that begin
// with an underscore.
template <size_t kSize>
struct TypeName {
  constexpr TypeName(const char (&name)[kSize]) { std::copy_n(name, kSize, text); }
  char text[kSize] = {};
};

template <TypeName kName>
struct Named {};

// A handle or an object with a type for the stubs and help(). nanobind does not check the type.
template <TypeName kName>
using Arg = nb::typed<nb::handle, Named<kName>>;
template <TypeName kName>
using Result = nb::typed<nb::object, Named<kName>>;

using KeyArg = Arg<"tamis._Key">;
using KeysArg = Arg<"tamis._Keys">;
using NameArg = Arg<"tamis._Name">;
using BufferArg = Arg<"typing_extensions.Buffer">;
using ProgressArg = Arg<"collections.abc.Callable[[int], object]">;
using SelfArg = Arg<"typing.Self">;
using SelfResult = Result<"typing.Self">;
using AnyResult = Result<"typing.Any">;
using FilterResult = Result<"tamis.Filter">;
using AnyFilterResult = Result<"tamis.Filter | tamis.StaticFilter">;
using SplitBlockResult = Result<"tamis.SplitBlockBloomFilter">;
using ConcurrentResult = Result<"tamis.live.ConcurrentFilter">;
using AnyFilterArg = Arg<"tamis.Filter | tamis.live.ConcurrentFilter">;

}  // namespace tamis::python

namespace nanobind::detail {

template <tamis::python::TypeName kName>
struct type_caster<tamis::python::Named<kName>> {
  static constexpr auto Name = const_name(kName.text);
};

}  // namespace nanobind::detail

#endif  // TAMIS_BINDINGS_PYTHON_SRC_CLASSES_TYPED_H_
