# Filters of other libraries to compare with on a GPU. The user passes their headers in
# TAMIS_CUDA_PEERS. Each library that is found is compiled into a separate object library,
# tamis_bench_peer_NAME. TAMIS_CUDA_PEER_NAME=OFF leaves it out.
#
#   cuCollections/include/cuco      or include/cuco
#   Cuckoo-GPU/include/cuckoogpu    or include/cuckoogpu
#   cccl/                           optional: the CCCL to compile them with, instead of nvcc's
set(TAMIS_CUDA_PEERS "" CACHE PATH "Folder with headers of cuCollections and Cuckoo-GPU")

set(tamis_cuda_peer_includes)
foreach(folder cccl/libcudacxx/include cccl/cub cccl/thrust cccl/include)
  if(TAMIS_CUDA_PEERS AND IS_DIRECTORY ${TAMIS_CUDA_PEERS}/${folder})
    list(APPEND tamis_cuda_peer_includes ${TAMIS_CUDA_PEERS}/${folder})
  endif()
endforeach()

function(tamis_cuda_peer name source header library)
  option(TAMIS_CUDA_PEER_${name} "Compare with ${library} on a GPU, if TAMIS_CUDA_PEERS has it" ON)
  set(TAMIS_HAVE_${name} 0)
  set(include)
  if(TAMIS_CUDA_PEERS AND TAMIS_CUDA_PEER_${name})
    foreach(folder ${library}/include include)
      if(NOT include AND EXISTS ${TAMIS_CUDA_PEERS}/${folder}/${header})
        set(include ${TAMIS_CUDA_PEERS}/${folder})
      endif()
    endforeach()
  endif()
  if(include)
    set(TAMIS_HAVE_${name} 1)
    execute_process(COMMAND git -C ${include} rev-parse --short HEAD
      OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
      set(commit "of unknown version")
    endif()
    string(TOLOWER tamis_bench_peer_${name} target)
    add_library(${target} OBJECT ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${source})
    # Warnings in their code are disabled. As system headers they would come after the headers of
    # nvcc.
    target_compile_options(${target} PRIVATE -std=c++20 --expt-extended-lambda
      --expt-relaxed-constexpr --disable-warnings)
    target_compile_definitions(${target} PRIVATE "TAMIS_${name}_VERSION=\"${library} ${commit}\"")
    target_include_directories(${target} PRIVATE ${include} ${tamis_cuda_peer_includes})
    target_link_libraries(${target} PRIVATE tamis::tamis)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
    set_target_properties(${target} PROPERTIES CUDA_RUNTIME_LIBRARY None NO_SYSTEM_FROM_IMPORTED ON)
    target_sources(tamis_bench_suite PRIVATE $<TARGET_OBJECTS:${target}>)
    message(STATUS "tamis: on a GPU compared with ${library} ${commit}")
  endif()
  set_property(SOURCE gpu_peers.cc APPEND PROPERTY
    COMPILE_DEFINITIONS TAMIS_HAVE_${name}=${TAMIS_HAVE_${name}})
endfunction()

tamis_cuda_peer(CUCO cuda_peer_cuco.cu cuco/bloom_filter.cuh cuCollections)
tamis_cuda_peer(CUCKOO_GPU cuda_peer_cuckoo_gpu.cu cuckoogpu/CuckooFilter.cuh Cuckoo-GPU)
