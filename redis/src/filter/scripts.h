// What servers do with a segment: each script first checks that it is whole and the one meant, and
// is carried out as a whole or not at all. FORMAT.md says what they check. When keys expire none of
// them changes.
#ifndef TAMIS_REDIS_SRC_FILTER_SCRIPTS_H_
#define TAMIS_REDIS_SRC_FILTER_SCRIPTS_H_

#include "redis/src/client/command.h"

namespace tamis::redis {

// Arguments are as they are sent: offsets are decimal texts, as servers print numbers of scripts
// more slowly than they read texts.
struct Scripts {
  // These have the segment as their first key, and begin with the arguments: where the state begins
  // and where its window ends, the state without the version, where the version is, and an odd
  // version for one that is even. They give the window of the state if it is another, else a
  // number.
  //
  // More arguments: of each block, where it begins and ends, and 32 bytes of bits to set. Gives how
  // many blocks changed.
  Script insert;
  // One more key: a delta, whose bits are set; it is then removed. One more argument: when the
  // segment expires, or "0". Gives 1, or kNoDelta.
  Script merge;
  // Like those before, with an even version for one that is odd. Gives the window of the state.
  Script settle;

  // Of a segment that has a mark, and, as second key, that of the other generation; before the
  // further arguments, the other's state without the version. They change both, or the first alone
  // if the other is no segment of its generation (any more). If it is one and names another, they
  // give both windows, one behind the other, of which the first has 32 bytes.
  Script insert_both;
  // The delta is the third key. Further arguments: when segments expire, or "0"; kBoth, or kFirst
  // if the other is only checked.
  Script merge_both;

  // Makes the mark another one. Arguments: where the state begins and where its window ends, the
  // state without the version, where the mark is, and the new mark. With a second key that one is
  // removed. Gives the window of the state: if its mark is not the new one, nothing was done.
  Script mark;
  // Of a segment, and of that of the next generation: closes the first. If it did not have the mark
  // of the next one, its bits are first added there. Arguments: where the state begins and where
  // its window ends, generation and length of the first, the next generation, an odd version, and
  // when segments expire, or "0".
  Script close;

  // Of a segment: makes it, of zeros, if it is not there. Arguments: where the state begins and
  // where its window ends, the state, and when it expires, or "0". Gives the window.
  Script create;
  // Of descriptor, rebuild and lease: removes all if the first is the argument. Gives what the
  // second was, or "", or kChanged.
  Script drop;

  // Of descriptor, rebuild and lease. Arguments: the rebuild as it should be ("": there is none)
  // and the new one, whose lease is looked over (or "") and whose it becomes, for how many
  // milliseconds, and when the rebuild expires, or "0". Gives the descriptor, kChanged, or for how
  // many milliseconds another has it.
  Script acquire;
  // Of rebuild and lease. Arguments: the rebuild, its owner, milliseconds. Gives 1, or kChanged.
  Script renew;
  // Of descriptor and rebuild. Arguments: the rebuild, the descriptor and the new one. Gives 1, or
  // kChanged.
  Script replace;
  // Of rebuild and lease: removes both. Argument: the rebuild. Gives 1, or kChanged.
  Script end;
  // Of the lease: removes it. Argument: the owner.
  Script release;
};
const Scripts& AllScripts();

inline constexpr int64_t kNoDelta = -1;
inline constexpr int64_t kChanged = -1;
inline constexpr const char* kFirst = "1";
inline constexpr const char* kBoth = "2";

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_FILTER_SCRIPTS_H_
