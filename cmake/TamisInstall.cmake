# Install rules of the library: headers, archive, CMake package and pkg-config file.
include(CMakePackageConfigHelpers)

install(TARGETS tamis EXPORT tamisTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# A separate export set: a project that reads the format with code of its own needs no dependencies.
install(TARGETS tamis_layout EXPORT tamisLayoutTargets)
install(EXPORT tamisLayoutTargets NAMESPACE tamis:: DESTINATION ${TAMIS_CMAKE_DIR})
foreach(part core ${TAMIS_PARTS})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${part}/include/tamis
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
endforeach()
if(TAMIS_CUDA_ENABLED)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/cuda/include/tamis
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.cuh")
endif()
install(EXPORT tamisTargets NAMESPACE tamis:: DESTINATION ${TAMIS_CMAKE_DIR})

# Programs that link a static library must find its dependencies again, so the find modules of these
# are installed.
get_target_property(type tamis TYPE)
set(TAMIS_NEEDS_XXHASH OFF)
set(TAMIS_NEEDS_HIGHWAY OFF)
set(TAMIS_NEEDS_CUDA OFF)
set(TAMIS_CUDART ${CMAKE_INSTALL_LIBDIR}/tamis/libcudart_static.a)
if(type STREQUAL "STATIC_LIBRARY")
  set(TAMIS_NEEDS_XXHASH ON)
  set(TAMIS_NEEDS_HIGHWAY ${TAMIS_SIMD})
  set(TAMIS_NEEDS_CUDA ${TAMIS_CUDA_ENABLED})
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/FindxxHash.cmake DESTINATION ${TAMIS_CMAKE_DIR})
  if(TAMIS_SIMD)
    install(FILES ${PROJECT_SOURCE_DIR}/cmake/FindHighway.cmake DESTINATION ${TAMIS_CMAKE_DIR})
  endif()
  if(TAMIS_NEEDS_CUDA)
    get_target_property(cudart CUDA::cudart_static IMPORTED_LOCATION)
    file(REAL_PATH ${cudart} cudart)  # the file, not a link to it
    install(FILES ${cudart} DESTINATION ${CMAKE_INSTALL_LIBDIR}/tamis RENAME libcudart_static.a)
  endif()
endif()
# Whether find_package(tamis COMPONENTS redis) must find hiredis.
set(TAMIS_REDIS_NEEDS_HIREDIS OFF)
if(TAMIS_REDIS_ENABLED AND type STREQUAL "STATIC_LIBRARY")
  set(TAMIS_REDIS_NEEDS_HIREDIS ON)
endif()
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/tamisConfig.cmake.in ${PROJECT_BINARY_DIR}/tamisConfig.cmake
  INSTALL_DESTINATION ${TAMIS_CMAKE_DIR} PATH_VARS TAMIS_CUDART NO_SET_AND_CHECK_MACRO)
# docs/versions.md has the promise.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tamisConfigVersion.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tamisConfig.cmake ${PROJECT_BINARY_DIR}/tamisConfigVersion.cmake
  DESTINATION ${TAMIS_CMAKE_DIR})

# The prefix is relative to the file, so that an installed tree can be moved.
set(TAMIS_PC_REQUIRES "libxxhash >= ${TAMIS_XXHASH_MIN}")
if(TAMIS_SIMD)
  string(APPEND TAMIS_PC_REQUIRES ", libhwy >= ${TAMIS_HIGHWAY_MIN}")
endif()
set(needed ${CMAKE_THREAD_LIBS_INIT})
if(TAMIS_NEEDS_CUDA)
  list(APPEND needed "-L\${libdir}/tamis" -lcudart_static -ldl -lrt)
endif()
list(JOIN needed " " needed)
# Programs that link a static library must link its dependencies, with or without --static.
set(TAMIS_PC_PRIVATE .private)
set(TAMIS_PC_LIBS)
set(TAMIS_PC_LIBS_PRIVATE "${needed}")
if(type STREQUAL "STATIC_LIBRARY")
  set(TAMIS_PC_PRIVATE)
  set(TAMIS_PC_LIBS "${needed}")
  set(TAMIS_PC_LIBS_PRIVATE)
endif()
set(pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(TAMIS_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH TAMIS_PC_PREFIX "/${pc_dir}" "/")
  string(REGEX REPLACE "/$" "" TAMIS_PC_PREFIX "\${pcfiledir}/${TAMIS_PC_PREFIX}")
endif()
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY "\${prefix}"
  OUTPUT_VARIABLE TAMIS_PC_LIBDIR)
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_INCLUDEDIR BASE_DIRECTORY "\${prefix}"
  OUTPUT_VARIABLE TAMIS_PC_INCLUDEDIR)
configure_file(${PROJECT_SOURCE_DIR}/cmake/tamis.pc.in ${PROJECT_BINARY_DIR}/tamis.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tamis.pc DESTINATION ${pc_dir})
if(TAMIS_BUILD_C)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/tamis_c.pc.in ${PROJECT_BINARY_DIR}/tamis_c.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/tamis_c.pc DESTINATION ${pc_dir})
endif()
