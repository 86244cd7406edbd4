# Makes libraries of the folders and installs them. stowage::plan plans and verifies, without MPI,
# kernels and MILP backends; stowage::stowage is stowage::plan and the kernels. stowage::backends is
# stowage::plan with the backends of this build, for programs that ask for them and keep their
# licences: GLPK's is the GPL. All are archives, or shared libraries with BUILD_SHARED_LIBS. The
# installation also has the public headers under
# include/stowage, a CMake package, pkg-config files, and the command with its manual page and
# completions.
#
# A header is public if it is in public_headers.cmake. The installed copies include
# <stowage/instances/units.h> where the sources include "instances/units.h". So a user needs only
# the include directory above stowage/, and a user's own folder `instances` or `solvers` causes no
# conflict.
#
# A shared library exports only namespace stowage (solvers/cmake/stowage.map). Before version 1
# every minor release may change the ABI, so the soname carries major and minor.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
include(${CMAKE_CURRENT_LIST_DIR}/public_headers.cmake)

set(STOWAGE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/stowage)
set(STOWAGE_PUBLIC_INCLUDE ${PROJECT_BINARY_DIR}/include)

# Called once, after all folders.
function(stowage_libraries)
  set(stamp ${PROJECT_BINARY_DIR}/public_headers.stamp)
  list(TRANSFORM STOWAGE_PUBLIC_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE sources)
  list(TRANSFORM STOWAGE_PUBLIC_HEADERS PREPEND ${STOWAGE_PUBLIC_INCLUDE}/stowage/
       OUTPUT_VARIABLE published)
  add_custom_command(
    OUTPUT ${stamp}
    # BYPRODUCTS make Ninja rebuild the users of these files in the same run.
    BYPRODUCTS ${published} ${STOWAGE_PUBLIC_INCLUDE}/stowage/stowage.h
    COMMAND ${CMAKE_COMMAND} "-DHEADERS=${STOWAGE_PUBLIC_HEADERS}" -DFROM=${PROJECT_SOURCE_DIR}
            -DTO=${STOWAGE_PUBLIC_INCLUDE}/stowage -P ${PROJECT_SOURCE_DIR}/solvers/cmake/publish.cmake
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${sources} ${PROJECT_SOURCE_DIR}/solvers/cmake/publish.cmake
    COMMENT "Publishing the headers"
    VERBATIM)
  add_custom_target(stowage_public_headers ALL DEPENDS ${stamp})

  # The sources that name backends are compiled a second time, without backends: their definitions
  # apply only inside the folder solvers.
  stowage_library(stowage_plan plan instances formulations heuristics solvers WITHOUT_BACKENDS
                  solvers/lp/solver.cc solvers/milp/backends.cc solvers/milp/solver.cc)
  set_target_properties(stowage_plan PROPERTIES OUTPUT_NAME stowage-plan)
  if(STOWAGE_BACKENDS)
    stowage_library(stowage_backends backends instances formulations heuristics solvers)
    if(TARGET stowage_highs)
      target_sources(stowage_backends PRIVATE $<TARGET_OBJECTS:stowage_highs>)
    endif()
    set_target_properties(stowage_backends PROPERTIES OUTPUT_NAME stowage-backends)
  endif()
  stowage_library(stowage_all stowage kernels)
  # As a shared library it finds the other library in its own directory, wherever both are
  # installed.
  set_target_properties(stowage_all PROPERTIES OUTPUT_NAME stowage INSTALL_RPATH "$ORIGIN")
  target_link_libraries(stowage_all PUBLIC stowage_plan)
  if(STOWAGE_INSTALL)
    stowage_install_libraries()
  endif()
endfunction()

