# Finds the libraries that tamis needs. With TAMIS_FETCH_DEPENDENCIES, those that are not found are downloaded and
# built as parts of this project. The hashes fix their bytes.
option(TAMIS_FETCH_DEPENDENCIES "Download Highway, xxHash and nlohmann-json if they are not found" OFF)
set(TAMIS_HIGHWAY_MIN 1.0.3)
set(TAMIS_XXHASH_MIN 0.8.1)

# tamis_fetch(<name> <url> <hash> <arguments of FetchContent_Declare>...)
function(tamis_fetch name url hash)
  if(TAMIS_INSTALL)
    message(FATAL_ERROR "TAMIS_INSTALL is ON, and ${name} is not installed: an installed tamis needs it. \
Install ${name}, or set TAMIS_INSTALL=OFF")
  endif()
  include(FetchContent)
  foreach(policy CMP0077 CMP0126)  # the variables below count as options of the library
    set(CMAKE_POLICY_DEFAULT_${policy} NEW)
  endforeach()
  if(POLICY CMP0135)
    cmake_policy(SET CMP0135 NEW)
  endif()
  set(CMAKE_POLICY_VERSION_MINIMUM 3.5)  # CMake 4 does not support the older versions that these libraries name
  set(CMAKE_WARN_DEPRECATED OFF)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  set(CMAKE_UNITY_BUILD OFF)
  if(NOT CMAKE_BUILD_TYPE)  # otherwise they choose one for the parent as well
    set(CMAKE_BUILD_TYPE Release)
  endif()
  set(HWY_FORCE_STATIC_LIBS ON)
  foreach(option HWY_ENABLE_TESTS HWY_ENABLE_EXAMPLES HWY_ENABLE_CONTRIB HWY_ENABLE_INSTALL XXHASH_BUILD_XXHSUM
      JSON_BuildTests JSON_Install BUILD_TESTING)
    set(${option} OFF)
  endforeach()
  FetchContent_Declare(${name} URL ${url} URL_HASH SHA256=${hash} ${ARGN})
  FetchContent_MakeAvailable(${name})
  message(STATUS "${name}: not installed, so it is built from ${${name}_SOURCE_DIR}")
endfunction()

set(required REQUIRED)
if(TAMIS_FETCH_DEPENDENCIES)
  set(required QUIET)
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
if(NOT TARGET Threads::Threads)
  find_package(Threads REQUIRED)
  # A parent project links tamis from its own folder, so the dependencies of a static tamis must be visible
  # there.
  set_target_properties(Threads::Threads PROPERTIES IMPORTED_GLOBAL TRUE)
endif()

find_package(xxHash ${TAMIS_XXHASH_MIN} ${required})
if(NOT TARGET xxHash::xxhash)
  tamis_fetch(xxhash https://github.com/Cyan4973/xxHash/archive/refs/tags/v0.8.1.tar.gz
    3bb6b7d6f30c591dd65aaaff1c8b7a5b94d81687998ca9400082c739a690436c SOURCE_SUBDIR cmake_unofficial)
endif()

if(NOT TARGET nlohmann_json::nlohmann_json)
  find_package(nlohmann_json CONFIG ${required})
endif()
if(NOT TARGET nlohmann_json::nlohmann_json)
  tamis_fetch(nlohmann_json https://github.com/nlohmann/json/archive/refs/tags/v3.11.2.tar.gz
    d69f9deb6a75e2580465c6c4c5111b89c4dc2fa94e3a85fcd2ffcd9a143d9273)
endif()

if(TAMIS_SIMD)
  find_package(Highway ${TAMIS_HIGHWAY_MIN} ${required})
  if(NOT TARGET hwy::hwy)
    tamis_fetch(highway https://github.com/google/highway/archive/refs/tags/1.2.0.tar.gz
      7e0be78b8318e8bdbf6fa545d2ecb4c90f947df03f7aadc42c1967f019e63343)
    set_target_properties(hwy_test hwy_list_targets PROPERTIES EXCLUDE_FROM_ALL ON)
    add_library(hwy::hwy ALIAS hwy)
  endif()
endif()
