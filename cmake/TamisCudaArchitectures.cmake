# tamis_cuda_architectures(<version of nvcc> <variable>): what machine code is built for. That of 8.0,
# 9.0 and 10.0 runs on all GPUs of the same major version; PTX lets drivers make code for the others:
# that of 8.0 for those in between, such as 11.0, that of the newest for later ones. GPUs before 8.0
# are not for this library.
function(tamis_cuda_architectures version variable)
  if(version VERSION_LESS 12.8)  # which knows no later ones
    set(${variable} "80-real;90" PARENT_SCOPE)
  else()
    set(${variable} "80;90-real;100-real;120" PARENT_SCOPE)
  endif()
endfunction()
