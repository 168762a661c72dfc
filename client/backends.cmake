# keyway_backends(FOLDER NAME...): FOLDER/keyway/client/backends.h lists the back-ends NAME..., such as Shm
# with its ShmBackend in client/backend_shm.h. So no source asks the preprocessor what the build has.
function(keyway_backends folder)
  set(keyway_backend_includes)
  set(types)
  foreach(name IN LISTS ARGN)
    string(TOLOWER ${name} file)
    string(APPEND keyway_backend_includes "#include \"keyway/client/backend_${file}.h\"\n")
    list(APPEND types ${name}Backend)
  endforeach()
  list(JOIN types ", " keyway_backend_types)
  configure_file(${PROJECT_SOURCE_DIR}/client/backends.h.in ${folder}/keyway/client/backends.h @ONLY)
endfunction()
