# Other libraries to compare with, if they are installed. Nothing is downloaded. Each library that
# is found defines a target tamis_peer_NAME and a variable TAMIS_HAVE_NAME.

# Boost.Bloom has only headers. It selects vector instructions at compile time, so the source that
# includes it is compiled for this machine. Our own code does not need this.
set(TAMIS_HAVE_BOOST_BLOOM OFF)
find_path(TAMIS_PEER_INCLUDE boost/bloom.hpp DOC "Folder of boost/bloom.hpp (1.90 or newer)")
if(TAMIS_PEER_INCLUDE AND NOT CMAKE_CROSSCOMPILING)
  file(STRINGS ${TAMIS_PEER_INCLUDE}/boost/version.hpp boost_version REGEX "define BOOST_VERSION ")
  string(REGEX MATCH "[0-9]+" boost_version "${boost_version}")
  if(boost_version GREATER_EQUAL 109000)  # 1.90 added its bulk operations
    set(TAMIS_HAVE_BOOST_BLOOM ON)
    add_library(tamis_peer_boost INTERFACE)
    target_include_directories(tamis_peer_boost SYSTEM INTERFACE ${TAMIS_PEER_INCLUDE})
  else()
    message(STATUS "tamis: Boost ${boost_version} is too old to compare with: 109000 is needed")
  endif()
endif()

# libfilter: its block filter is inline code in C, which selects vector instructions at compile time.
set(TAMIS_HAVE_LIBFILTER OFF)
find_path(TAMIS_LIBFILTER_INCLUDE filter/block.h DOC "Folder c/include of libfilter")
if(TAMIS_LIBFILTER_INCLUDE AND NOT CMAKE_CROSSCOMPILING)
  set(TAMIS_HAVE_LIBFILTER ON)
  add_library(tamis_peer_libfilter INTERFACE)
  target_include_directories(tamis_peer_libfilter SYSTEM INTERFACE ${TAMIS_LIBFILTER_INCLUDE})
endif()

# Apache Arrow and Parquet are found by cmake/TamisArrow.cmake, which the library uses as well.
if(TAMIS_HAVE_ARROW)
  add_library(tamis_peer_arrow INTERFACE)
  target_link_libraries(tamis_peer_arrow INTERFACE tamis_arrow)
endif()

# xor_singleheader: one header in C.
set(TAMIS_HAVE_BINARY_FUSE OFF)
find_path(TAMIS_XOR_INCLUDE binaryfusefilter.h DOC "Folder of xor_singleheader's headers")
if(TAMIS_XOR_INCLUDE AND NOT CMAKE_CROSSCOMPILING)
  set(TAMIS_HAVE_BINARY_FUSE ON)
  add_library(tamis_peer_xor INTERFACE)
  target_include_directories(tamis_peer_xor SYSTEM INTERFACE ${TAMIS_XOR_INCLUDE})
endif()

# RocksDB is not a peer. Since 7.0, the headers that build and query its filters are not installed,
# and only its tables use them.
