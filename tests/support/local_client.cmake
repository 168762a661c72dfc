# keyway_local_client: the client library for tests that need no MPI.
#
# It is keyway::client, except with sanitizers: then it is built without MPI. With ThreadSanitizer
# it must be: UCX, which MPICH brings along, replaces the system's madvise(), and that takes a lock
# in a thread that ThreadSanitizer has already taken down, which crashes. With the others it saves a
# minute: the store compiled for the mpi fabric, which none of their tests uses.
if(TARGET keyway_local_client)
  return()
endif()
if(NOT KEYWAY_SANITIZE OR KEYWAY_MPI STREQUAL "none")
  add_library(keyway_local_client INTERFACE)
  target_link_libraries(keyway_local_client INTERFACE keyway::client)
  return()
endif()

set(client ${PROJECT_SOURCE_DIR}/client)
set(staging ${PROJECT_BINARY_DIR}/include/local_client)
file(MAKE_DIRECTORY ${staging}/keyway)
file(CREATE_LINK ${client} ${staging}/keyway/client SYMBOLIC)
include(${client}/backends.cmake)
keyway_backends(${staging}_generated Remote Shm)
add_library(keyway_local_client STATIC ${client}/backend_remote.cc ${client}/backend_shm.cc ${client}/inspector.cc
            ${client}/lock_policy.cc ${client}/session.cc ${client}/store.cc ${client}/uri.cc)
target_include_directories(keyway_local_client PUBLIC ${staging} PRIVATE ${staging}_generated)
target_link_libraries(keyway_local_client PUBLIC keyway::kvstore keyway::remote PRIVATE keyway_build_flags)
