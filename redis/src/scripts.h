// What servers do with a segment: each script first checks that it is whole and the one meant, and
// is carried out as a whole or not at all. FORMAT.md says what they check.
#ifndef TAMIS_REDIS_SRC_SCRIPTS_H_
#define TAMIS_REDIS_SRC_SCRIPTS_H_

#include "redis/src/command.h"

namespace tamis::redis {

// Arguments are as they are sent: offsets are decimal texts, as servers print numbers of scripts
// more slowly than they read texts.
struct Scripts {
  // Both have the segment as their first key, and begin with the arguments: where the state begins
  // and where its window ends, the state without the version, where the version is, and an odd
  // version for one that is even. They give the window of the state if it is another, else a
  // number.
  //
  // More arguments: of each block, where it begins and ends, and 32 bytes of bits to set. Gives how
  // many blocks changed.
  Script insert;
  // One more key: a delta, whose bits are set; it is then removed. Gives 1, or kNoDelta.
  Script merge;
  // Like those before, with an even version for one that is odd. Gives the window of the state.
  Script settle;
  // Of a segment: makes it, of zeros, if it is not there. Arguments: where the state begins and
  // where its window ends, and the state. Gives the window.
  Script create;
  // Of the descriptor alone: removes it if it is the argument.
  Script drop;
};
const Scripts& AllScripts();

inline constexpr int64_t kNoDelta = -1;

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_SCRIPTS_H_