# stowage_library(TARGET NAME FOLDER... [WITHOUT_BACKENDS SOURCE...]): defines stowage::NAME from the
# objects of the folders, linked with the libraries of their sources. With WITHOUT_BACKENDS the objects
# of the backends are left out, and the sources take the place of the objects of their names.
function(stowage_library target name)
  cmake_parse_arguments(ARG "" "" "WITHOUT_BACKENDS" ${ARGN})
  add_library(${target})
  add_library(stowage::${name} ALIAS ${target})
  add_dependencies(${target} stowage_public_headers)
  set(replaced "/(cbc|clp|glpk|highs)_[a-z]+\\.cc")
  foreach(source IN LISTS ARG_WITHOUT_BACKENDS)
    string(REPLACE "solvers/" "|/" object ${source})
    string(REPLACE "." "\\." object ${object})
    string(APPEND replaced ${object})
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/${source})
  endforeach()
  foreach(folder IN LISTS ARG_UNPARSED_ARGUMENTS)
    get_property(libraries TARGET stowage_${folder} PROPERTY STOWAGE_LIBRARIES)
    if(ARG_WITHOUT_BACKENDS AND folder STREQUAL "solvers")
      target_sources(${target} PRIVATE
        "$<FILTER:$<TARGET_OBJECTS:stowage_${folder}>,EXCLUDE,${replaced}>")
      list(FILTER libraries EXCLUDE REGEX "^(CBC|GLPK|highs)::")
    else()
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:stowage_${folder}>)
    endif()
    target_link_libraries(${target} PRIVATE ${libraries})
  endforeach()
  if(ARG_WITHOUT_BACKENDS)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_options(${target} PRIVATE -ffp-contract=off)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${name} LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${STOWAGE_PUBLIC_INCLUDE}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:stowage_flags>)
  if(BUILD_SHARED_LIBS AND UNIX AND NOT APPLE)
    set(map ${PROJECT_SOURCE_DIR}/solvers/cmake/stowage.map)
    target_link_options(${target} PRIVATE -Wl,--version-script=${map})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
  endif()
endfunction()

# One export per library, so that a program that only plans does not need MPI.
function(stowage_install_library target export)
  install(TARGETS ${target} EXPORT ${export}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
  install(EXPORT ${export} NAMESPACE stowage:: DESTINATION ${STOWAGE_PACKAGE_DIR}
    COMPONENT development)
endfunction()

# Writes NAME.pc to the build folder and installs it. REQUIRES: another .pc file. PRIVATE: libraries
# that the linker needs if the library is an archive (`pkg-config --static`).
function(stowage_install_pkg_config name)
  cmake_parse_arguments(ARG "" "DESCRIPTION;REQUIRES;PRIVATE" "" ${ARGN})
  file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" up ${up})
  configure_file(${PROJECT_SOURCE_DIR}/solvers/cmake/stowage.pc.in
                 ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endfunction()

function(stowage_install_libraries)
  stowage_install_library(stowage_plan stowagePlanTargets)
  stowage_install_library(stowage_all stowageTargets)
  if(TARGET stowage_backends)
    stowage_install_library(stowage_backends stowageBackendsTargets)
  endif()
  install(DIRECTORY ${STOWAGE_PUBLIC_INCLUDE}/stowage DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    COMPONENT development)

  configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/solvers/cmake/stowageConfig.cmake.in
    ${PROJECT_BINARY_DIR}/stowageConfig.cmake INSTALL_DESTINATION ${STOWAGE_PACKAGE_DIR})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/stowageConfigVersion.cmake
                                   COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/stowageConfig.cmake
                ${PROJECT_BINARY_DIR}/stowageConfigVersion.cmake
                ${PROJECT_SOURCE_DIR}/solvers/cmake/FindCBC.cmake
                ${PROJECT_SOURCE_DIR}/solvers/cmake/FindGLPK.cmake
          DESTINATION ${STOWAGE_PACKAGE_DIR} COMPONENT development)

  stowage_install_pkg_config(stowage-plan PRIVATE "-pthread"
    DESCRIPTION "${PROJECT_DESCRIPTION} (planning only)")
  if(TARGET stowage_backends)
    set(private "-pthread")
    if(WITH_GLPK)
      string(APPEND private " -lglpk")
    endif()
    if(WITH_HIGHS AND NOT TARGET stowage_highs)
      string(APPEND private " -lhighs")
    endif()
    if(WITH_CBC)
      string(APPEND private " -lCbc -lCgl -lOsiClp -lClp -lOsi -lCoinUtils")
    endif()
    stowage_install_pkg_config(stowage-backends PRIVATE "${private}"
      DESCRIPTION "${PROJECT_DESCRIPTION} (planning, with MILP backends)")
  endif()
  set(private "-pthread")
  if(WITH_MPI)
    list(JOIN MPI_CXX_LIBRARIES " " mpi)
    string(APPEND private " ${mpi}")
  endif()
  stowage_install_pkg_config(stowage PRIVATE "${private}" REQUIRES stowage-plan
    DESCRIPTION "${PROJECT_DESCRIPTION}")
endfunction()
