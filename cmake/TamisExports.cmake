# tamis_exports(<format> <map> <file>): converts a version script to the list of exports of another linker. Linkers
# for macOS and Windows do not read version scripts. Formats:
# - APPLE: one function per line, with an underscore in front of its name, for -exported_symbols_list.
# - WINDOWS: a module definition file (.def).
function(tamis_exports format map file)
  file(STRINGS "${map}" lines REGEX "^ +tamis_")
  set(before "_")
  set(text)
  if(format STREQUAL "WINDOWS")
    set(before "  ")
    set(text "EXPORTS\n")
  endif()
  foreach(line IN LISTS lines)
    string(REGEX MATCH "tamis_[a-z0-9_]+" name "${line}")
    string(APPEND text "${before}${name}\n")
  endforeach()
  file(WRITE "${file}" "${text}")
endfunction()

# cmake -DFORMAT=FORMAT -DMAP=MAP -DOUT=FILE -P TamisExports.cmake: the same, for tests.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  tamis_exports("${FORMAT}" "${MAP}" "${OUT}")
endif()
