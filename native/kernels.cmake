# Kernels of one plugin: optiframe_kernels(<package> <source files>) builds <package>/kernels/_native.
# Used by pip through scikit-build-core; what a build needs and yields: docs/howto/install.md.

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF) # would need tools that few compilers bring
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module
             OPTIONAL_COMPONENTS Development.SABIModule)
find_package(nanobind CONFIG REQUIRED)

option(OPTIFRAME_SANITIZE "Stop at undefined behaviour and at memory that is not the kernel's" OFF)
set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all)

# One copy of a loop for each kind of processor, chosen when the module is loaded. The choice runs before
# a sanitizer is ready.
if(NOT OPTIFRAME_SANITIZE)
  include(CheckCXXSourceRuns)
  check_cxx_source_runs([[
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"))) int one() { return 1; }
    int main() { return one() - 1; }
  ]] OPTIFRAME_HAS_CLONES)
endif()

function(optiframe_kernels package)
  nanobind_add_module(_native STABLE_ABI NB_STATIC NOMINSIZE
    ${ARGN} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/optiframe/scans.cpp)
  target_include_directories(_native PRIVATE ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  # Fused products differ between processors, so a file takes them only where they pay: see FUSED below.
  # Neither of the other two changes a result: no kernel reads errno or traps, and loops vectorize without.
  target_compile_options(_native PRIVATE -Wall -Wextra -Wno-psabi -fno-math-errno -fno-trapping-math)
  # Where a branch would cost more than to look at both, `&` stands for `&&`.
  target_compile_options(_native PRIVATE -Wno-bitwise-instead-of-logical)
  target_compile_options(_native PRIVATE -ffp-contract=off)
  if(OPTIFRAME_HAS_CLONES)
    target_compile_definitions(_native PRIVATE OPTIFRAME_HAS_CLONES)
  endif()
  if(OPTIFRAME_SANITIZE)
    target_compile_options(_native PRIVATE -O1 -g ${sanitizers})
    target_link_options(_native PRIVATE ${sanitizers})
  else()
    # A module that does not load must fail the build: pip then installs the package without it.
    add_custom_command(TARGET _native POST_BUILD VERBATIM COMMAND
      ${Python_EXECUTABLE} -c "import sys; sys.path.insert(0, sys.argv[1]); import _native" $<TARGET_FILE_DIR:_native>)
  endif()
  install(TARGETS _native DESTINATION ${package}/kernels)
endfunction()

# Files whose loops may join a product and a sum into one operation, which is more exact and, for
# polynomials, half as slow again without.
function(optiframe_fused)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -ffp-contract=fast)
endfunction()
