# Precompiled headers: headers of the standard library and of fmt that nearly every source includes
# are parsed once; parsing them is half the compile time of most sources.
#
# None of our own headers is among them, so a source still shows that it includes those it needs;
# tests/tidy checks the standard ones by their names. g++ takes a precompiled header only for the flags
# it was made with: libraries are compiled with -fPIC and programs with -fPIE, hence one for each, and
# one more for tests, with Catch2.
option(KEYWAY_PRECOMPILE "Parse the headers of the standard library once" ON)
if(NOT KEYWAY_PRECOMPILE)
  function(keyway_precompile)
  endfunction()
  function(keyway_precompiled)
  endfunction()
  return()
endif()

find_package(fmt REQUIRED)
set(keyway_precompiled_headers
  <algorithm> <array> <atomic> <bit> <charconv> <chrono> <cmath> <concepts> <cstddef> <cstdint> <cstdio>
  <cstdlib> <cstring> <deque> <functional> <limits> <map> <memory> <mutex> <new> <optional> <span>
  <string> <string_view> <type_traits> <unordered_map> <utility> <variant> <vector> <fmt/core.h>)

# keyway_precompile(NAME LIBRARY|EXECUTABLE [LINKS target...] [HEADERS header...]):
# makes one.
function(keyway_precompile name kind)
  cmake_parse_arguments(ARG "" "" "LINKS;HEADERS" ${ARGN})
  file(WRITE ${PROJECT_BINARY_DIR}/precompiled/${name}.cc "// Holds the flags of a precompiled header.\n")
  if(kind STREQUAL "LIBRARY")
    add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/precompiled/${name}.cc)
  else()
    file(APPEND ${PROJECT_BINARY_DIR}/precompiled/${name}.cc "int main() {}\n")
    add_executable(${name} ${PROJECT_BINARY_DIR}/precompiled/${name}.cc)
  endif()
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  target_link_libraries(${name} PRIVATE keyway_build_flags fmt::fmt ${ARG_LINKS})
  target_precompile_headers(${name} PRIVATE ${keyway_precompiled_headers} ${ARG_HEADERS})
endfunction()

# keyway_precompiled(TARGET BY): TARGET's sources begin with what BY has parsed.
function(keyway_precompiled target by)
  target_precompile_headers(${target} REUSE_FROM ${by})
endfunction()

keyway_precompile(keyway_library_headers LIBRARY)
keyway_precompile(keyway_program_headers EXECUTABLE)
