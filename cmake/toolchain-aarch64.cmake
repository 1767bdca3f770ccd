# Cross build for 64-bit Arm with Debian's g++-aarch64-linux-gnu. Programs run in qemu-user, which
# emulates a processor with NEON, SVE and SVE2. The environment variable QEMU_CPU selects another
# processor.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)

# Libraries for Arm: made by `cmake/bootstrap.sh prefix build/aarch64-prefix arm64`.
get_filename_component(tamis_default "${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-prefix" ABSOLUTE)
set(TAMIS_AARCH64_PREFIX "${tamis_default}" CACHE PATH "Prefix with the libraries for 64-bit Arm")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TAMIS_AARCH64_PREFIX)
set(CMAKE_FIND_ROOT_PATH "${TAMIS_AARCH64_PREFIX}")
set(CMAKE_PREFIX_PATH "${TAMIS_AARCH64_PREFIX}")
set(ENV{PKG_CONFIG_LIBDIR} "${TAMIS_AARCH64_PREFIX}/lib/aarch64-linux-gnu/pkgconfig")

# Programs are searched for on the build machine; headers, libraries and packages only in the
# folders of the target.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
