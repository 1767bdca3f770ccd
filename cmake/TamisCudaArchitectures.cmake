# tamis_cuda_architectures(<version of nvcc> <variable>): sets the architectures to build code for. Machine
# code for 8.0, 9.0 and 10.0 runs on all GPUs of the same major version. From PTX, drivers make code for
# other GPUs: from PTX of 8.0 for GPUs in between, such as 11.0, and from PTX of the newest architecture
# for later GPUs. The library does not support GPUs before 8.0.
function(tamis_cuda_architectures version variable)
  if(version VERSION_LESS 12.8)  # these versions do not support 10.0
    set(${variable} "80-real;90" PARENT_SCOPE)
  else()
    set(${variable} "80;90-real;100-real;120" PARENT_SCOPE)
  endif()
endfunction()
