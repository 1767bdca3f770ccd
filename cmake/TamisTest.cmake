# tamis_test(<name> <sources>...): one GoogleTest binary; every TEST in it is a test of ctest.
#
# A test is labelled `slow`, and can be left out with `ctest -LE slow`, if "Slow" is in its name.
include(GoogleTest)

function(tamis_test name)
  add_executable(${name} ${ARGN})
  tamis_flags(${name})
  target_compile_definitions(${name} PRIVATE
    TAMIS_HAVE_SIMD=$<BOOL:${TAMIS_SIMD}>
    TAMIS_GOLDEN_DIR="${PROJECT_SOURCE_DIR}/tests/golden"
    TAMIS_SHARED_DIR="${TAMIS_SHARED_DIR}")
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE
    tamis::tamis xxHash::xxhash Threads::Threads GTest::gtest GTest::gtest_main)

  # A cross-built test lists its tests when ctest runs, not while building: the emulator is slow.
  set(mode POST_BUILD)
  if(CMAKE_CROSSCOMPILING)
    set(mode PRE_TEST)
  endif()
  set(options DISCOVERY_MODE ${mode} DISCOVERY_TIMEOUT 120
    WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  gtest_discover_tests(${name} ${options} TEST_FILTER "-*Slow*" TEST_LIST ${name}_TESTS
    PROPERTIES TIMEOUT 300)
  gtest_discover_tests(${name} ${options} TEST_FILTER "*Slow*" TEST_LIST ${name}_SLOW_TESTS
    PROPERTIES TIMEOUT 1200 LABELS slow)
endfunction()
