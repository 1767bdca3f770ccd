# For toolchain files: finds headers, libraries and packages only in the folder `tamis_prefix`, where .ci/cross
# installs them, and programs only on the build machine.
set(CMAKE_FIND_ROOT_PATH "${tamis_prefix}")
set(CMAKE_PREFIX_PATH "${tamis_prefix}")
set(ENV{PKG_CONFIG_LIBDIR} "${tamis_prefix}/lib/pkgconfig")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
