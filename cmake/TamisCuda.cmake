# Decides whether the GPU backend is built: sets TAMIS_CUDA_ENABLED, and enables the language CUDA.
# A project that contains tamis as a subproject gets the GPU backend only if it sets TAMIS_CUDA,
# because an nvcc that happens to be installed must not change its dependencies.
set(tamis_cuda_default AUTO)
if(DEFINED PROJECT_IS_TOP_LEVEL AND NOT PROJECT_IS_TOP_LEVEL)
  set(tamis_cuda_default OFF)
endif()
set(TAMIS_CUDA ${tamis_cuda_default} CACHE STRING
  "Build the GPU backend: AUTO (if nvcc is found, and not with sanitizers or in cross builds), ON, OFF")
set_property(CACHE TAMIS_CUDA PROPERTY STRINGS AUTO ON OFF)
set(TAMIS_CUDA_ARCHITECTURES "" CACHE STRING
  "GPUs to build machine code for, as CMAKE_CUDA_ARCHITECTURES: fewer build faster; empty: by version of nvcc")
set(TAMIS_CUDA_MIN 12.0)  # the first with C++20
include(TamisCudaArchitectures)

set(TAMIS_CUDA_ENABLED OFF)
if(TAMIS_CUDA STREQUAL "AUTO" AND (CMAKE_CROSSCOMPILING OR TAMIS_SANITIZE))
  message(STATUS "CUDA: left out, as the processor is another or a sanitizer is on")
elseif(TAMIS_CUDA)
  # A compiler given by the user comes first. PATH may lack the usual folder of the toolkit.
  find_program(TAMIS_NVCC NAMES ${CMAKE_CUDA_COMPILER} $ENV{CUDACXX} nvcc
    PATHS /usr/local/cuda/bin /opt/cuda/bin)
  mark_as_advanced(TAMIS_NVCC)
  set(tamis_nvcc_version)
  if(TAMIS_NVCC)
    execute_process(COMMAND ${TAMIS_NVCC} --version OUTPUT_VARIABLE words ERROR_QUIET)
    if(words MATCHES "release ([0-9]+[.][0-9]+)")
      set(tamis_nvcc_version ${CMAKE_MATCH_1})
    endif()
  endif()
  if(tamis_nvcc_version AND tamis_nvcc_version VERSION_LESS TAMIS_CUDA_MIN)
    set(why "${TAMIS_NVCC} is of CUDA ${tamis_nvcc_version}, and ${TAMIS_CUDA_MIN} is the oldest with C++20")
    if(NOT TAMIS_CUDA STREQUAL "AUTO")
      message(FATAL_ERROR "TAMIS_CUDA is ON, and ${why}; set CMAKE_CUDA_COMPILER")
    endif()
    message(STATUS "CUDA: left out, as ${why}")
  elseif(TAMIS_NVCC)
    if(NOT CMAKE_CUDA_COMPILER)
      set(CMAKE_CUDA_COMPILER ${TAMIS_NVCC})
    endif()
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES ${TAMIS_CUDA_ARCHITECTURES})
      if(TAMIS_CUDA_ARCHITECTURES STREQUAL "")
        # Set before enable_language, which stores it in the cache.
        tamis_cuda_architectures("${tamis_nvcc_version}" CMAKE_CUDA_ARCHITECTURES)
      endif()
    endif()
    enable_language(CUDA)
    find_package(CUDAToolkit ${TAMIS_CUDA_MIN} REQUIRED)
    set(TAMIS_CUDA_ENABLED ON)
    message(STATUS
      "CUDA: ${CMAKE_CUDA_COMPILER_VERSION}, for architectures ${CMAKE_CUDA_ARCHITECTURES}")
  elseif(TAMIS_CUDA STREQUAL "AUTO")
    message(STATUS "CUDA: left out, as nvcc is not found")
  else()
    message(FATAL_ERROR "TAMIS_CUDA is ON, and nvcc is not found; set CMAKE_CUDA_COMPILER")
  endif()
endif()

# tamis_cuda_flags(<target>): sets flags for targets with CUDA sources. C++20 is a flag here and not a
# feature, because CMake before 3.26 does not support it for nvcc.
function(tamis_cuda_flags target)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
  if(TAMIS_WERROR)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
  endif()
endfunction()
