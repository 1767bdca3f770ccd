# Writes OUT with the commit of SOURCE, if it changed. This runs at each build, because a commit
# does not run the configuration again. The commit is unknown in an unpacked release, even inside
# another repository.
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
