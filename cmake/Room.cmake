# Fields that a designated initialiser leaves out have their defaults: that is
# the point of options as structs.
set(CROSSILO_WARNINGS -Wall -Wextra -Wno-missing-field-initializers)

# room(NAME <room> DEPS <rooms before it> SOURCES <.cc in reading order>
#      [TESTS <_test.cc>] [HEAVY_TESTS <_test.cc>]
#      [PROGRAM <its main .cc>] [VENDORS <header roots let in>]
#      [LINK <libraries>] [TORCH])
#
# One folder, one library.  A room may depend only on rooms already declared;
# the test room.<name> fails on an include of any other room or vendor and on
# a source file that no list names.  TORCH lets libtorch in, through one
# precompiled header shared by all such rooms.
function(room)
  cmake_parse_arguments(R "TORCH" "NAME;PROGRAM" "DEPS;SOURCES;TESTS;HEAVY_TESTS;VENDORS;LINK" ${ARGN})
  file(GLOB headers CONFIGURE_DEPENDS *.h)
  # What only tests include stays here.
  list(FILTER headers EXCLUDE REGEX "(test|page_fixture|page_collection|driver)[a-z_]*\\.h$")
  set(target crossilo_${R_NAME})
  add_library(${target} STATIC ${R_SOURCES})
  add_library(crossilo::${R_NAME} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${R_NAME})
  target_compile_options(${target} PRIVATE ${CROSSILO_WARNINGS})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
  target_compile_features(${target} PUBLIC cxx_std_20)

  foreach(dep ${R_DEPS})
    if(NOT TARGET crossilo::${dep})
      message(FATAL_ERROR "room '${R_NAME}' names '${dep}', which is not before it")
    endif()
    target_link_libraries(${target} PUBLIC crossilo::${dep})
  endforeach()
  target_link_libraries(${target} PUBLIC ${R_LINK})
  if(R_TORCH)
    list(APPEND R_VENDORS torch ATen c10)
    use_torch(${target})
  endif()

  install_room(${target} ${R_NAME} "${headers}")
  if(NOT CROSSILO_TESTS)
    return()
  endif()
  room_test(${R_NAME}_test "${R_TESTS}" ${target} "${R_TORCH}")
  room_test(${R_NAME}_heavy_test "${R_HEAVY_TESTS}" ${target} "${R_TORCH}")
  if(R_HEAVY_TESTS)
    set_tests_properties(${R_NAME}_heavy_test PROPERTIES LABELS heavy)
  endif()
  add_test(NAME room.${R_NAME}
    COMMAND ${CMAKE_COMMAND} -DROOM=${R_NAME} "-DALLOWED=${R_DEPS}" "-DVENDORS=${R_VENDORS}"
            "-DLISTED=${R_SOURCES};${R_TESTS};${R_HEAVY_TESTS};${R_PROGRAM}"
            -DDIR=${CMAKE_CURRENT_SOURCE_DIR}
            -P ${PROJECT_SOURCE_DIR}/cmake/CheckRoom.cmake)
endfunction()

# One executable and one ctest entry for a list of test files; nothing for an
# empty list.  A test finds real data below CROSSILO_SHARED, if that is set.
function(room_test name sources target torch)
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ${target} GTest::gtest_main GTest::gmock)
  target_compile_options(${name} PRIVATE ${CROSSILO_WARNINGS})
  if(torch)
    use_torch(${name})
  endif()
  add_test(NAME ${name} COMMAND ${name})
  # A temporary folder of its own, or two checkouts that are tested at the same
  # moment would meet.
  set(scratch ${CMAKE_CURRENT_BINARY_DIR}/${name}.tmp)
  file(MAKE_DIRECTORY ${scratch})
  set_tests_properties(${name} PROPERTIES
    ENVIRONMENT "CROSSILO_SHARED=${PROJECT_SOURCE_DIR}/../shared;TEST_TMPDIR=${scratch}")
endfunction()

# libtorch with its headers precompiled once: a file that includes them then
# costs about 2 s instead of 10.
function(use_torch target)
  if(NOT TARGET crossilo_torch)
    find_package(Torch REQUIRED)
    # Its flags reach every consumer through this one interface.
    add_library(crossilo_torch INTERFACE)
    target_link_libraries(crossilo_torch INTERFACE ${TORCH_LIBRARIES})
    target_include_directories(crossilo_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
    set_target_properties(crossilo_torch PROPERTIES EXPORT_NAME torch_flags)
    install(TARGETS crossilo_torch EXPORT crossilo)
    file(WRITE ${PROJECT_BINARY_DIR}/pch.cc "")
    add_library(crossilo_pch STATIC ${PROJECT_BINARY_DIR}/pch.cc)
    target_link_libraries(crossilo_pch PRIVATE crossilo_torch)
    target_include_directories(crossilo_pch PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_features(crossilo_pch PUBLIC cxx_std_20)
    target_compile_options(crossilo_pch PRIVATE ${CROSSILO_WARNINGS})
    target_precompile_headers(crossilo_pch PRIVATE
      ${PROJECT_SOURCE_DIR}/crossilo/tensors/torch.h)
  endif()
  target_link_libraries(${target} PUBLIC crossilo_torch)
  target_precompile_headers(${target} REUSE_FROM crossilo_pch)
endfunction()
