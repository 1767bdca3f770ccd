# tamis_apple_exports(<map> <file>): converts a version script to the list that Apple's linker reads. The list has
# one function per line, with an underscore in front of its name. Apple's linker does not read version scripts.
function(tamis_apple_exports map file)
  file(STRINGS "${map}" lines REGEX "^ +tamis_")
  set(names)
  foreach(line IN LISTS lines)
    string(REGEX MATCH "tamis_[a-z0-9_]+" name "${line}")
    string(APPEND names "_${name}\n")
  endforeach()
  file(WRITE "${file}" "${names}")
endfunction()

# cmake -DMAP=MAP -DOUT=FILE -P TamisExports.cmake: the same, for tests.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  tamis_apple_exports("${MAP}" "${OUT}")
endif()
