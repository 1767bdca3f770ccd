# Installs the build folder BUILD into an empty PREFIX, and checks the installed files.
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX}
  COMMAND_ERROR_IS_FATAL ANY)

# Public headers only, whatever the private folders contain.
file(GLOB includes RELATIVE ${PREFIX}/include ${PREFIX}/include/*)
if(NOT includes STREQUAL "tamis")
  message(FATAL_ERROR "include/ has more than tamis: ${includes}")
endif()
file(GLOB_RECURSE files RELATIVE ${PREFIX} ${PREFIX}/*)
foreach(file IN LISTS files)
  if(file MATCHES "^include/" AND NOT file MATCHES "\\.(h|cuh)$")
    message(FATAL_ERROR "not a header: ${file}")
  endif()
endforeach()
foreach(want "include/tamis/tamis.h" "include/tamis/live/live.h" "include/tamis/formats/guava.h" "pkgconfig/tamis.pc" "cmake/tamis/tamisConfig.cmake")
  if(NOT files MATCHES "${want}")
    message(FATAL_ERROR "not installed: ${want}; there are: ${files}")
  endif()
endforeach()
