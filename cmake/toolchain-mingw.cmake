# Cross build for Windows on x86-64 with Debian's g++-mingw-w64-x86-64-posix. Programs run in wine.
# `.ci/cross x86_64-windows-mingw` makes the libraries that this file refers to.
#
# For tests only: g++ aligns the stack to 16 bytes on Windows, and stores vectors of 32 bytes on it with
# instructions that need 32 (GCC bug 54412). Debian's g++ has a patch against this.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_CROSSCOMPILING_EMULATOR wine)
# The libraries of g++ become part of each program, because wine does not find them.
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
# An object of a unity build has more sections than the usual format allows.
set(CMAKE_CXX_FLAGS_INIT -Wa,-mbig-obj)

get_filename_component(tamis_prefix "${CMAKE_CURRENT_LIST_DIR}/../build/cross/x86_64-windows-mingw-prefix" ABSOLUTE)
include("${CMAKE_CURRENT_LIST_DIR}/toolchain-prefix.cmake")
