// A filter bank as an object of Python.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_CLASSES_PY_BANK_H_
#define TAMIS_BINDINGS_PYTHON_SRC_CLASSES_PY_BANK_H_

#include <nanobind/nanobind.h>
#include <tamis/bank/filter_bank.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings/python/src/classes/gate.h"

namespace tamis::python {

namespace nb = nanobind;

// The library leaves gaps between the indexes of members, and Python has none: a member is known by
// its position in `names`.
struct MemberPositions {
  std::vector<std::string> names;     // by position
  std::vector<uint64_t> index_of;     // by position
  std::vector<uint64_t> position_of;  // by index; of one without a member, anything
};

struct PyBank {
  explicit PyBank(FilterBank made, MemoryOptions memory_options = {})
      : bank(std::move(made)), memory(memory_options) {}

  // Throws ReadOnlyError.
  void RequireChangeable() const;
  // Those of the bank as it is now. With the GIL and the gate.
  std::shared_ptr<const MemberPositions> Positions();

  FilterBank bank;
  const MemoryOptions memory;  // of filters that are made for it
  Gate gate;
  uint64_t changes = 0;  // counted with the GIL and the gate

 private:
  std::shared_ptr<const MemberPositions> positions_;
  uint64_t positions_at_ = 0;  // what `changes` was then
};

// A bank that is taken for a change, which counts whatever comes of it.
class ChangingBank {
 public:
  explicit ChangingBank(PyBank& bank) : lock_(bank.gate) { Begin(bank); }
  ChangingBank(PyBank& bank, AtOnce at_once) : lock_(bank.gate, at_once) { Begin(bank); }

 private:
  static void Begin(PyBank& bank) {
    bank.RequireChangeable();
    ++bank.changes;
  }

  const Writing lock_;
};

// A name of Python's: a str, or an int, which is its decimal digits. Throws TypeError,
// OverflowError and UnicodeEncodeError.
std::string MemberNameOf(nb::handle name);
// Names that are no UTF-8, as those of files may be, have surrogates, as os.fsdecode makes them.
// With no gate held, as all that makes containers of Python, which may run finalizers.
nb::object TextOfName(const std::string& name);
nb::list TextsOfNames(const std::vector<std::string>& names);

// The lookups, which are in a file of their own.
void DefineBankLookups(nb::class_<PyBank>& bank);

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_CLASSES_PY_BANK_H_
