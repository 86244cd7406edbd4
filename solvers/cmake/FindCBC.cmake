# Finds COIN-OR CBC with the libraries it needs (Clp, Osi, Cgl, CoinUtils) through pkg-config.
# Defines CBC::CBC, whose headers are included by bare name: #include <CbcModel.hpp>.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_CBC QUIET cbc)
endif()
find_path(CBC_INCLUDE_DIR CbcModel.hpp HINTS ${PC_CBC_INCLUDE_DIRS} PATH_SUFFIXES coin coin-or)

set(_cbc_wanted Cbc Cgl OsiClp Clp Osi CoinUtils)
set(CBC_LIBRARIES "")
set(_cbc_required "")
foreach(_lib IN LISTS _cbc_wanted)
  find_library(CBC_${_lib}_LIBRARY ${_lib} HINTS ${PC_CBC_LIBRARY_DIRS})
  list(APPEND CBC_LIBRARIES ${CBC_${_lib}_LIBRARY})
  list(APPEND _cbc_required CBC_${_lib}_LIBRARY)
  mark_as_advanced(CBC_${_lib}_LIBRARY)
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CBC REQUIRED_VARS CBC_INCLUDE_DIR ${_cbc_required}
                                  VERSION_VAR PC_CBC_VERSION)
if(CBC_FOUND AND NOT TARGET CBC::CBC)
  # IMPORTED makes the include directory SYSTEM, which disables warnings of these headers.
  add_library(CBC::CBC INTERFACE IMPORTED)
  set_target_properties(CBC::CBC PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES ${CBC_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES "${CBC_LIBRARIES}")
endif()
mark_as_advanced(CBC_INCLUDE_DIR)
