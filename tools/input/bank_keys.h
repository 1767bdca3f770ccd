// Queries a bank whose members may have different key types.
#ifndef TAMIS_TOOLS_INPUT_BANK_KEYS_H_
#define TAMIS_TOOLS_INPUT_BANK_KEYS_H_

#include <tamis/bank/filter_bank.h>
#include <tamis/engine/engine.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tools/input/key_reader.h"
#include "tools/input/key_type.h"

namespace tamis::tools {

// Queries each member in its key type. Integers are also queried as the four bytes of a Parquet
// INT32, and numbers in text also as FLOAT and DOUBLE. A NaN is reported for every member with
// FLOAT or DOUBLE keys, because filters cannot rule out a NaN.
class BankKeys {
 public:
  // The keys to query are of type `asked`. Unless `options` allow any type, throws
  // Error(kInvalidArgument) if no member can have such keys. If only some members can have them and
  // `quiet` is false, prints a warning. `bank` must outlive this object.
  BankKeys(const FilterBank& bank, const KeyTypeOptions& options, const std::string& path,
           KeyType asked, bool quiet);

  // Like the functions of FilterBank.
  std::vector<BankHit> Select(const Engine& engine, const KeyBatch& batch);
  std::vector<uint64_t> CountPerMember(const Engine& engine, const KeyBatch& batch);

  // Returns how often a key was not queried as a Parquet type because the type cannot represent it.
  uint64_t misfits() const { return misfits_; }

 private:
  // One query for all members whose keys have type `type`.
  struct Pass {
    KeyType type;
    std::vector<bool> members;  // element i: whether member i has keys of this type
  };
  // Appends the hashes of key i as Parquet type `type` to hashes_, and i to keys_ for each hash.
  void AddHashes(KeyType type, const KeyBatch& batch, size_t i);
  void AddHash(const void* stored, size_t bytes, size_t key);

  const FilterBank& bank_;
  KeyType asked_;
  std::vector<Pass> passes_;  // empty if all members are queried in the type `asked_`
  uint64_t misfits_ = 0;
  std::vector<uint64_t> hashes_;
  std::vector<uint64_t> keys_;         // for each hash, the index of its key
  std::vector<uint64_t> not_numbers_;  // indices of keys that are not-a-number
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_BANK_KEYS_H_
