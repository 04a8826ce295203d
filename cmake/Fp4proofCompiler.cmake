# What is decided before the first target: the build type, ccache, CUDA.

get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(PROJECT_IS_TOP_LEVEL AND NOT multi_config AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(FP4PROOF_CCACHE ccache)
  mark_as_advanced(FP4PROOF_CCACHE)
  if(FP4PROOF_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${FP4PROOF_CCACHE}")
  endif()
endif()

# fp4proof_find_cuda(RESULT): enables the CUDA language where FP4PROOF_CUDA and the machine allow it.
macro(fp4proof_find_cuda result)
  set(${result} FALSE)
  if(FP4PROOF_CUDA AND EXISTS "${PROJECT_SOURCE_DIR}/gpu/CMakeLists.txt")
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
      enable_language(CUDA)
      set(${result} TRUE)
    elseif(NOT FP4PROOF_CUDA STREQUAL "AUTO")
      message(FATAL_ERROR "FP4PROOF_CUDA is ${FP4PROOF_CUDA}, but no CUDA compiler was found. "
        "Put nvcc on the PATH, set CMAKE_CUDA_COMPILER, or configure with FP4PROOF_CUDA=AUTO.")
    endif()
  endif()
endmacro()
