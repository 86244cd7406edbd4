# One library out of the folders, and its installation: libstowage (static, or shared with
# BUILD_SHARED_LIBS), the public headers under include/stowage, a CMake package, a pkg-config file,
# the command with its manual page and completions.
#
# A header is public unless the comment at its top says "Not installed". The copies that others see
# say <stowage/instances/units.h> where the sources say "instances/units.h": the only include
# directory anybody needs is the one above stowage/, and a folder of theirs that is called
# `instances` or `solvers` is never mistaken for ours.
#
# A shared library exports namespace stowage and nothing else (solvers/cmake/stowage.map). Before
# version 1 every minor release may change the ABI, so the soname carries major and minor.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(STOWAGE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/stowage)
set(STOWAGE_PUBLIC_INCLUDE ${PROJECT_BINARY_DIR}/include)

# Called by stowage_folder() for each folder of the library, with the libraries it needs.
function(stowage_library_folder name)
  set_property(GLOBAL APPEND PROPERTY STOWAGE_OBJECTS $<TARGET_OBJECTS:stowage_${name}>)
  set_property(GLOBAL APPEND PROPERTY STOWAGE_LIBRARIES ${ARGN})
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.h)
  foreach(header IN LISTS headers)
    file(STRINGS ${header} private REGEX "^//.*Not installed" LIMIT_COUNT 1)
    if(NOT private)
      file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${header})
      set_property(GLOBAL APPEND PROPERTY STOWAGE_PUBLIC_HEADERS ${path})
    endif()
  endforeach()
endfunction()

# Called once, after all folders.
function(stowage_library)
  get_property(objects GLOBAL PROPERTY STOWAGE_OBJECTS)
  get_property(libraries GLOBAL PROPERTY STOWAGE_LIBRARIES)
  get_property(headers GLOBAL PROPERTY STOWAGE_PUBLIC_HEADERS)
  list(REMOVE_DUPLICATES libraries)
  list(REMOVE_DUPLICATES headers)  # pictures is a folder in a folder

  set(stamp ${PROJECT_BINARY_DIR}/public_headers.stamp)
  list(TRANSFORM headers PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE sources)
  list(TRANSFORM headers PREPEND ${STOWAGE_PUBLIC_INCLUDE}/stowage/ OUTPUT_VARIABLE published)
  add_custom_command(
    OUTPUT ${stamp}
    # Named, so that Ninja rebuilds in the same run what includes them.
    BYPRODUCTS ${published} ${STOWAGE_PUBLIC_INCLUDE}/stowage/stowage.h
    COMMAND ${CMAKE_COMMAND} "-DHEADERS=${headers}" -DFROM=${PROJECT_SOURCE_DIR}
            -DTO=${STOWAGE_PUBLIC_INCLUDE}/stowage -P ${PROJECT_SOURCE_DIR}/solvers/cmake/publish.cmake
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${sources} ${PROJECT_SOURCE_DIR}/solvers/cmake/publish.cmake
    COMMENT "Publishing the headers"
    VERBATIM)
  add_custom_target(stowage_public_headers ALL DEPENDS ${stamp})

  add_library(stowage_all ${objects})
  add_library(stowage::stowage ALIAS stowage_all)
  add_dependencies(stowage_all stowage_public_headers)
  set_target_properties(stowage_all PROPERTIES
    OUTPUT_NAME stowage EXPORT_NAME stowage LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_compile_features(stowage_all INTERFACE cxx_std_20)
  target_include_directories(stowage_all INTERFACE
    $<BUILD_INTERFACE:${STOWAGE_PUBLIC_INCLUDE}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(stowage_all PRIVATE ${libraries} $<BUILD_INTERFACE:stowage_flags>)
  if(BUILD_SHARED_LIBS AND UNIX AND NOT APPLE)
    set(map ${PROJECT_SOURCE_DIR}/solvers/cmake/stowage.map)
    target_link_options(stowage_all PRIVATE -Wl,--version-script=${map})
    set_property(TARGET stowage_all APPEND PROPERTY LINK_DEPENDS ${map})
  endif()
  if(STOWAGE_INSTALL)
    stowage_install_library()
  endif()
endfunction()

function(stowage_install_library)
  install(TARGETS stowage_all EXPORT stowageTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
  install(EXPORT stowageTargets NAMESPACE stowage:: DESTINATION ${STOWAGE_PACKAGE_DIR}
    COMPONENT development)
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

  # The linker needs the backends only where the library is an archive: `pkg-config --static`.
  set(STOWAGE_PC_PRIVATE "-pthread")
  if(WITH_GLPK)
    string(APPEND STOWAGE_PC_PRIVATE " -lglpk")
  endif()
  if(WITH_CBC)
    string(APPEND STOWAGE_PC_PRIVATE " -lCbc -lCgl -lOsiClp -lClp -lOsi -lCoinUtils")
  endif()
  file(RELATIVE_PATH STOWAGE_PC_UP
       /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" STOWAGE_PC_UP ${STOWAGE_PC_UP})
  configure_file(${PROJECT_SOURCE_DIR}/solvers/cmake/stowage.pc.in
                 ${PROJECT_BINARY_DIR}/stowage.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/stowage.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endfunction()
