# Installs every library that a program may link, its headers, and a package for find_package(Keyway).
#
# The libraries are static, so a consumer also links what they link privately
# (spdlog, hwloc, MPI ...). The package finds those again by the same names: the
# list is read off the targets here, so that it cannot drift from the build.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(keyway_libraries GLOBAL PROPERTY KEYWAY_INSTALLED_LIBRARIES)
get_property(keyway_folders GLOBAL PROPERTY KEYWAY_INSTALLED_FOLDERS)
set(keyway_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Keyway)

# keyway_find_lines(OUT target...): the CMake lines that find all that the targets link.
function(keyway_find_lines out)
  set(linked)
  foreach(target IN LISTS ARGN)
    get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
    string(REGEX REPLACE "\\$<BUILD_INTERFACE:[^>]*>" "" links "${links}")
    string(REGEX MATCHALL "[A-Za-z0-9_]+::[A-Za-z0-9_+.-]+" names "${links}")
    list(APPEND linked ${names})
  endforeach()
  list(REMOVE_DUPLICATES linked)
  list(SORT linked)
  set(lines)
  foreach(name IN LISTS linked)
    string(REGEX REPLACE "::.*" "" package ${name})
    string(REGEX REPLACE ".*::" "" component ${name})
    if(package STREQUAL "keyway")
      continue()
    elseif(package STREQUAL "PkgConfig")
      string(APPEND lines "find_dependency(PkgConfig)\n"
             "pkg_check_modules(${component} REQUIRED IMPORTED_TARGET ${${component}_MODULE_NAME})\n")
    elseif(package STREQUAL "Boost")
      string(APPEND lines "find_dependency(Boost COMPONENTS ${component})\n")
    else()
      string(APPEND lines "find_dependency(${package})\n")
    endif()
  endforeach()
  set(${out} "${lines}" PARENT_SCOPE)
endfunction()
keyway_find_lines(KEYWAY_FIND_DEPENDENCIES ${keyway_libraries})

install(TARGETS ${keyway_libraries} EXPORT KeywayTargets)
install(EXPORT KeywayTargets NAMESPACE keyway:: DESTINATION ${keyway_package_dir})
foreach(folder IN LISTS keyway_folders)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/keyway/${folder}
          FILES_MATCHING PATTERN "*.h" PATTERN "client/program" EXCLUDE)
endforeach()

configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/KeywayConfig.cmake.in ${PROJECT_BINARY_DIR}/KeywayConfig.cmake
  INSTALL_DESTINATION ${keyway_package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/KeywayConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/KeywayConfig.cmake
              ${PROJECT_BINARY_DIR}/KeywayConfigVersion.cmake
        DESTINATION ${keyway_package_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
