# Finds xxHash: xxHash::xxhash, xxHash_FOUND, xxHash_VERSION.
#
# Tries xxHash's CMake package (which Debian 12 lacks), then pkg-config, then the header and
# library.
if(TARGET xxHash::xxhash)
  # The parent project has defined the target. Its version may be unknown, and is not checked.
  set(xxHash_FOUND TRUE)
  return()
endif()

find_package(xxHash CONFIG QUIET)
if(TARGET xxHash::xxhash)
  get_target_property(xxHash_INCLUDE_DIR xxHash::xxhash INTERFACE_INCLUDE_DIRECTORIES)
  set(xxHash_LIBRARY xxHash::xxhash)
else()
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(PC_XXHASH QUIET libxxhash)
  endif()
  find_path(xxHash_INCLUDE_DIR xxhash.h HINTS ${PC_XXHASH_INCLUDE_DIRS})
  find_library(xxHash_LIBRARY xxhash HINTS ${PC_XXHASH_LIBRARY_DIRS})
  mark_as_advanced(xxHash_INCLUDE_DIR xxHash_LIBRARY)
  if(EXISTS "${xxHash_INCLUDE_DIR}/xxhash.h")
    file(STRINGS "${xxHash_INCLUDE_DIR}/xxhash.h" _xxhash_lines
      REGEX "^#define XXH_VERSION_(MAJOR|MINOR|RELEASE) +[0-9]+")
    if(_xxhash_lines MATCHES "MAJOR +([0-9]+).*MINOR +([0-9]+).*RELEASE +([0-9]+)")
      set(xxHash_VERSION "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
    endif()
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(xxHash
  REQUIRED_VARS xxHash_LIBRARY xxHash_INCLUDE_DIR
  VERSION_VAR xxHash_VERSION
  REASON_FAILURE_MESSAGE "install the package libxxhash-dev (Debian, Ubuntu), \
or add its prefix to CMAKE_PREFIX_PATH")

if(xxHash_FOUND AND NOT TARGET xxHash::xxhash)
  add_library(xxHash::xxhash UNKNOWN IMPORTED)
  set_target_properties(xxHash::xxhash PROPERTIES
    IMPORTED_LOCATION "${xxHash_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${xxHash_INCLUDE_DIR}")
endif()
if(xxHash_FOUND)
  # The target must be visible to a parent project that links a static tamis.
  set_target_properties(xxHash::xxhash PROPERTIES IMPORTED_GLOBAL TRUE)
endif()
