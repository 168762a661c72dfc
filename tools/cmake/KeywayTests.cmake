# How a test is registered: once, by one of these functions, with its labels.
#
#   keyway_test(NAME [SOURCES ...] [DEPENDS ...] [LABELS ...] [ARGS ...] [TIMEOUT_S n]
#               [PROCESSORS n] [WAITS] [SERIAL])
#       one executable on Catch2 (its runner is compiled once, in keyway_catch_run)
#   keyway_mpi_test(NAME RANKS n... [the same])
#       the same executable, run once per number of ranks; brings its own main (OWN_MAIN)
#   keyway_script_test(NAME COMMAND ... [LABELS ...] [TIMEOUT_S n] [SERIAL])
#       a script or a program that is not built on Catch2
#
# PROCESSORS says how many processors a test keeps busy, one by default; WAITS that it mostly waits
# for time to pass. ctest counts them in halves, of which a test that waits takes one: ctest -j takes
# twice the number of processors (tools/scripts/test.sh).
#
# Labels: unit, conformance, models, mpi, system, server, fuzz, tidy, bench, long. `ninja tests_LABEL`
# builds what the quick tests of one label need, `ninja tests_LABEL_long` the executables of the others.

set(KEYWAY_TEST_TIMEOUT_S 180 CACHE STRING "A test that runs longer than this, in s, has hung")
set(KEYWAY_SANITIZER_SLOWDOWN 4)
set(KEYWAY_TEST_LABELS unit conformance models mpi system server fuzz tidy clang bench long)
set(KEYWAY_TEST_DIR ${PROJECT_BINARY_DIR}/test-work)
set(KEYWAY_TEST_SUPPORT_DIR ${PROJECT_SOURCE_DIR}/tests/support)

# The command that starts a program on several ranks, and the prefix of any program. Ranks of MPICH
# that wait yield the processor (support/yielding_progress.cc).
if(KEYWAY_MPI STREQUAL "mpich")
  find_program(KEYWAY_MPIRUN_PROGRAM mpirun.mpich REQUIRED)
  set(KEYWAY_MPI_YIELDS -genv LD_PRELOAD $<TARGET_FILE:mpi_yielding_progress>)
  set(KEYWAY_MPIRUN ${KEYWAY_MPIRUN_PROGRAM} -launcher fork ${KEYWAY_MPI_YIELDS})
elseif(KEYWAY_MPI STREQUAL "openmpi")
  find_program(KEYWAY_MPIRUN_PROGRAM mpirun.openmpi REQUIRED)
  # osc/rdma crashes on Debian 12; on one host osc/sm is right.
  set(KEYWAY_MPIRUN ${KEYWAY_MPIRUN_PROGRAM} --allow-run-as-root --oversubscribe --mca osc sm)
endif()
# One thread simulates, so ThreadSanitizer has nothing to see there. Locks with a defect are there to
# be found by the checks, not by sanitizers, and take long to compile.
set(KEYWAY_SIM_TESTS ON)
# An additional label for tests that sanitizers make slow if faster tests cover the same:
# simulations on one thread, besides conformance_sim.
set(KEYWAY_LONG_IF_SANITIZED)
if(KEYWAY_SANITIZE)
  set(KEYWAY_MUTANT_TESTS OFF)
  set(KEYWAY_LONG_IF_SANITIZED long)
endif()
if(KEYWAY_SANITIZE STREQUAL "thread")
  set(KEYWAY_SIM_TESTS OFF)
  # g++ 12's ThreadSanitizer cannot place its shadow where address randomisation is strong.
  find_program(KEYWAY_SETARCH setarch REQUIRED)
  set(KEYWAY_TEST_LAUNCHER ${KEYWAY_SETARCH} -R)
endif()

set(KEYWAY_TEST_ENVIRONMENT
  ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1
  LSAN_OPTIONS=suppressions=${KEYWAY_TEST_SUPPORT_DIR}/leak-suppressions.txt:print_suppressions=0
  TSAN_OPTIONS=suppressions=${KEYWAY_TEST_SUPPORT_DIR}/thread-suppressions.txt:halt_on_error=1:second_deadlock_stack=1
  UBSAN_OPTIONS=print_stacktrace=1)

foreach(label IN LISTS KEYWAY_TEST_LABELS)
  add_custom_target(tests_${label})
  if(NOT label STREQUAL "long")
    add_custom_target(tests_${label}_long)
  endif()
endforeach()

