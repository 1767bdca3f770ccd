#include "bindings/python/src/answer.h"

#include <nanobind/stl/string.h>

#include <cstring>
#include <string>

#include "bindings/python/src/arrow_abi.h"

namespace tamis::python {
namespace {

constexpr char kDoc[] =
    "Answers for many keys: bools, or indices of keys. A sequence, an object with the buffer\n"
    "protocol (format '?' or 'l', without a copy), and an array of Arrow (__arrow_c_array__).\n\n"
    ">>> f = tamis.SplitBlockBloomFilter(1000)\n"
    ">>> f.update(['a', 'b'])\n"
    ">>> f.contains(['a', 'x', 'b'])\n"
    "[True, False, True]\n";

static_assert(sizeof(long) == sizeof(int64_t));  // what NumPy calls int64 is format 'l'

int GetBuffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  if (!nb::inst_ready(self)) {  // of __new__ alone
    view->obj = nullptr;
    PyErr_SetString(PyExc_BufferError, "these answers are of no call");
    return -1;
  }
  const Answer& answer = *nb::inst_ptr<Answer>(self);
  const auto bytes = static_cast<Py_ssize_t>(answer.size * answer.item_bytes());
  if (PyBuffer_FillInfo(view, self, answer.memory->As<void>(), bytes, 0, flags) != 0) return -1;
  // Of many items, and not of bytes: as much as was asked for.
  view->itemsize = static_cast<Py_ssize_t>(answer.item_bytes());
  const bool bools = answer.form == Answer::Form::kBools;
  if (view->format != nullptr) view->format = const_cast<char*>(bools ? "?" : "l");
  if (view->shape != nullptr) {
    auto* const extents = static_cast<Py_ssize_t*>(std::malloc(2 * sizeof(Py_ssize_t)));
    if (extents == nullptr) {
      PyBuffer_Release(view);
      PyErr_NoMemory();
      return -1;
    }
    extents[0] = static_cast<Py_ssize_t>(answer.size);
    extents[1] = view->itemsize;
    view->internal = extents;
    view->shape = extents;
    if (view->strides != nullptr) view->strides = extents + 1;
  }
  return 0;
}

void ReleaseBuffer(PyObject*, Py_buffer* view) noexcept { std::free(view->internal); }

// An Arrow array that owns its memory: it may outlive the interpreter.
struct Exported {
  std::shared_ptr<RawMemory> memory;
  const void* buffers[2];
};

void ReleaseSchema(ArrowSchema* schema) { schema->release = nullptr; }
void ReleaseArray(ArrowArray* array) {
  delete static_cast<Exported*>(array->private_data);
  array->release = nullptr;
}

template <typename T>
nb::object CapsuleOf(std::unique_ptr<T> value, const char* name) {
  const auto destroy = [](PyObject* capsule) {
    auto* const owned = static_cast<T*>(PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
    if (owned->release != nullptr) owned->release(owned);
    delete owned;
  };
  nb::object capsule = nb::steal(PyCapsule_New(value.get(), name, destroy));
  if (!capsule.is_valid()) throw nb::python_error();
  value.release();
  return capsule;
}

// Arrow has a bit for each bool.
std::shared_ptr<RawMemory> Packed(const Answer& answer) {
  auto packed = std::make_shared<RawMemory>();
  const size_t bytes = (answer.size + 7) / 8;
  packed->Resize(bytes);
  auto* const bits = packed->As<uint8_t>();
  const auto* const bools = answer.memory->As<uint8_t>();
  const size_t whole = answer.size / 8;
  for (size_t i = 0; i < whole; ++i) {
    // The product has the lowest bit of byte k, of eight, at bit 56 + k, and nothing carries there.
    uint64_t eight;
    std::memcpy(&eight, bools + 8 * i, sizeof(eight));
    bits[i] = static_cast<uint8_t>((eight & 0x0101010101010101) * 0x0102040810204080 >> 56);
  }
  if (whole < bytes) bits[whole] = 0;
  for (size_t i = 8 * whole; i < answer.size; ++i) {
    bits[whole] |= static_cast<uint8_t>((bools[i] & 1) << (i % 8));
  }
  return packed;
}

nb::object ArrowArrayOf(const Answer& answer, nb::handle) {
  const bool bools = answer.form == Answer::Form::kBools;
  auto schema = std::make_unique<ArrowSchema>();
  *schema = {};
  schema->format = bools ? "b" : "l";
  schema->name = "";
  schema->release = ReleaseSchema;
  auto exported = std::make_unique<Exported>();
  exported->memory = bools ? Packed(answer) : answer.memory;
  exported->memory->Reserve(1);  // a pointer, also for no elements
  exported->buffers[0] = nullptr;
  exported->buffers[1] = exported->memory->As<void>();
  auto array = std::make_unique<ArrowArray>();
  *array = {};
  array->length = static_cast<int64_t>(answer.size);
  array->n_buffers = 2;
  array->buffers = exported->buffers;
  array->release = ReleaseArray;
  array->private_data = exported.release();
  nb::object schema_capsule = CapsuleOf(std::move(schema), "arrow_schema");
  try {
    return nb::make_tuple(schema_capsule, CapsuleOf(std::move(array), "arrow_array"));
  } catch (...) {
    if (array != nullptr) ReleaseArray(array.get());
    throw;
  }
}

nb::object ItemOf(const Answer& answer, Py_ssize_t i) {
  const auto size = static_cast<Py_ssize_t>(answer.size);
  if (i < 0) i += size;
  if (i < 0 || i >= size) throw nb::index_error();
  if (answer.form == Answer::Form::kBools) return nb::bool_(answer.memory->As<uint8_t>()[i] != 0);
  return nb::int_(answer.memory->As<int64_t>()[i]);
}

nb::list ListOf(const Answer& answer) {
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
  nb::class_<Answer>(m, "Answers", nb::type_slots(kSlots), kDoc)
      .def("__len__", [](const Answer& answer) { return answer.size; })
      .def("__getitem__", ItemOf, nb::arg("index"))
      .def("tolist", ListOf, "As a list of bool or int.")
      .def("__arrow_c_array__", ArrowArrayOf, nb::arg("requested_schema").none() = nb::none(),
           "As a boolean or int64 array of Arrow.")
      .def("__repr__", [](const Answer& answer) {
        const char* const what = answer.form == Answer::Form::kBools ? "bools" : "indices";
        return "<tamis.Answers: " + std::to_string(answer.size) + " " + what + ">";
      });
}

}  // namespace tamis::python
