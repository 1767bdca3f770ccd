# Builds and runs the project `fetched` in the folder BUILD, without a network. The sources of the libraries are those
# that .ci/cross unpacks from Debian's source packages, which are the archives of their projects.
set(sources ${SOURCE}/build/cross/sources)
if(NOT EXISTS ${sources}/highway OR NOT EXISTS ${sources}/xxhash OR NOT EXISTS ${sources}/nlohmann-json3)
  message("skipped: `.ci/cross aarch64-macos deps` unpacks the sources of the libraries")
  return()
endif()
file(REMOVE_RECURSE ${BUILD})
# First as users do who choose no build type, then without optimization, which compiles in half the time.
foreach(build_type "" -DCMAKE_BUILD_TYPE=Debug)
  execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} ${build_type}
    -S ${CMAKE_CURRENT_LIST_DIR}/fetched -B ${BUILD} -DTAMIS_SOURCE_DIR=${SOURCE} -DCMAKE_CXX_COMPILER=${COMPILER}
    -DFETCHCONTENT_FULLY_DISCONNECTED=ON
    -DFETCHCONTENT_SOURCE_DIR_HIGHWAY=${sources}/highway
    -DFETCHCONTENT_SOURCE_DIR_XXHASH=${sources}/xxhash
    -DFETCHCONTENT_SOURCE_DIR_NLOHMANN_JSON=${sources}/nlohmann-json3
    -DCMAKE_DISABLE_FIND_PACKAGE_Highway=ON
    -DCMAKE_DISABLE_FIND_PACKAGE_xxHash=ON
    -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON)
endforeach()
execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND ${CMAKE_COMMAND} --build ${BUILD})
foreach(example first erase)
  execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND ${BUILD}/${example} WORKING_DIRECTORY ${BUILD})
endforeach()
execute_process(COMMAND_ERROR_IS_FATAL ANY
  COMMAND ${BUILD}/reader ${SOURCE}/tests/golden/split_block_v1_odd_blocks.tamis)
