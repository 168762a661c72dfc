# Build options, language level, warnings and sanitizers: one place.

set(KEYWAY_MPI "mpich" CACHE STRING "MPI to build against: mpich, openmpi or none")
set_property(CACHE KEYWAY_MPI PROPERTY STRINGS mpich openmpi none)
option(KEYWAY_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(KEYWAY_MUTANT_TESTS "Build the tests of locks with one defect each" ON)
option(KEYWAY_TOOLS "Build the programs (kvload)" ON)
option(KEYWAY_DCHECK "Compile the checks on hot paths (KW_DCHECK)" OFF)
set(KEYWAY_SANITIZE "" CACHE STRING "Sanitizers: address, thread, undefined, \"address,undefined\" or empty")

# Sources that are compiled together share the parsing of headers and the instances of templates,
# which is most of what a build takes. Each must be complete by itself: tests/tidy/sources.py.
option(KEYWAY_JOIN "Compile the sources of a target several at once" OFF)
set(CMAKE_UNITY_BUILD ${KEYWAY_JOIN})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# Compile options of all our targets; never exported to users of the package.
add_library(keyway_build_flags INTERFACE)
target_compile_options(keyway_build_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow
                       -Wno-missing-field-initializers -Werror=unused-result)
# g++ begins to collect garbage after the first megabytes; with a higher threshold it takes a tenth
# less time.
target_compile_options(keyway_build_flags INTERFACE
                       "$<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-expand=1000;--param=ggc-min-heapsize=4000000>")
# g++ loads two members of 8 bytes as one word of 16. A processor that has just stored them one by one
# waits until both are in its cache: 3% of a put (docs/performance.md).
target_compile_options(keyway_build_flags INTERFACE "$<$<CXX_COMPILER_ID:GNU>:-fno-tree-slp-vectorize>")
# g++ 12 reports accesses out of bounds in std::string's own code that it has inlined. They are false;
# the sanitizers find true ones.
target_compile_options(keyway_build_flags INTERFACE
  "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-array-bounds>")
# When sources are compiled together, one's local names may be another's global ones, and g++ takes
# the sources for headers, in which types should not have members of anonymous namespaces.
target_compile_options(keyway_build_flags INTERFACE
                       "$<$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>:-Wno-shadow;$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>>")
if(KEYWAY_SANITIZE)
  target_compile_options(keyway_build_flags INTERFACE
                         -fsanitize=${KEYWAY_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(keyway_build_flags INTERFACE -fsanitize=${KEYWAY_SANITIZE})
  # Their programs are large: ld takes four times as long.
  find_program(KEYWAY_LLD ld.lld)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND KEYWAY_LLD)
    target_link_options(keyway_build_flags INTERFACE -fuse-ld=lld)
  endif()
  if(KEYWAY_SANITIZE MATCHES "undefined")
    target_compile_options(keyway_build_flags INTERFACE -fno-sanitize-recover=all)
  endif()
endif()
