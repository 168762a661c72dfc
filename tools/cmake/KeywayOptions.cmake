# Build options, language level, warnings and sanitizers: one place.

set(KEYWAY_MPI "mpich" CACHE STRING "MPI to build against: mpich, openmpi or none")
set_property(CACHE KEYWAY_MPI PROPERTY STRINGS mpich openmpi none)
option(KEYWAY_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(KEYWAY_TOOLS "Build the programs (kvload)" ON)
option(KEYWAY_DCHECK "Compile the checks on hot paths (KW_DCHECK)" OFF)
set(KEYWAY_SANITIZE "" CACHE STRING "Sanitizers: address, thread, undefined, \"address,undefined\" or empty")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# What every target of ours compiles with; never exported to users of the package.
add_library(keyway_build_flags INTERFACE)
target_compile_options(keyway_build_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow
                       -Wno-missing-field-initializers -Werror=unused-result)
if(KEYWAY_SANITIZE)
  target_compile_options(keyway_build_flags INTERFACE
                         -fsanitize=${KEYWAY_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(keyway_build_flags INTERFACE -fsanitize=${KEYWAY_SANITIZE})
  if(KEYWAY_SANITIZE MATCHES "undefined")
    target_compile_options(keyway_build_flags INTERFACE -fno-sanitize-recover=all)
  endif()
endif()
