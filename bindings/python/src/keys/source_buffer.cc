// Keys of NumPy arrays, array.array and other objects with the buffer protocol.
#include <cstring>
#include <limits>
#include <string>

#include "bindings/python/src/classes/py_filter.h"
#include "bindings/python/src/keys/gathered_keys.h"
#include "bindings/python/src/keys/key_source.h"
#include "bindings/python/src/keys/one_key.h"
#include "bindings/python/src/keys/widen.h"
#include "tamis/detail/compiler.h"
#include "tamis/detail/str_cat.h"

namespace tamis::python {
namespace {

enum class Element : uint8_t { kInteger, kBytes, kText, kObject };

// The layout of an element, from the format of its buffer (module struct, and PEP 3118).
struct Layout {
  Element element = Element::kInteger;
  bool is_signed = false;
  bool swapped = false;  // its byte order differs from this machine's
};

[[noreturn]] void ThrowNoKeys(const char* format) {
  std::string message = "an array of format '" + std::string(format) + "' has no keys: ";
  const char* const type = format + std::strcspn(format, "efdg?TZ");
  switch (*type) {
    case '?':
      message += "bool is not a key; x.astype(\"uint8\") converts it to 0 and 1";
      break;
    case 'e':
    case 'f':
    case 'd':
    case 'g':
      message +=
          "floating-point numbers are not keys; x.astype(\"int64\") converts them to integers, "
          "x.view(\"uint64\") reads the bits of float64";
      break;
    default:
      message += "keys are integers, str or bytes";
  }
  throw nb::type_error(message.c_str());
}

Layout LayoutOf(const Py_buffer& view) {
  const char* const format = view.format != nullptr ? view.format : "B";
  const char* at = format;
  Layout layout;
  if (*at == '>' || *at == '!') layout.swapped = true;
  if (std::strchr("<>=!@|", *at) != nullptr && *at != '\0') ++at;
  while (*at >= '0' && *at <= '9') ++at;  // the length of strings, which itemsize also contains
  const bool single = *at != '\0' && at[1] == '\0';
  if (!single) ThrowNoKeys(format);
  const auto size = static_cast<size_t>(view.itemsize);
  if (std::strchr("bhilqn", *at) != nullptr || std::strchr("BHILQN", *at) != nullptr) {
    if (size != 1 && size != 2 && size != 4 && size != 8) ThrowNoKeys(format);
    layout.is_signed = *at >= 'a';
  } else if (*at == 's') {
    layout.element = Element::kBytes;
  } else if (*at == 'w') {
    layout.element = Element::kText;
  } else if (*at == 'O') {
    layout.element = Element::kObject;
  } else {
    ThrowNoKeys(format);
  }
  return layout;
}

class BufferSource final : public KeySource {
 public:
  BufferSource(nb::handle object, size_t gathered)
      : held_(object, PyBUF_RECORDS_RO), batch_(gathered) {
    const Py_buffer& view = held_.view();
    if (view.ndim != 1) {
      throw nb::value_error(
          tamis::detail::StrCat("keys are in an array of one dimension, and this has ", view.ndim)
              .c_str());
    }
    size_ = static_cast<size_t>(view.shape[0]);
    if (size_ == 0) return;  // an empty array may have any type: np.array([]) has floats
    layout_ = LayoutOf(view);
    data_ = static_cast<const char*>(view.buf);
    stride_ = view.strides != nullptr ? view.strides[0] : view.itemsize;
    width_ = static_cast<size_t>(view.itemsize);
    if (const std::optional<Keys> keys = AsTheyAre()) {
      direct_ = true;
      slices_ = Slices(*keys);
    }
  }

  std::optional<uint64_t> size() const override { return size_; }

  bool Next(Keys& keys) override {
    if (direct_) return slices_.Next(keys);
    if (at_ == size_ && !error_.pending()) return false;
    switch (layout_.element) {
      case Element::kInteger:
        keys = NextIntegers();
        break;
      case Element::kBytes:
        keys = NextStrings([this](const char* item) { AddBytes(item); });
        break;
      case Element::kText:
        keys = NextStrings([this](const char* item) { AddText(item); });
        break;
      case Element::kObject:
        keys = NextBatch([this] { ReadObjects(); });
        break;
    }
    return true;
  }

