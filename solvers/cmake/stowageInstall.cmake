# Installs the library so that find_package(stowage) finds it: the folders' archives, their public
# headers under include/stowage (root-relative as in the tree), the umbrella header
# <stowage/stowage.h>, the CMake package with the Find modules it needs, and the command.
#
# A header is public unless the comment at its top says "Not installed".
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(STOWAGE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/stowage)

# Called by stowage_folder() for each library.
function(stowage_install_folder name)
  set(target stowage_${name})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(${target} PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/stowage>)
  install(TARGETS ${target} EXPORT stowageTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.h)
  set(public "")
  foreach(header IN LISTS headers)
    file(STRINGS ${header} private REGEX "^//.*Not installed" LIMIT_COUNT 1)
    if(NOT private)
      list(APPEND public ${header})
    endif()
  endforeach()
  install(FILES ${public} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/stowage/${name})
  set_property(GLOBAL APPEND PROPERTY STOWAGE_FOLDERS ${name})
  set_property(GLOBAL APPEND PROPERTY STOWAGE_PUBLIC_HEADERS ${public})
endfunction()

# Called once, after all folders.
function(stowage_install_package)
  get_property(folders GLOBAL PROPERTY STOWAGE_FOLDERS)
  get_property(headers GLOBAL PROPERTY STOWAGE_PUBLIC_HEADERS)
  set(includes "")
  foreach(header IN LISTS headers)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${header})
    string(APPEND includes "#include \"${path}\"\n")
  endforeach()
  set(umbrella ${PROJECT_BINARY_DIR}/include/stowage/stowage.h)
  file(CONFIGURE OUTPUT ${umbrella} CONTENT
"// Everything stowage offers. Programs that build often include what they use instead.
#pragma once

${includes}")

  add_library(stowage_all INTERFACE)
  add_library(stowage::stowage ALIAS stowage_all)
  set_target_properties(stowage_all PROPERTIES EXPORT_NAME stowage)
  target_include_directories(stowage_all INTERFACE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>)
  target_compile_features(stowage_all INTERFACE cxx_std_20)
  foreach(folder IN LISTS folders)
    target_link_libraries(stowage_all INTERFACE stowage::${folder})
  endforeach()

  configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/solvers/cmake/stowageConfig.cmake.in
    ${PROJECT_BINARY_DIR}/stowageConfig.cmake INSTALL_DESTINATION ${STOWAGE_PACKAGE_DIR})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/stowageConfigVersion.cmake
                                   COMPATIBILITY SameMinorVersion)
  install(TARGETS stowage_all EXPORT stowageTargets)
  install(EXPORT stowageTargets NAMESPACE stowage:: DESTINATION ${STOWAGE_PACKAGE_DIR})
  install(FILES ${umbrella} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/stowage)
  install(FILES ${PROJECT_BINARY_DIR}/stowageConfig.cmake
                ${PROJECT_BINARY_DIR}/stowageConfigVersion.cmake
                ${PROJECT_SOURCE_DIR}/solvers/cmake/FindCBC.cmake
                ${PROJECT_SOURCE_DIR}/solvers/cmake/FindGLPK.cmake
          DESTINATION ${STOWAGE_PACKAGE_DIR})
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
  if(TARGET stowage)
    install(TARGETS stowage RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endfunction()
