# If -ffast-math comes before -fno-fast-math, clang warns about each file.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND NOT MSVC)
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-Woverriding-option TAMIS_HAS_WOVERRIDING_OPTION)  # before 18: -t-option
  if(TAMIS_HAS_WOVERRIDING_OPTION)
    set(TAMIS_OVERRIDING_IS_MEANT -Wno-overriding-option)
  else()
    set(TAMIS_OVERRIDING_IS_MEANT -Wno-overriding-t-option)
  endif()
endif()

# tamis_drop_other_systems(<variable>): removes the sources of other operating systems from a list of sources.
function(tamis_drop_other_systems variable)
  set(other windows)
  if(WIN32)
    set(other posix)
  endif()
  list(FILTER ${variable} EXCLUDE REGEX "/os/${other}/")
  set(${variable} "${${variable}}" PARENT_SCOPE)
endfunction()

# tamis_unity_by_folder(<target>): in a unity build (CMAKE_UNITY_BUILD) the sources of a folder are compiled
# together. Names in anonymous namespaces must then be unique within a folder.
function(tamis_unity_by_folder target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
    cmake_path(GET folder PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()

# tamis_align_functions(<target>): starts each function at a cache line. Loops of the hot path then keep their
# place in the line when other code changes: hashing short strings took 7% longer at one offset than at another.
function(tamis_align_functions target)
  if(NOT MSVC)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-falign-functions=64>)
  endif()
endfunction()

# tamis_msvc_flags(<target>): does what tamis_flags does, with options of Visual Studio, which clang-cl also accepts.
function(tamis_msvc_flags target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:C,CXX>:/fp:precise;/utf-8> $<$<COMPILE_LANGUAGE:CXX>:/EHsc;/GR;/Zc:__cplusplus;/bigobj>)
  if(PROJECT_IS_TOP_LEVEL)
    target_compile_options(${target} PRIVATE /W4
      $<$<CXX_COMPILER_ID:Clang>:-Wconversion;-Wno-sign-conversion;-Wshadow;-Wundef>)
  elseif(NOT CMAKE_CXX_FLAGS MATCHES "(^| )[-/]O")
    target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:>,$<COMPILE_LANGUAGE:CXX>>:/O2>)
  endif()
  if(TAMIS_WERROR)
    target_compile_options(${target} PRIVATE /WX)
  endif()
endfunction()

# tamis_flags(<target>): sets warnings and sanitizers for a target of this project. A subproject only gets
# flags that the code depends on, and optimization if the parent has chosen none. Without optimization, the
# kernels take 40 times as long.
function(tamis_flags target)
  if(MSVC)
    tamis_msvc_flags(${target})
    return()
  endif()
  # The sources do not mark the symbols that a shared library exports.
  set_target_properties(${target} PROPERTIES
    CXX_VISIBILITY_PRESET default VISIBILITY_INLINES_HIDDEN OFF)
  # With -ffast-math a rate that is not a number would be accepted. SHELL: keeps flags that are given twice, so
  # that these come last.
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:C,CXX>:SHELL:-fno-fast-math ${TAMIS_OVERRIDING_IS_MEANT}>"
    "$<$<COMPILE_LANGUAGE:C,CXX>:SHELL:-fvisibility=$<TARGET_PROPERTY:CXX_VISIBILITY_PRESET>>"
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-frtti -fexceptions -fno-visibility-inlines-hidden>")
  # In a unity build g++ treats each source as a header.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  if(PROJECT_IS_TOP_LEVEL)
    target_compile_options(${target} PRIVATE
      -Wall -Wextra -Wconversion -Wno-sign-conversion -Wshadow -Wundef
      # False alarms of g++ 12 on string concatenation (GCC bug 105651).
      $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
  elseif(NOT CMAKE_CXX_FLAGS MATCHES "(^| )-O")
    target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:>,$<COMPILE_LANGUAGE:CXX>>:-O2>)
  endif()
  if(TAMIS_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(TAMIS_SANITIZE)
    # The first finding ends the program, so that a test with a finding fails.
    set(flags -fsanitize=${TAMIS_SANITIZE} -fno-sanitize-recover=all)
    target_compile_options(${target} PRIVATE ${flags} -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE ${flags})
    if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
      # Programs in C need the sanitizer's C++ runtime for our libraries.
      set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
      # The macros that g++ defines itself.
      foreach(sanitizer address thread)
        if(TAMIS_SANITIZE MATCHES ${sanitizer})
          string(TOUPPER ${sanitizer} upper)
          target_compile_definitions(${target} PRIVATE __SANITIZE_${upper}__=1)
        endif()
      endforeach()
    endif()
  endif()
endfunction()
