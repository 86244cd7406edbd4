# STOWAGE_HIGHS: the target of HiGHS (MIT) for the folders of stowage; empty if there is none. With
# STOWAGE_HIGHS_SOURCE it is an archive that is built here from HiGHS' own sources, a folder or a
# .tar.gz: that of the Python package highspy, which `./dev` fetches, or that of a release. Otherwise
# it is highs::highs of an installation.
#
# HiGHS is built here with our flags, because equal input must give equal bytes: no fused
# multiply-add, and no instructions beyond the compiler's default. The sources are named by HiGHS' own
# cmake/sources.cmake.
set(STOWAGE_HIGHS_SOURCE "" CACHE PATH "HiGHS' sources, a folder or an archive; empty: an installed HiGHS")
set(STOWAGE_HIGHS "")

# Sets ROOT to the folder of the sources.
function(stowage_highs_root root)
  set(from ${STOWAGE_HIGHS_SOURCE})
  if(NOT IS_DIRECTORY ${from})
    set(unpacked ${PROJECT_BINARY_DIR}/highs-source)
    file(ARCHIVE_EXTRACT INPUT ${from} DESTINATION ${unpacked})
    set(from ${unpacked})
  endif()
  file(GLOB found ${from}/cmake/sources.cmake ${from}/*/cmake/sources.cmake)
  list(LENGTH found count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "STOWAGE_HIGHS_SOURCE=${STOWAGE_HIGHS_SOURCE} must have the sources of HiGHS, has "
                        "${count} files cmake/sources.cmake")
  endif()
  get_filename_component(folder ${found} DIRECTORY)
  get_filename_component(folder ${folder} DIRECTORY)
  set(${root} ${folder} PARENT_SCOPE)
endfunction()

function(stowage_build_highs root)
  include(${root}/cmake/sources.cmake)
  file(STRINGS ${root}/Version.txt lines REGEX "HIGHS_(MAJOR|MINOR|PATCH)=")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "HIGHS_([A-Z]+)=([0-9]+)" line ${line})
    set(HIGHS_VERSION_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
  endforeach()
  set(FAST_BUILD ON)
  set(CUPDLP_CPU ON)
  set(HIGHS_HAVE_BUILTIN_CLZ ON)
  set(GITHASH "n/a")
  configure_file(${root}/highs/HConfig.h.in ${PROJECT_BINARY_DIR}/highs/HConfig.h)
  set(sources ${highs_sources} ${cupdlp_sources} ${ipx_sources} ${basiclu_sources} ${hipo_sources}
              ${factor_highs_sources} ${hipo_util_sources})
  list(TRANSFORM sources PREPEND ${root}/highs/)
  # From 1.16 on HiGHS asks for optional libraries through these; without HIPO they answer that there are none.
  file(GLOB extras ${root}/extern/HighsExtras*.cpp)
  set_source_files_properties(${extras} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON COMPILE_DEFINITIONS
    "HIGHS_EXTRAS_VERSION=\"${HIGHS_VERSION_MAJOR}.${HIGHS_VERSION_MINOR}.${HIGHS_VERSION_PATCH}\"")
  add_library(stowage_highs STATIC ${sources} ${extras})
  set_target_properties(stowage_highs PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_STANDARD 11
                        UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  # The folders in which HiGHS' sources look for each other's headers, and the header of its C interface.
  set(folders . interfaces io ipm ipm/basiclu ipm/hipo ipm/hipo/auxiliary ipm/hipo/factorhighs
              ipm/hipo/ipm ipm/ipx lp_data mip model parallel pdlp pdlp/cupdlp pdlp/hipdlp presolve
              qpsolver simplex util)
  list(TRANSFORM folders PREPEND ${root}/highs/)
  target_include_directories(stowage_highs PRIVATE ${folders} ${root}/extern)
  target_include_directories(stowage_highs SYSTEM INTERFACE ${root}/highs)
  target_include_directories(stowage_highs PUBLIC ${PROJECT_BINARY_DIR}/highs)
  target_compile_options(stowage_highs PRIVATE -w -O2 -DNDEBUG -ffp-contract=off -ffunction-sections
                                               -fdata-sections)
  target_link_libraries(stowage_highs PRIVATE Threads::Threads)
  message(STATUS "HiGHS ${HIGHS_VERSION_MAJOR}.${HIGHS_VERSION_MINOR}.${HIGHS_VERSION_PATCH} is built from ${root}")
endfunction()

if(STOWAGE_HIGHS_SOURCE)
  find_package(Threads REQUIRED)
  enable_language(C)
  stowage_highs_root(STOWAGE_HIGHS_ROOT)
  stowage_build_highs(${STOWAGE_HIGHS_ROOT})
  set(STOWAGE_HIGHS stowage_highs)
else()
  find_package(HIGHS CONFIG QUIET)
  if(HIGHS_FOUND)
    set(STOWAGE_HIGHS highs::highs)
  endif()
endif()
