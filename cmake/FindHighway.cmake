# Finds Highway, Google's portable SIMD library: hwy::hwy, Highway_FOUND, Highway_VERSION.
#
# Tries Highway's CMake package (which exists from 1.0.4 on, in Debian also before), then
# pkg-config, then the header and library.
if(TARGET hwy AND NOT TARGET hwy::hwy)  # Highway as a subproject of the parent
  add_library(hwy::hwy ALIAS hwy)
endif()
if(TARGET hwy::hwy)
  # The parent project has defined the target. Its version may be unknown, and is not checked.
  set(Highway_FOUND TRUE)
  return()
endif()

find_package(hwy CONFIG QUIET)
if(TARGET hwy::hwy)
  set(Highway_VERSION "${hwy_VERSION}")
  get_target_property(Highway_INCLUDE_DIR hwy::hwy INTERFACE_INCLUDE_DIRECTORIES)
  set(Highway_LIBRARY hwy::hwy)
else()
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(PC_HIGHWAY QUIET libhwy)
  endif()
  find_path(Highway_INCLUDE_DIR hwy/highway.h HINTS ${PC_HIGHWAY_INCLUDE_DIRS})
  find_library(Highway_LIBRARY hwy HINTS ${PC_HIGHWAY_LIBRARY_DIRS})
  mark_as_advanced(Highway_INCLUDE_DIR Highway_LIBRARY)
  # HWY_MAJOR, HWY_MINOR and HWY_PATCH moved from highway.h to base.h after 1.0.3.
  set(_highway_lines)
  foreach(_highway_header base.h highway.h)
    if(EXISTS "${Highway_INCLUDE_DIR}/hwy/${_highway_header}")
      file(STRINGS "${Highway_INCLUDE_DIR}/hwy/${_highway_header}" _highway_found
        REGEX "^#define HWY_(MAJOR|MINOR|PATCH) [0-9]+")
      list(APPEND _highway_lines ${_highway_found})
    endif()
  endforeach()
  if(_highway_lines MATCHES "MAJOR ([0-9]+).*MINOR ([0-9]+).*PATCH ([0-9]+)")
    set(Highway_VERSION "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Highway
  REQUIRED_VARS Highway_LIBRARY Highway_INCLUDE_DIR
  VERSION_VAR Highway_VERSION
  REASON_FAILURE_MESSAGE "install the package libhwy-dev (Debian, Ubuntu), \
add its prefix to CMAKE_PREFIX_PATH, or set TAMIS_SIMD=OFF")

if(Highway_FOUND AND NOT TARGET hwy::hwy)
  add_library(hwy::hwy UNKNOWN IMPORTED)
  set_target_properties(hwy::hwy PROPERTIES
    IMPORTED_LOCATION "${Highway_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Highway_INCLUDE_DIR}")
  if(Highway_LIBRARY MATCHES "\\.so")
    target_compile_definitions(hwy::hwy INTERFACE HWY_SHARED_DEFINE)
  endif()
endif()
# All these targets must be visible to a parent project that links a static tamis. Highway's package
# file fails if only some of them exist.
foreach(_highway_target hwy::hwy hwy::hwy_contrib hwy::hwy_test)
  if(TARGET ${_highway_target})
    set_target_properties(${_highway_target} PROPERTIES IMPORTED_GLOBAL TRUE)
  endif()
endforeach()
