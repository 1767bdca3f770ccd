// Keys asked of a bank whose members may have them in several types.
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

// Asks each member for keys as it has them: integers also as the four bytes of Parquet's INT32,
// numbers in text also as its FLOAT and DOUBLE, for which not-a-number may be in any member, as no
// filter rules it out.
class BankKeys {
 public:
  // Keys are read in the type `asked`. Throws Error(kInvalidArgument) if no member can have such,
  // unless any type will do, and says if some cannot, unless it is to be `quiet`. The bank outlives
  // it.
  BankKeys(const FilterBank& bank, const KeyTypeOptions& options, const std::string& path,
           KeyType asked, bool quiet);

  // As the functions of FilterBank.
  std::vector<BankHit> Select(const Engine& engine, const KeyBatch& batch);
  std::vector<uint64_t> CountPerMember(const Engine& engine, const KeyBatch& batch);

  // Keys that members of numbers cannot have, and were not asked for there: one for each such type.
  uint64_t misfits() const { return misfits_; }

 private:
  // Of all members that have this type.
  struct Pass {
    KeyType type;
    std::vector<bool> members;  // by index
  };
  // Appends the hashes of key i in the type of Parquet, and i for each.
  void AddHashes(KeyType type, const KeyBatch& batch, size_t i);
  void AddHash(const void* stored, size_t bytes, size_t key);

  const FilterBank& bank_;
  KeyType asked_;
  std::vector<Pass> passes_;  // none if keys are asked as they are, everywhere
  uint64_t misfits_ = 0;
  std::vector<uint64_t> hashes_;
  std::vector<uint64_t> keys_;         // of which they are
  std::vector<uint64_t> not_numbers_;  // keys
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_BANK_KEYS_H_
