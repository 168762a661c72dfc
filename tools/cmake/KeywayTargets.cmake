# keyway_library(NAME FOLDER dir [SOURCES ...] [DEPENDS ...] [PRIVATE_DEPENDS ...])
#
# One folder is one target. A target sees only the headers of its folder and of its dependencies:
# each gets a staging directory that holds one symbolic link, `keyway/<folder>`, so that an upward
# include does not compile. The same paths are installed, so `#include "keyway/kvstore/store.h"` is
# right everywhere.
function(keyway_library name)
  cmake_parse_arguments(ARG "" "FOLDER" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  set(target keyway_${name})
  set(staging ${PROJECT_BINARY_DIR}/include/${name})
  get_filename_component(parent keyway/${ARG_FOLDER} DIRECTORY)
  file(MAKE_DIRECTORY ${staging}/${parent})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${ARG_FOLDER} ${staging}/keyway/${ARG_FOLDER} SYMBOLIC)

  if(ARG_SOURCES)
    add_library(${target} ${ARG_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:keyway_build_flags>)
    keyway_precompiled(${target} keyway_library_headers)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(keyway::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${staging}> $<INSTALL_INTERFACE:include>)
  target_link_libraries(${target} ${scope} ${ARG_DEPENDS})
  if(ARG_PRIVATE_DEPENDS)
    target_link_libraries(${target} PRIVATE ${ARG_PRIVATE_DEPENDS})
  endif()
  set_property(GLOBAL APPEND PROPERTY KEYWAY_LIBRARIES ${target})
  set_property(GLOBAL APPEND PROPERTY KEYWAY_FOLDERS ${ARG_FOLDER})
  # Parts of the server and of our programs are for these alone: a program with a client needs none.
  if(NOT ARG_FOLDER MATCHES "^server/|^client/program$")
    set_property(GLOBAL APPEND PROPERTY KEYWAY_INSTALLED_LIBRARIES ${target})
    set_property(GLOBAL APPEND PROPERTY KEYWAY_INSTALLED_FOLDERS ${ARG_FOLDER})
  endif()
endfunction()

# keyway_program(NAME SOURCES ... DEPENDS ...): one of the programs of design section 10.
function(keyway_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE keyway_build_flags ${ARG_DEPENDS})
  keyway_precompiled(${name} keyway_program_headers)
  install(TARGETS ${name})
endfunction()

# keyway_cold_sources(FILE...): code that runs once, such as the parsing of a command line. The
# libraries for that are all headers; optimizing CLI11 costs half a minute a file, and so do the
# checks of undefined behaviour in it.
function(keyway_cold_sources)
  set(options -O1)
  if(KEYWAY_SANITIZE)
    set(options -O0 -fno-sanitize=undefined)
  endif()
  # A precompiled header is for sources that are optimized as it is.
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "${options}" SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# keyway_apart_sources(FILE...): each is compiled separately even if a target's sources are joined
# (KEYWAY_JOIN), because it uses names that other sources use, too, or because it is measured: how much
# g++ inlines depends on all that it compiles at once.
function(keyway_apart_sources)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
