# tamis_test(<name> <sources>...): one GoogleTest binary. Where a process starts fast, every TEST in it
# is a test of ctest; in an emulator or with a sanitizer the binary is cut into a few shards.
#
# A test is labelled `slow`, and can be left out with `ctest -LE slow`, if "Slow" is in its name.
include(GoogleTest)

set(TAMIS_TEST_SHARDS 0)
if(CMAKE_CROSSCOMPILING_EMULATOR OR TAMIS_SANITIZE)
  set(TAMIS_TEST_SHARDS 6)
endif()

function(tamis_test name)
  add_executable(${name} ${ARGN})
  tamis_test_flags(${name})
  target_compile_definitions(${name} PRIVATE
    TAMIS_HAVE_SIMD=$<BOOL:${TAMIS_SIMD}>
    TAMIS_GOLDEN_DIR="${PROJECT_SOURCE_DIR}/tests/golden"
    TAMIS_PARQUET_DIR="${PROJECT_SOURCE_DIR}/tests/parquet")
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE
    tamis::tamis xxHash::xxhash Threads::Threads GTest::gtest GTest::gtest_main)
  tamis_test_headers(${name})

  if(TAMIS_TEST_SHARDS)
    # An emulator is spared what takes long there and is arithmetic, the same on every processor.
    set(spared)
    if(CMAKE_CROSSCOMPILING_EMULATOR)
      set(spared ":*EveryFilterThatCanBeMadeIsReadAgain:*MeasuredRatesAreThoseExpected")
      string(APPEND spared ":*EveryBit/*:*EveryOtherLength/*:*SmallLimitsAreReadAgain")
      string(APPEND spared ":AdversaryTest.*:*ManyKeysOfEveryForm/scalable_*")
      string(APPEND spared ":CalibrationTest.MeasuresThisMachine:PlanFiltersTest.*")
      string(APPEND spared ":*ForkTest.*")  # qemu cannot start threads in a child of fork
    endif()
    tamis_test_shards(${name} all "-*Slow*${spared}")
    add_test(NAME ${name}.slow COMMAND ${name} --gtest_filter=*Slow*)
    set_tests_properties(${name}.slow PROPERTIES TIMEOUT 3600 COST 100 LABELS slow)
    return()
  endif()

  # A cross-built test lists its tests when ctest runs: only there it may have what runs it.
  set(mode POST_BUILD)
  if(CMAKE_CROSSCOMPILING)
    set(mode PRE_TEST)
  endif()
  set(options DISCOVERY_MODE ${mode} DISCOVERY_TIMEOUT 120
    WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  gtest_discover_tests(${name} ${options} TEST_FILTER "-*Slow*" TEST_LIST ${name}_TESTS
    PROPERTIES TIMEOUT 300)
  gtest_discover_tests(${name} ${options} TEST_FILTER "*Slow*" TEST_LIST ${name}_SLOW_TESTS
    PROPERTIES TIMEOUT 1200 COST 100 LABELS slow)
endfunction()

# tamis_test_shards(<binary> <label> <filter> [<variable>=<value>...]): its tests that the filter of
# GoogleTest selects, in tests of ctest that are called <binary>.<label>.<number>.
function(tamis_test_shards name label filter)
  math(EXPR last "${TAMIS_TEST_SHARDS} - 1")
  foreach(shard RANGE ${last})
    set(test ${name}.${label}.${shard})
    add_test(NAME ${test} COMMAND ${name} --gtest_filter=${filter})
    set(environment GTEST_TOTAL_SHARDS=${TAMIS_TEST_SHARDS} GTEST_SHARD_INDEX=${shard}
      GTEST_BRIEF=1 ${ARGN})
    set_tests_properties(${test} PROPERTIES TIMEOUT 1200 COST 10 ENVIRONMENT "${environment}")
  endforeach()
endfunction()

# In the tests' own code most of what optimization brings is a longer build; the library they link has it.
# clang takes half as long for a test with sanitizers that is not optimized at all.
function(tamis_test_flags name)
  tamis_flags(${name})
  if(TAMIS_SANITIZE)
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O0>)
  else()
    target_compile_options(${name} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
  endif()
endfunction()

# Headers that most tests include, compiled once: none of ours, or a change there would rebuild all.
# Not behind a launcher such as ccache, which by default does not cache what uses them.
function(tamis_test_headers name)
  if(CMAKE_CXX_COMPILER_LAUNCHER)
    return()
  endif()
  set(shared tamis_test_headers)
  if(NOT TARGET ${shared})
    set(source ${PROJECT_BINARY_DIR}/test_headers.cc)
    file(CONFIGURE OUTPUT ${source} CONTENT "")
    add_library(${shared} OBJECT ${source})
    tamis_test_flags(${shared})
    target_compile_features(${shared} PRIVATE cxx_std_20)
    target_link_libraries(${shared} PRIVATE GTest::gtest Threads::Threads)
    target_precompile_headers(${shared} PRIVATE <gtest/gtest.h> <algorithm> <cmath> <cstring>
      <filesystem> <functional> <limits> <numeric> <set> <span> <string> <thread> <vector>)
  endif()
  target_precompile_headers(${name} REUSE_FROM ${shared})
endfunction()
