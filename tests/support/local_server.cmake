# keyway_local_commands, keyway_local_named_locks and KEYWAY_LOCAL_SERVER: server/commands,
# server/named_locks and the target that is keywayd, for tests that use local: alone. They are
# keyway::commands and so on, but where keyway_local_client is another one (local_client.cmake says
# why): then all are compiled for that one.
include(${CMAKE_CURRENT_LIST_DIR}/local_client.cmake)
if(TARGET keyway_local_commands)
  return()
endif()
get_target_property(links keyway_local_client INTERFACE_LINK_LIBRARIES)
if("keyway::client" IN_LIST links)
  add_library(keyway_local_commands INTERFACE)
  target_link_libraries(keyway_local_commands INTERFACE keyway::commands)
  add_library(keyway_local_named_locks INTERFACE)
  target_link_libraries(keyway_local_named_locks INTERFACE keyway::named_locks)
  set_property(GLOBAL PROPERTY KEYWAY_LOCAL_SERVER keywayd)
  return()
endif()

# The sources of a target, whole: they are named relative to its folder.
function(keyway_sources_of target folder out)
  get_target_property(sources ${target} SOURCES)
  list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/${folder}/)
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

keyway_sources_of(keyway_named_locks server/named_locks lock_sources)
add_library(keyway_local_named_locks STATIC ${lock_sources})
target_include_directories(keyway_local_named_locks PUBLIC ${PROJECT_BINARY_DIR}/include/named_locks)
target_link_libraries(keyway_local_named_locks PUBLIC keyway_local_client PRIVATE keyway_build_flags)

keyway_sources_of(keyway_commands server/commands sources)
add_library(keyway_local_commands STATIC ${sources})
target_include_directories(keyway_local_commands PUBLIC ${PROJECT_BINARY_DIR}/include/commands)
target_link_libraries(keyway_local_commands
  PUBLIC keyway_local_named_locks keyway::catalogue keyway::resp keyway::statistics
  PRIVATE keyway_build_flags)

# What it writes for kvctl is the same, and the other client is not compiled for it alone.
set_property(TARGET keyway_command_words PROPERTY LINK_LIBRARIES keyway_build_flags keyway_local_commands)

find_package(OpenSSL 3 REQUIRED)
find_package(prometheus-cpp REQUIRED COMPONENTS pull)
keyway_sources_of(keyway_server_net server/net net_sources)
keyway_sources_of(keyway_server_metrics server/metrics metrics_sources)
keyway_sources_of(keywayd server main_sources)
add_executable(keywayd_local EXCLUDE_FROM_ALL ${main_sources} ${net_sources} ${metrics_sources})
set_target_properties(keywayd_local PROPERTIES OUTPUT_NAME keywayd)
target_include_directories(keywayd_local PRIVATE ${PROJECT_SOURCE_DIR}/server
                           ${PROJECT_BINARY_DIR}/include/server_net
                           ${PROJECT_BINARY_DIR}/include/server_metrics)
target_compile_definitions(keywayd_local PRIVATE
  $<TARGET_PROPERTY:keyway_server_net,INTERFACE_COMPILE_DEFINITIONS>)
target_link_libraries(keywayd_local PRIVATE keyway_build_flags keyway_server_options
                      keyway_local_commands keyway::program OpenSSL::SSL OpenSSL::Crypto
                      prometheus-cpp::pull Threads::Threads)
set_property(GLOBAL PROPERTY KEYWAY_LOCAL_SERVER keywayd_local)
