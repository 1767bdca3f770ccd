// Saves two filters alternately to one file until the process is killed. Writes a byte to standard
// output once the file exists.
#include <unistd.h>

#include "tamis/filters/split_block_filter.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  tamis::SplitBlockBloomFilter one({.capacity = 1000}), other({.capacity = 20'000});
  for (uint64_t key = 0; key < 1000; ++key) {
    one.Insert(key);
    other.Insert(~key);
  }
  one.Save(argv[1]);
  if (write(STDOUT_FILENO, ".", 1) != 1) return 2;
  for (;;) {
    other.Save(argv[1]);
    one.Save(argv[1]);
  }
}
