# Debian packages by `cpack -G DEB`: stowage (the command, its manual page, completions and licence)
# and libstowage-dev (archives, headers, CMake package, pkg-config files); with BUILD_SHARED_LIBS
# also libstowageMAJOR.MINOR, with STOWAGE_PYTHON also python3-stowage, for which Python_EXECUTABLE
# must be Debian's python3. dpkg-shlibdeps determines the dependencies from the binaries.
set(STOWAGE_MAINTAINER "stowage maintainers <maintainers@localhost>" CACHE STRING
    "Who is responsible for a package, as Debian writes it")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME stowage)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_PACKAGE_CONTACT ${STOWAGE_MAINTAINER})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
    GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL command development)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME stowage)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMMAND_DESCRIPTION
"The stowage command: which sequences of a training step share a micro-batch and
how many GPUs each of them is scattered over, which replicas take which
sequences, where in memory every tensor lies, and how far from the best possible
plan each plan can be.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libstowage-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
    "Development files: headers, libraries, CMake package and pkg-config files.")
set(needs "")
if(BUILD_SHARED_LIBS)
  set(library libstowage${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  list(APPEND CPACK_COMPONENTS_ALL library)
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${library})
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
  set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "The shared library, for programs that plan.")
  list(APPEND needs "${library} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
else()
  if(WITH_GLPK)
    list(APPEND needs libglpk-dev)
  endif()
  if(WITH_CBC)
    list(APPEND needs coinor-libcbc-dev)
  endif()
  if(WITH_MPI)
    list(APPEND needs libopenmpi-dev)
  endif()
endif()
list(JOIN needs ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)

if(STOWAGE_PYTHON)
  list(APPEND CPACK_COMPONENTS_ALL python3)
  set(CPACK_DEBIAN_PYTHON3_PACKAGE_NAME python3-stowage)
  set(CPACK_DEBIAN_PYTHON3_PACKAGE_SECTION python)
  math(EXPR next "${Python_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON3_PACKAGE_DEPENDS
      "python3 (>= 3.${Python_VERSION_MINOR}~), python3 (<< 3.${next}), python3-numpy")
  set(CPACK_DEBIAN_PYTHON3_DESCRIPTION
      "Python package: plans global batches inside of training loops.")
  set(modules lib/python3/dist-packages/stowage)
  install(TARGETS _core LIBRARY DESTINATION ${modules} COMPONENT python3 EXCLUDE_FROM_ALL)
  install(FILES ${STOWAGE_PYTHON_TYPES} DESTINATION ${modules} COMPONENT python3 EXCLUDE_FROM_ALL)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/stowage/ DESTINATION ${modules} COMPONENT python3
          EXCLUDE_FROM_ALL FILES_MATCHING PATTERN "*.py" PATTERN py.typed
          PATTERN __pycache__ EXCLUDE)
endif()

# Debian requires each package's licence and changes under its own name. GLPK's licence is in a
# package on which these packages depend.
set(texts ${PROJECT_BINARY_DIR}/copyright)
configure_file(${PROJECT_SOURCE_DIR}/solvers/cmake/copyright.in ${texts} @ONLY)
find_program(STOWAGE_GZIP gzip)
if(STOWAGE_GZIP)
  list(APPEND texts ${PROJECT_BINARY_DIR}/changelog.gz)
  execute_process(COMMAND ${STOWAGE_GZIP} -9nc ${PROJECT_SOURCE_DIR}/CHANGELOG.md
                  OUTPUT_FILE ${PROJECT_BINARY_DIR}/changelog.gz COMMAND_ERROR_IS_FATAL ANY)
endif()
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  install(FILES ${texts} COMPONENT ${component} EXCLUDE_FROM_ALL
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
endforeach()
include(CPack)
