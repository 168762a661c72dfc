# How a test that is an MPI job is registered.
#
#   keyway_mpi_job(EXECUTABLE SOURCES ... [DEPENDS ...])
#       an executable whose main is tests/support/mpi_main.cc
#   keyway_mpi_runs(NAME EXECUTABLE exe [RANKS n...] [VARIANTS v...] [HOSTS hxr...] [ARGS ...]
#                   [LABELS ...] [TIMEOUT_S n])
#       ctest entries NAME_<variant>_<ranks> for every pair of VARIANTS and RANKS, and
#       NAME_netns_<hosts>x<ranks each> for every HOSTS (MPICH only: Open MPI runs on one host).
#
# Variants: direct (the fabric as it comes), rma (--force-rma), nodes1 and nodes2
# (--ranks-per-node 1 and 2), slow (nodes1, and MPI's copies of words are slow: slow_memcpy.cc; only
# where KEYWAY_MPI_SLOW_COPIES). RANKS default 1 2 3 4, VARIANTS default direct rma nodes1 nodes2.
# A job of n ranks spins on n processors, so it asks ctest for two, which is all of a small machine:
# two jobs at a time on two processors took 295 s for all 39 of release, one at a time 200 s.
set(KEYWAY_NETNS_MPIRUN ${KEYWAY_TEST_SUPPORT_DIR}/netns_mpirun.sh)
if(KEYWAY_MPI STREQUAL "openmpi")
  # On one host osc/sm is right, and osc/pt2pt for windows between pretended nodes (osc/rdma
  # crashes on Debian 12). Only shared memory: no network interface is looked for.
  set(KEYWAY_MPI_LAUNCH ${KEYWAY_MPIRUN_PROGRAM} --allow-run-as-root --oversubscribe
      --mca osc sm,pt2pt --mca btl self,vader --mca pml ob1)
else()
  set(KEYWAY_MPI_LAUNCH ${KEYWAY_MPIRUN})
endif()

# Included by several folders: variables are each folder's own, functions and targets are not.
if(COMMAND keyway_mpi_runs)
  return()
endif()

if(NOT TARGET keyway_mpi_test_main)
  add_library(keyway_mpi_test_main OBJECT ${KEYWAY_TEST_SUPPORT_DIR}/mpi_main.cc)
  target_link_libraries(keyway_mpi_test_main PRIVATE keyway_build_flags keyway_test_support
                        keyway::fabric_mpi)
endif()

# The trap of N2 (mpi_endpoint.h), made wide enough to fall into. Sanitizers have a memcpy of their own.
if(KEYWAY_MPI STREQUAL "mpich" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64"
   AND NOT KEYWAY_SANITIZE)
  set(KEYWAY_MPI_SLOW_COPIES ON CACHE INTERNAL "Variant slow of keyway_mpi_runs is there")
  add_library(mpi_slow_memcpy SHARED ${KEYWAY_TEST_SUPPORT_DIR}/slow_memcpy.cc)
  target_link_libraries(mpi_slow_memcpy PRIVATE keyway_build_flags)
  add_dependencies(tests_mpi mpi_slow_memcpy)
else()
  set(KEYWAY_MPI_SLOW_COPIES OFF CACHE INTERNAL "Variant slow of keyway_mpi_runs is there")
endif()

function(keyway_mpi_job executable)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS mpi)
  endif()
  keyway_test_executable(${executable} OWN_MAIN SOURCES ${ARG_SOURCES} LABELS ${ARG_LABELS}
                         DEPENDS keyway_mpi_test_main keyway::fabric_mpi ${ARG_DEPENDS})
endfunction()

# For a test whose command is KEYWAY_NETNS_MPIRUN: it is skipped where there are no namespaces.
function(keyway_of_netns_mpirun test)
  set_tests_properties(${test} PROPERTIES SKIP_RETURN_CODE 77)
  set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT KEYWAY_MPIEXEC=${KEYWAY_MPIRUN_PROGRAM})
endfunction()

function(keyway_mpi_runs name)
  cmake_parse_arguments(ARG "" "EXECUTABLE;TIMEOUT_S" "RANKS;VARIANTS;HOSTS;ARGS;LABELS" ${ARGN})
  if(NOT ARG_RANKS)
    set(ARG_RANKS 1 2 3 4)
  endif()
  if(NOT ARG_VARIANTS)
    set(ARG_VARIANTS direct rma nodes1 nodes2)
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS mpi)
  endif()
  set(program $<TARGET_FILE:${ARG_EXECUTABLE}>)
  set(flags_direct)
  set(flags_rma --force-rma)
  set(flags_nodes1 --ranks-per-node 1)
  set(flags_nodes2 --ranks-per-node 2)
  set(flags_slow --ranks-per-node 1)
  set(preload_slow -genv LD_PRELOAD
      "$<TARGET_FILE:mpi_slow_memcpy>:$<TARGET_FILE:mpi_yielding_progress>")
  foreach(variant IN LISTS ARG_VARIANTS)
    foreach(ranks IN LISTS ARG_RANKS)
      keyway_add_ctest(${name}_${variant}_${ranks}
        COMMAND ${KEYWAY_MPI_LAUNCH} -n ${ranks} ${preload_${variant}} ${program}
                ${flags_${variant}} ${ARG_ARGS}
        LABELS ${ARG_LABELS} TIMEOUT_S ${ARG_TIMEOUT_S} PROCESSORS 2)
    endforeach()
  endforeach()
  if(NOT KEYWAY_MPI STREQUAL "mpich")
    return()
  endif()
  foreach(shape IN LISTS ARG_HOSTS)
    string(REPLACE "x" ";" parts ${shape})
    list(GET parts 0 hosts)
    list(GET parts 1 ranks)
    keyway_add_ctest(${name}_netns_${shape}
      COMMAND ${KEYWAY_NETNS_MPIRUN} ${hosts} ${ranks} ${KEYWAY_MPI_YIELDS} ${program} ${ARG_ARGS}
      LABELS ${ARG_LABELS} TIMEOUT_S ${ARG_TIMEOUT_S} PROCESSORS 2)
    keyway_of_netns_mpirun(${name}_netns_${shape})
  endforeach()
endfunction()
