# tamis_apple_exports(<map> <file>): writes the functions of a version script as Apple's linker takes them, which has
# no version scripts: one name per line, with an underscore in front.
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
