# Writes OUT.cc, which holds the commit that SOURCE is at, if that changed: run at each build, for a commit does
# not configure anew.
set(commit "")
find_program(git git)
if(git)
  execute_process(COMMAND ${git} -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT [[#include "bench/commit.h"

namespace tamis::bench {
const char* const kCommit = "@commit@";
}
]] @ONLY)
