# What `cmake --install` lays down so that a stranger's project can say
# find_package(crossilo) and link crossilo::codes or any other room.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

function(install_room target name headers)
  install(TARGETS ${target} EXPORT crossilo ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/crossilo/${name})
endfunction()

function(install_crossilo)
  set(where ${CMAKE_INSTALL_LIBDIR}/cmake/crossilo)
  install(EXPORT crossilo NAMESPACE crossilo:: DESTINATION ${where})
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/crossiloConfig.cmake.in
    ${PROJECT_BINARY_DIR}/crossiloConfig.cmake INSTALL_DESTINATION ${where})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/crossiloConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/crossiloConfig.cmake
                ${PROJECT_BINARY_DIR}/crossiloConfigVersion.cmake
          DESTINATION ${where})
endfunction()
