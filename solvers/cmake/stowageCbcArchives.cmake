# STOWAGE_CBC: COIN-OR CBC for the folders of stowage. It is CBC::CBC. For programs with the
# property STOWAGE_CBC_ARCHIVES it is CBC's archives, with the two LAPACK routines that they call
# instead of LAPACK.
#
# The command uses the archives because libCoinUtils.so loads the system's LAPACK. A threaded
# OpenBLAS starts threads before main(), kills the process if it cannot start them, and can prevent
# the process from ending if memory is short.
set(STOWAGE_CBC CBC::CBC)

add_library(stowage_lapack STATIC lp/lapack.cc)
target_include_directories(stowage_lapack PUBLIC ${PROJECT_SOURCE_DIR})
target_compile_options(stowage_lapack PRIVATE -ffp-contract=off)
target_link_libraries(stowage_lapack PRIVATE stowage_flags)

set(archives "")
foreach(library Cbc Cgl OsiClp Clp Osi CoinUtils)
  get_filename_component(folder ${CBC_${library}_LIBRARY} DIRECTORY)
  find_library(CBC_${library}_ARCHIVE lib${library}.a HINTS ${folder})
  list(APPEND archives ${CBC_${library}_ARCHIVE})
  mark_as_advanced(CBC_${library}_ARCHIVE)
endforeach()
# CoinUtils reads compressed files if it was built with these libraries.
foreach(library z bz2)
  find_library(CBC_${library}_LIBRARY ${library})
  list(APPEND archives ${CBC_${library}_LIBRARY})
  mark_as_advanced(CBC_${library}_LIBRARY)
endforeach()
if(archives MATCHES "NOTFOUND")
  message(STATUS "CBC's archives are incomplete (${archives}): the command loads the system's LAPACK")
else()
  list(FIND archives "${CBC_z_LIBRARY}" end)
  list(INSERT archives ${end} stowage_lapack)
  add_library(stowage_cbc_archives INTERFACE)
  target_link_libraries(stowage_cbc_archives INTERFACE ${archives})
  set(archived "$<BOOL:$<TARGET_PROPERTY:STOWAGE_CBC_ARCHIVES>>")
  set(STOWAGE_CBC "$<IF:${archived},stowage_cbc_archives,CBC::CBC>")
endif()
