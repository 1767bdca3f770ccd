# Writes OUT, which holds the commit that SOURCE is at, if that changed: run at each build, for a commit
# does not configure anew. Unknown in an unpacked release, even one that lies in another repository.
set(commit "")
find_program(git git)
if(git)
  execute_process(COMMAND ${git} -C ${SOURCE} rev-parse --show-prefix
    OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  if(status EQUAL 0 AND prefix STREQUAL "")
    execute_process(COMMAND ${git} -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
      OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT [[#include "bench/commit.h"

namespace tamis::bench {
const char* const kCommit = "@commit@";
}
]] @ONLY)
