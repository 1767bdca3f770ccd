#include "bindings/python/src/queries/answer.h"

#include <nanobind/stl/string.h>

#include <cstring>
#include <string>

#include "bindings/python/src/classes/typed.h"
#include "bindings/python/src/keys/arrow_abi.h"
#include "tamis/detail/str_cat.h"

namespace tamis::python {
namespace {

constexpr char kDoc[] =
    "Answers for many keys: bools, rows of bools, or indices. A sequence, an object with the\n"
    "buffer protocol (without a copy), and an Arrow array\n"
    "(__arrow_c_array__).\n\n"
    ">>> f = tamis.SplitBlockBloomFilter(1000)\n"
    ">>> f.update(['a', 'b'])\n"
    ">>> f.contains(['a', 'x', 'b'])\n"
    "[True, False, True]\n";

// The format of NumPy's int64: C's long if it has 64 bits, and long long on Windows.
constexpr char kInt64Format[] = {sizeof(long) == sizeof(int64_t) ? 'l' : 'q', '\0'};

int GetBuffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  if (!nb::inst_ready(self)) {  // created by __new__ without __init__
    view->obj = nullptr;
    PyErr_SetString(PyExc_BufferError,
                    "these Answers are empty: only calls with many keys create Answers");
    return -1;
  }
  const Answer& answer = *nb::inst_ptr<Answer>(self);
  const auto bytes = static_cast<Py_ssize_t>(answer.items() * answer.item_bytes());
  if (PyBuffer_FillInfo(view, self, answer.memory->As<void>(), bytes, 0, flags) != 0) return -1;
  // PyBuffer_FillInfo has described bytes. The fields that `flags` requests describe items instead.
  view->itemsize = static_cast<Py_ssize_t>(answer.item_bytes());
  const bool bools = answer.output == Answer::Output::kBools;
  if (view->format != nullptr) view->format = const_cast<char*>(bools ? "?" : kInt64Format);
  if (view->shape != nullptr) {
    const int dimensions = answer.columns ? 2 : 1;
    auto* const extents = static_cast<Py_ssize_t*>(std::malloc(4 * sizeof(Py_ssize_t)));
    if (extents == nullptr) {
      PyBuffer_Release(view);
      PyErr_NoMemory();
      return -1;
    }
    extents[0] = static_cast<Py_ssize_t>(answer.size);
    extents[dimensions] = view->itemsize;
    if (answer.columns) {
      extents[1] = static_cast<Py_ssize_t>(*answer.columns);
      extents[2] = extents[1] * view->itemsize;
      extents[3] = view->itemsize;
    }
    view->internal = extents;
    view->ndim = dimensions;
    view->shape = extents;
    if (view->strides != nullptr) view->strides = extents + dimensions;
  }
  return 0;
}

void ReleaseBuffer(PyObject*, Py_buffer* view) noexcept { std::free(view->internal); }

// The private data of an exported Arrow array. It owns the memory, because the array may outlive
// the interpreter.
struct Exported {
  std::shared_ptr<RawMemory> memory;
  const void* buffers[2];
};

// The private data of an exported array of lists. The lists have equal length, and one child array
// contains their bools.
struct ExportedLists {
  ArrowArray child;
  ArrowArray* children[1];
  const void* buffers[1];
};
struct ExportedListsSchema {
  std::string format;
  ArrowSchema child;
  ArrowSchema* children[1];
};

void ReleaseSchema(ArrowSchema* schema) { schema->release = nullptr; }
void ReleaseArray(ArrowArray* array) {
  delete static_cast<Exported*>(array->private_data);
  array->release = nullptr;
}
// Releases a list array or schema. Its child is released, too, unless a consumer has moved it.
template <typename Lists, typename T>
void ReleaseLists(T* parent) {
  auto* const lists = static_cast<Lists*>(parent->private_data);
  if (lists->child.release != nullptr) lists->child.release(&lists->child);
  delete lists;
  parent->release = nullptr;
}

struct ReleaseAndDelete {
  template <typename T>
  void operator()(T* value) const noexcept {
    if (value->release != nullptr) value->release(value);
    delete value;
  }
};
template <typename T>
using Owned = std::unique_ptr<T, ReleaseAndDelete>;

template <typename T>
nb::object CapsuleOf(Owned<T> value, const char* name) {
  const auto destroy = [](PyObject* capsule) {
    ReleaseAndDelete()(static_cast<T*>(PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule))));
  };
  nb::object capsule = nb::steal(PyCapsule_New(value.get(), name, destroy));
  if (!capsule.is_valid()) throw nb::python_error();
  value.release();
  return capsule;
}

// Returns the bools as bits, as Arrow requires.
std::shared_ptr<RawMemory> Packed(const Answer& answer) {
  auto packed = std::make_shared<RawMemory>();
  const size_t items = answer.items(), bytes = (items + 7) / 8;
  packed->Resize(bytes);
  auto* const bits = packed->As<uint8_t>();
  const auto* const bools = answer.memory->As<uint8_t>();
  const size_t whole = items / 8;
  for (size_t i = 0; i < whole; ++i) {
    // Bit 56 + k of the product is the lowest bit of byte k of `eight`. No carry reaches these
    // bits.
    uint64_t eight;
    std::memcpy(&eight, bools + 8 * i, sizeof(eight));
    bits[i] = static_cast<uint8_t>((eight & 0x0101010101010101) * 0x0102040810204080 >> 56);
  }
  if (whole < bytes) bits[whole] = 0;
  for (size_t i = 8 * whole; i < items; ++i) {
    bits[whole] |= static_cast<uint8_t>((bools[i] & 1) << (i % 8));
  }
  return packed;
}

