// A filter bank as a Python object.
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

// Maps members between indexes and positions. Indexes, which the library uses, may have gaps.
// Positions, which Python uses, have no gaps: the position of a member is its index in `names`.
struct MemberPositions {
  std::vector<std::string> names;     // element i: name of the member at position i
  std::vector<uint64_t> index_of;     // element i: index of the member at position i
  std::vector<uint64_t> position_of;  // element i: position of the member with index i, if any
};

struct PyBank {
  explicit PyBank(FilterBank made, MemoryOptions memory_options = {})
      : bank(std::move(made)), memory(memory_options) {}

  // Throws ReadOnlyError.
  void RequireChangeable() const;
  // Returns the positions in the current bank. Requires the GIL and the gate.
  std::shared_ptr<const MemberPositions> Positions();

  FilterBank bank;
  const MemoryOptions memory;  // the options of filters that are created for the bank
  Gate gate;
  uint64_t changes = 0;  // protected by the GIL and the gate

 private:
  std::shared_ptr<const MemberPositions> positions_;
  uint64_t positions_at_ = 0;  // the value of `changes` when positions_ was made
};

// Locks a bank for a change. Counts the change even if it fails.
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

// Returns the name of a member: a str, or an int, which stands for its decimal digits. Throws
// TypeError, OverflowError and UnicodeEncodeError.
std::string MemberNameOf(nb::handle name);
// Return str objects. Invalid UTF-8, which names of files may contain, becomes surrogates like in
// os.fsdecode. Do not call while holding a gate, because creating Python containers may run
// finalizers.
nb::object TextOfName(const std::string& name);
nb::list TextsOfNames(const std::vector<std::string>& names);

// Defines the lookups, which are in a separate file.
void DefineBankLookups(nb::class_<PyBank>& bank);

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_CLASSES_PY_BANK_H_