 private:
  // Returns integers in place, if the library supports their layout.
  std::optional<Keys> AsTheyAre() const {
    if (layout_.element != Element::kInteger || layout_.swapped) return std::nullopt;
    return KeysInPlace(data_, size_, width_, layout_.is_signed, stride_);
  }

  const char* Item(size_t i) const { return data_ + static_cast<Py_ssize_t>(i) * stride_; }

  Keys NextIntegers() {
    const size_t n = std::min(kConvertedKeys, size_ - at_);
    integers_.resize(n);
    Widen(Item(at_), stride_, n, {width_, layout_.is_signed, layout_.swapped}, integers_.data());
    at_ += n;
    return integers_;
  }

  template <typename Read>
  Keys NextBatch(const Read& read) {
    batch_.Clear();
    error_.Catch(read, [this] { return batch_.size(); });
    return batch_.keys();
  }

  template <typename AddItem>
  Keys NextStrings(const AddItem& add) {
    return NextBatch([&] {
      while (at_ < size_ && !batch_.full()) add(Item(at_++));
    });
  }

  // Adds a byte string. Drops zero bytes at its end, like NumPy.
  void AddBytes(const char* item) {
    size_t n = width_;
    while (n > 0 && item[n - 1] == '\0') --n;
    batch_.Take(std::string_view(item, n));
  }

  // Adds a string of UTF-32, converted to UTF-8. Drops zeros at its end, like NumPy.
  void AddText(const char* item) {
    text_.clear();
    size_t n = width_ / 4;
    while (n > 0 && CodeAt(item, n - 1) == 0) --n;
    for (size_t i = 0; i < n; ++i) AppendUtf8(CodeAt(item, i));
    batch_.Take(std::string_view(text_));
  }
  uint32_t CodeAt(const char* item, size_t i) const {
    uint32_t code;
    std::memcpy(&code, item + 4 * i, sizeof(code));
    return layout_.swapped ? tamis::detail::ByteSwap(code) : code;
  }
  void AppendUtf8(uint32_t code) {
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
      throw nb::value_error(
          tamis::detail::StrCat("text at index ", at_ - 1,
                                " has a lone surrogate or a number that is not a character")
              .c_str());
    }
    const auto put = [this](uint32_t byte) { text_ += static_cast<char>(byte); };
    if (code < 0x80) return put(code);
    if (code < 0x800) {
      put(0xC0 | code >> 6);
    } else {
      if (code < 0x10000) {
        put(0xE0 | code >> 12);
      } else {
        put(0xF0 | code >> 18);
        put(0x80 | (code >> 12 & 0x3F));
      }
      put(0x80 | (code >> 6 & 0x3F));
    }
    put(0x80 | (code & 0x3F));
  }

  void ReadObjects() {
    while (at_ < size_ && !batch_.full()) {
      // Holds a reference to the item while it is read, because its __index__ may remove it from
      // the array.
      PyObject* item;
      std::memcpy(&item, Item(at_), sizeof(item));
      const nb::object kept = nb::borrow(item);
      OneKey key;
      if (!key.ParseOrNull(item)) throw nb::python_error();
      if (!batch_.Take(key)) break;
      ++at_;
    }
  }

  HeldBuffer held_;
  Layout layout_;
  const char* data_ = nullptr;
  size_t size_ = 0;
  size_t width_ = 0;
  Py_ssize_t stride_ = 0;
  bool direct_ = false;
  Slices slices_;
  size_t at_ = 0;
  std::vector<uint64_t> integers_;
  GatheredKeys batch_;
  LateError error_;
  std::string text_;
};

}  // namespace

std::unique_ptr<KeySource> SourceOfBuffer(nb::handle object, size_t gathered) {
  if (PyObject_CheckBuffer(object.ptr()) == 0) return nullptr;
  return std::make_unique<BufferSource>(object, gathered);
}

}  // namespace tamis::python
