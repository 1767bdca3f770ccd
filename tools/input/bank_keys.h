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

// Queries each member in its key type: integers also as the four bytes of the INT32 of Parquet,
// numbers in text also as its FLOAT and DOUBLE. Not-a-number may be in every member of FLOAT or
// DOUBLE, because no filter rules it out.
class BankKeys {
 public:
  // Keys are read in the type `asked`. Throws Error(kInvalidArgument) if no member can have such
  // keys, unless `options` allow any type. Prints a warning if some members cannot, unless `quiet`.
  // `bank` must outlive this object.
  BankKeys(const FilterBank& bank, const KeyTypeOptions& options, const std::string& path,
           KeyType asked, bool quiet);

  // Like the functions of FilterBank.
  std::vector<BankHit> Select(const Engine& engine, const KeyBatch& batch);
  std::vector<uint64_t> CountPerMember(const Engine& engine, const KeyBatch& batch);

  // Number of keys that were not queried as a type of Parquet, because this type cannot represent
  // them. A key counts once for each such type.
  uint64_t misfits() const { return misfits_; }

 private:
  // One query, of all members that have this type.
  struct Pass {
    KeyType type;
    std::vector<bool> members;  // by index
  };
  // Appends the hashes of key i in this type of Parquet, and i for each hash.
  void AddHashes(KeyType type, const KeyBatch& batch, size_t i);
  void AddHash(const void* stored, size_t bytes, size_t key);

  const FilterBank& bank_;
  KeyType asked_;
  std::vector<Pass> passes_;  // empty if all members are queried with keys as they are
  uint64_t misfits_ = 0;
  std::vector<uint64_t> hashes_;
  std::vector<uint64_t> keys_;         // the keys of these hashes
  std::vector<uint64_t> not_numbers_;  // indices of keys that are not-a-number
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_BANK_KEYS_H_