# One ctest entry: labels, a time limit, a separate working folder in the build tree.
function(keyway_add_ctest name)
  cmake_parse_arguments(ARG "SERIAL;WAITS" "TIMEOUT_S;PROCESSORS" "COMMAND;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    message(FATAL_ERROR "test ${name} has no label; give one of ${KEYWAY_TEST_LABELS}")
  endif()
  foreach(label IN LISTS ARG_LABELS)
    if(NOT label IN_LIST KEYWAY_TEST_LABELS)
      message(FATAL_ERROR "test ${name}: label ${label} is not one of ${KEYWAY_TEST_LABELS}")
    endif()
  endforeach()
  if(NOT ARG_TIMEOUT_S)
    set(ARG_TIMEOUT_S ${KEYWAY_TEST_TIMEOUT_S})
  endif()
  if(KEYWAY_SANITIZE)
    math(EXPR ARG_TIMEOUT_S "${ARG_TIMEOUT_S} * ${KEYWAY_SANITIZER_SLOWDOWN}")
  endif()
  if(NOT ARG_PROCESSORS)
    set(ARG_PROCESSORS 1)
  endif()
  math(EXPR halves "2 * ${ARG_PROCESSORS}")
  if(ARG_WAITS)
    set(halves 1)
  endif()
  file(MAKE_DIRECTORY ${KEYWAY_TEST_DIR}/${name})
  add_test(NAME ${name} COMMAND ${KEYWAY_TEST_LAUNCHER} ${ARG_COMMAND}
           WORKING_DIRECTORY ${KEYWAY_TEST_DIR}/${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT_S}
                       PROCESSORS ${halves} RUN_SERIAL ${ARG_SERIAL}
                       ENVIRONMENT "${KEYWAY_TEST_ENVIRONMENT}")
endfunction()

# The executable of a test, reachable through tests_LABEL.
function(keyway_test_executable name)
  cmake_parse_arguments(ARG "OWN_MAIN" "" "SOURCES;DEPENDS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE keyway_build_flags keyway_test_support keyway_catch_run
                        ${ARG_DEPENDS})
  keyway_precompiled(${name} keyway_test_headers)
  if(NOT ARG_OWN_MAIN)
    target_link_libraries(${name} PRIVATE keyway_test_main)
  endif()
  if(long IN_LIST ARG_LABELS)
    list(REMOVE_ITEM ARG_LABELS long)
    list(TRANSFORM ARG_LABELS APPEND _long)
    list(APPEND ARG_LABELS long)
  endif()
  foreach(label IN LISTS ARG_LABELS)
    add_dependencies(tests_${label} ${name})
  endforeach()
endfunction()

macro(keyway_parse_test)
  cmake_parse_arguments(ARG "OWN_MAIN;SERIAL;WAITS" "TIMEOUT_S;PROCESSORS"
                        "SOURCES;DEPENDS;LABELS;ARGS;RANKS;COMMAND" ${ARGN})
  set(own_main)
  if(ARG_OWN_MAIN)
    set(own_main OWN_MAIN)
  endif()
  set(flags)
  foreach(flag SERIAL WAITS)
    if(ARG_${flag})
      list(APPEND flags ${flag})
    endif()
  endforeach()
endmacro()

function(keyway_test name)
  keyway_parse_test(${ARGN})
  keyway_test_executable(${name} ${own_main} SOURCES ${ARG_SOURCES} DEPENDS ${ARG_DEPENDS}
                         LABELS ${ARG_LABELS})
  keyway_add_ctest(${name} ${flags} COMMAND $<TARGET_FILE:${name}> ${ARG_ARGS}
                   LABELS ${ARG_LABELS} TIMEOUT_S ${ARG_TIMEOUT_S} PROCESSORS ${ARG_PROCESSORS})
endfunction()

function(keyway_mpi_test name)
  keyway_parse_test(${ARGN})
  keyway_test_executable(${name} ${own_main} SOURCES ${ARG_SOURCES} DEPENDS ${ARG_DEPENDS}
                         LABELS ${ARG_LABELS})
  foreach(ranks IN LISTS ARG_RANKS)
    keyway_add_ctest(${name}_${ranks} ${flags}
                     COMMAND ${KEYWAY_MPIRUN} -n ${ranks} $<TARGET_FILE:${name}> ${ARG_ARGS}
                     LABELS ${ARG_LABELS} TIMEOUT_S ${ARG_TIMEOUT_S} PROCESSORS ${ranks})
  endforeach()
endfunction()

function(keyway_script_test name)
  keyway_parse_test(${ARGN})
  keyway_add_ctest(${name} ${flags} COMMAND ${ARG_COMMAND} LABELS ${ARG_LABELS}
                   TIMEOUT_S ${ARG_TIMEOUT_S} PROCESSORS ${ARG_PROCESSORS})
endfunction()

# Every folder below the current one that has a CMakeLists.txt.
macro(keyway_add_test_folders)
  file(GLOB keyway_test_lists CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*/CMakeLists.txt)
  foreach(list IN LISTS keyway_test_lists)
    get_filename_component(folder ${list} DIRECTORY)
    add_subdirectory(${folder})
  endforeach()
endmacro()
