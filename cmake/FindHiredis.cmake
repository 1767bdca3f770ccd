# Finds hiredis, the C client of Redis: hiredis::hiredis, Hiredis_FOUND, Hiredis_VERSION. If hiredis was
# built with TLS (never before its version 1.0) and the headers of OpenSSL are installed, also finds
# hiredis::hiredis_ssl and sets Hiredis_SSL_FOUND. Otherwise Hiredis_SSL_MISSING is the reason.
#
# Looks for the header and library in the folders of pkg-config and in the usual folders. The CMake package
# is not used, because Debian lacks it.
if(TARGET hiredis::hiredis)
  # The parent project has defined the target. Its version may be unknown, and is not checked.
  set(Hiredis_FOUND TRUE)
  if(TARGET hiredis::hiredis_ssl)
    set(Hiredis_SSL_FOUND TRUE)
  endif()
  return()
endif()

find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(PC_HIREDIS QUIET hiredis)
endif()
# A pkg-config file may name the folder of the headers or the folder above.
find_path(Hiredis_INCLUDE_DIR hiredis/hiredis.h
  HINTS ${PC_HIREDIS_INCLUDE_DIRS} ${PC_HIREDIS_INCLUDEDIR})
find_library(Hiredis_LIBRARY hiredis HINTS ${PC_HIREDIS_LIBRARY_DIRS})
find_library(Hiredis_SSL_LIBRARY hiredis_ssl HINTS ${PC_HIREDIS_LIBRARY_DIRS})
mark_as_advanced(Hiredis_INCLUDE_DIR Hiredis_LIBRARY Hiredis_SSL_LIBRARY)
if(EXISTS "${Hiredis_INCLUDE_DIR}/hiredis/hiredis.h")
  file(STRINGS "${Hiredis_INCLUDE_DIR}/hiredis/hiredis.h" _hiredis_lines
    REGEX "^#define HIREDIS_(MAJOR|MINOR|PATCH) +[0-9]+")
  if(_hiredis_lines MATCHES "MAJOR +([0-9]+).*MINOR +([0-9]+).*PATCH +([0-9]+)")
    set(Hiredis_VERSION "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Hiredis
  REQUIRED_VARS Hiredis_LIBRARY Hiredis_INCLUDE_DIR
  VERSION_VAR Hiredis_VERSION
  REASON_FAILURE_MESSAGE "install the package libhiredis-dev (Debian, Ubuntu), \
add its prefix to CMAKE_PREFIX_PATH, or set TAMIS_REDIS=OFF")

if(Hiredis_FOUND)
  add_library(hiredis::hiredis UNKNOWN IMPORTED)
  set_target_properties(hiredis::hiredis PROPERTIES
    IMPORTED_LOCATION "${Hiredis_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Hiredis_INCLUDE_DIR}"
    IMPORTED_GLOBAL TRUE)
  set(Hiredis_SSL_FOUND FALSE)
  set(Hiredis_SSL_MISSING "this hiredis was built without it")
  if(Hiredis_SSL_LIBRARY AND EXISTS "${Hiredis_INCLUDE_DIR}/hiredis/hiredis_ssl.h")
    find_package(OpenSSL QUIET)
    if(OpenSSL_FOUND)
      add_library(hiredis::hiredis_ssl UNKNOWN IMPORTED)
      set_target_properties(hiredis::hiredis_ssl PROPERTIES
        IMPORTED_LOCATION "${Hiredis_SSL_LIBRARY}"
        INTERFACE_LINK_LIBRARIES "hiredis::hiredis;OpenSSL::SSL;OpenSSL::Crypto"
        IMPORTED_GLOBAL TRUE)
      set(Hiredis_SSL_FOUND TRUE)
    else()
      set(Hiredis_SSL_MISSING "OpenSSL is not found (libssl-dev)")
    endif()
  endif()
endif()