ArrowSchema SchemaOf(const Answer& answer) {
  ArrowSchema schema = {};
  schema.format = answer.output == Answer::Output::kBools ? "b" : "l";
  schema.name = "";
  schema.release = ReleaseSchema;
  return schema;
}

ArrowArray ArrayOf(const Answer& answer) {
  auto exported = std::make_unique<Exported>();
  exported->memory = answer.output == Answer::Output::kBools ? Packed(answer) : answer.memory;
  exported->memory->Reserve(1);  // Arrow requires a pointer even for 0 elements
  exported->buffers[0] = nullptr;
  exported->buffers[1] = exported->memory->As<void>();
  ArrowArray array = {};
  array.length = static_cast<int64_t>(answer.items());
  array.n_buffers = 2;
  array.buffers = exported->buffers;
  array.release = ReleaseArray;
  array.private_data = exported.release();
  return array;
}

void MakeLists(const Answer& answer, ArrowSchema& schema, ArrowArray& array) {
  auto types = std::make_unique<ExportedListsSchema>();
  types->format = tamis::detail::StrCat("+w:", *answer.columns);
  types->child = SchemaOf(answer);
  types->child.name = "item";
  types->children[0] = &types->child;
  auto lists = std::make_unique<ExportedLists>();
  lists->child = ArrayOf(answer);
  lists->children[0] = &lists->child;
  lists->buffers[0] = nullptr;
  schema = {};
  schema.format = types->format.c_str();
  schema.name = "";
  schema.n_children = 1;
  schema.children = types->children;
  schema.release = ReleaseLists<ExportedListsSchema, ArrowSchema>;
  schema.private_data = types.release();
  array = {};
  array.length = static_cast<int64_t>(answer.size);
  array.n_buffers = 1;
  array.buffers = lists->buffers;
  array.n_children = 1;
  array.children = lists->children;
  array.release = ReleaseLists<ExportedLists, ArrowArray>;
  array.private_data = lists.release();
}

Result<"tuple[object, object]"> ArrowArrayOf(const Answer& answer, nb::handle) {
  Owned<ArrowSchema> schema(new ArrowSchema{});
  Owned<ArrowArray> array(new ArrowArray{});
  if (answer.columns) {
    MakeLists(answer, *schema, *array);
  } else {
    *schema = SchemaOf(answer);
    *array = ArrayOf(answer);
  }
  nb::object type = CapsuleOf(std::move(schema), "arrow_schema");
  return nb::make_tuple(type, CapsuleOf(std::move(array), "arrow_array"));
}

AnyResult ItemOf(const Answer& answer, Py_ssize_t i) {
  const auto size = static_cast<Py_ssize_t>(answer.size);
  if (i < 0) i += size;
  if (i < 0 || i >= size) throw nb::index_error();
  const auto* const bools = answer.memory->As<uint8_t>();
  if (answer.columns) {
    nb::list row;
    const size_t columns = *answer.columns, first = static_cast<size_t>(i) * columns;
    for (size_t column = 0; column < columns; ++column) {
      row.append(nb::bool_(bools[first + column] != 0));
    }
    return row;
  }
  if (answer.output == Answer::Output::kBools) return nb::bool_(bools[i] != 0);
  return nb::int_(answer.memory->As<int64_t>()[i]);
}

Result<"list[typing.Any]"> ListOf(const Answer& answer) {
  nb::list list;
  for (size_t i = 0; i < answer.size; ++i) list.append(ItemOf(answer, static_cast<Py_ssize_t>(i)));
  return list;
}

PyType_Slot kSlots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(GetBuffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(ReleaseBuffer)},
    {0, nullptr},
};

}  // namespace

void DefineAnswer(nb::module_& m) {
  nb::class_<Answer>(m, "Answers", nb::type_slots(kSlots),
                     nb::sig("class Answers(collections.abc.Sequence[typing.Any])"), kDoc)
      .def("__len__", [](const Answer& answer) { return answer.size; })
      .def("__getitem__", ItemOf, nb::arg("index"))
      .def("tolist", ListOf, "Returns a list of bool, of lists of bool, or of int.")
      .def("__arrow_c_array__", ArrowArrayOf, nb::arg("requested_schema").none() = nb::none(),
           "Returns a boolean or int64 Arrow array; rows are a fixed-size list each.")
      .def("__repr__", [](const Answer& answer) {
        const std::string size = std::to_string(answer.size);
        if (answer.columns) {
          return tamis::detail::StrCat("<tamis.Answers: ", size, " x ", *answer.columns, " bools>");
        }
        const char* const what = answer.output == Answer::Output::kBools ? " bools" : " indices";
        return "<tamis.Answers: " + size + what + ">";
      });
}

}  // namespace tamis::python
