set(TAMIS_EMULATED_CASES "*" CACHE STRING "GoogleTest's filter of the cases that run in an emulator")

# tamis_test(<name> [OPTIMIZED] [SHARDS <n>] <sources>...): a GoogleTest program. ctest runs its
# tests in <n> processes (default: 1), about 50 tests each, because starting a process costs more
# than most tests. OPTIMIZED is for tests whose own code computes for long.
function(tamis_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OPTIMIZED" "SHARDS" "")
  if(NOT arg_SHARDS)
    set(arg_SHARDS 1)
  endif()
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  tamis_test_flags(${name})
  if(arg_OPTIMIZED AND NOT TAMIS_SANITIZE)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:$<IF:$<BOOL:${MSVC}>,/O1,-O1>>)
  endif()
  target_compile_definitions(${name} PRIVATE
    TAMIS_HAVE_SIMD=$<BOOL:${TAMIS_SIMD}>
    TAMIS_GOLDEN_DIR="${PROJECT_SOURCE_DIR}/tests/golden"
    TAMIS_PARQUET_DIR="${PROJECT_SOURCE_DIR}/tests/parquet")
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE
    tamis_test_os tamis::tamis xxHash::xxhash Threads::Threads GTest::gtest GTest::gtest_main)

  set(filter "*")
  if(TAMIS_SANITIZE)
    # Leaves out cases that compute many sizes and options. Other cases test a few of these.
    set(filter "-*Slow*:*EveryFilterThatCanBeMadeIsReadAgain:*MemoryFollowsTheDifferentKeys")
  endif()
  if(CMAKE_CROSSCOMPILING_EMULATOR)
    # Leaves out arithmetic that is slow in an emulator and the same on every processor.
    set(filter "${TAMIS_EMULATED_CASES}-*Slow*:*EveryFilterThatCanBeMadeIsReadAgain:*MeasuredRatesAreThoseExpected")
    string(APPEND filter ":*EveryBit/*:*EveryOtherLength/*:*SmallLimitsAreReadAgain")
    string(APPEND filter ":AdversaryTest.*:*ManyKeysOfEveryForm/scalable_*")
    string(APPEND filter ":CalibrationTest.MeasuresThisMachine:PlanFiltersTest.*")
    string(APPEND filter ":*ForkTest.*")  # qemu cannot start threads in a child of fork
  endif()
  tamis_test_shards(${name} "${name}" "${filter}" ${arg_SHARDS})
endfunction()

# tamis_test_shards(<program> <prefix> <filter> <n> [<variable>=<value>...]): adds the tests <prefix>.1 to
# <prefix>.<n>, which share the tests of <program> that GoogleTest's <filter> selects.
function(tamis_test_shards name prefix filter shards)
  math(EXPR last "${shards} - 1")
  foreach(shard RANGE ${last})
    math(EXPR number "${shard} + 1")
    set(test ${prefix}.${number})
    add_test(NAME ${test} COMMAND ${name} --gtest_filter=${filter}
      WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
    set(environment GTEST_TOTAL_SHARDS=${shards} GTEST_SHARD_INDEX=${shard} GTEST_BRIEF=1 ${ARGN})
    set_tests_properties(${test} PROPERTIES TIMEOUT 1200 COST 10 ENVIRONMENT "${environment}")
  endforeach()
endfunction()

# tamis_second_circle([<test>...]): moves these tests, or all tests of the folder, to the second circle. A
# contributor runs the first circle after each change. Tests of the second circle take minutes, or
# need servers, browsers or other libraries. They exist only if TAMIS_SECOND_CIRCLE is ON, and have
# the label `second`.
function(tamis_second_circle)
  if(NOT ARGN)
    get_property(ARGN DIRECTORY PROPERTY TESTS)
  endif()
  set_property(TEST ${ARGN} APPEND PROPERTY LABELS second)
endfunction()

# tamis_test_flags(<target>): sets flags for the code of tests. This code is not optimized, which
# halves the time to compile it. The library that it calls is optimized.
function(tamis_test_flags target)
  tamis_flags(${target})
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:$<IF:$<BOOL:${MSVC}>,/Od,-O0>>)
endfunction()

# tamis_list_googletest_programs(<file>): writes the path of every GoogleTest program of the project, one a
# line. Call this function after all folders were added.
function(tamis_list_googletest_programs file)
  set(programs)
  set(folders ${PROJECT_SOURCE_DIR})
  while(folders)
    list(POP_FRONT folders folder)
    get_property(subfolders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
    get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
    list(APPEND folders ${subfolders})
    foreach(target IN LISTS targets)
      get_target_property(libraries ${target} LINK_LIBRARIES)
      get_target_property(crashes ${target} TAMIS_CRASHES)
      if("GTest::gtest_main" IN_LIST libraries AND NOT crashes)
        list(APPEND programs $<TARGET_FILE:${target}>)
      endif()
    endforeach()
  endwhile()
  file(GENERATE OUTPUT ${file} CONTENT "$<JOIN:${programs},\n>\n")
endfunction()
