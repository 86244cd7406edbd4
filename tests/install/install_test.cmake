# Installs stowage in one way and then uses it in all ways. See CMakeLists.txt.
cmake_minimum_required(VERSION 3.25)

# run(NAME... [EXPECT TEXT]): must succeed, and print TEXT
function(run)
  cmake_parse_arguments(ARG "" "EXPECT" "" ${ARGN})
  execute_process(COMMAND ${ARG_UNPARSED_ARGUMENTS}
                  RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  list(JOIN ARG_UNPARSED_ARGUMENTS " " command)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${command}\nended with ${code}:\n${out}")
  endif()
  if(ARG_EXPECT AND NOT out MATCHES "${ARG_EXPECT}")
    message(FATAL_ERROR "${command}\ndoes not say '${ARG_EXPECT}':\n${out}")
  endif()
  message(STATUS "${out}")
endfunction()

function(run_examples)
  run(${ARGV0}/training_loop EXPECT "step 2: .* ms, at least")
  run(${ARGV0}/buffer_layout EXPECT "peak 53248 bytes, at least 53248 \\(optimal\\)")
  run(${ARGV0}/packed_attention EXPECT "add up to 4096 of 4096")
  run(${ARGV0}/read_and_plan ${source}/instances/data/scatter/tiny/mixed.json EXPECT "optimal, objective")
endfunction()

# No build type adds flags, because with other flags ccache would have no objects.
set(common -G ${generator} -D CMAKE_CXX_COMPILER=${compiler} -D "CMAKE_CXX_FLAGS=${flags}"
    -D CMAKE_BUILD_TYPE=None
    -D CMAKE_CXX_COMPILER_LAUNCHER=${launcher})
file(REMOVE_RECURSE ${work}/prefix ${work}/consumer ${work}/backends ${work}/planner ${work}/examples ${work}/plain)

# --- installing ----------------------------------------------------------------------------------

if(subdirectory)
  run(${CMAKE_COMMAND} -S ${source}/examples -B ${work}/build ${common}
      -D STOWAGE_SOURCE=${source} -D STOWAGE_INSTALL=ON -D BUILD_SHARED_LIBS=${shared}
      -D WITH_GLPK=${with_glpk} -D WITH_CBC=${with_cbc} -D WITH_HIGHS=${with_highs}
      -D STOWAGE_HIGHS_SOURCE=${highs_source} -D STOWAGE_WERROR=ON)
  run(${CMAKE_COMMAND} --build ${work}/build)
  run_examples(${work}/build)
  if(EXISTS ${work}/build/stowage/cli)
    message(FATAL_ERROR "a part of somebody's project has no command")
  endif()
  set(build ${work}/build)
endif()
run(${CMAKE_COMMAND} --install ${build} --prefix ${work}/prefix)

# --- headers -------------------------------------------------------------------------------------

# The installed headers must be those of the list and the umbrella header. An include of a stowage
# header must find it even if the user has folders of the same names.
include(${source}/solvers/cmake/public_headers.cmake)
list(LENGTH STOWAGE_PUBLIC_HEADERS want)
math(EXPR want "${want} + 1")
file(GLOB_RECURSE headers ${work}/prefix/include/*.h)
list(LENGTH headers count)
if(NOT count EQUAL want OR NOT EXISTS ${work}/prefix/include/stowage/stowage.h)
  message(FATAL_ERROR "${count} headers were installed, not ${want}")
endif()
foreach(header IN LISTS headers)
  file(STRINGS ${header} quoted REGEX "^#include \"")
  if(quoted OR NOT header MATCHES "/include/stowage/")
    message(FATAL_ERROR "${header} ${quoted}")
  endif()
endforeach()

# --- find_package --------------------------------------------------------------------------------

foreach(program tests/install/consumer tests/install/planner examples)
  get_filename_component(name ${program} NAME)
  run(${CMAKE_COMMAND} -S ${source}/${program} -B ${work}/${name} ${common}
      -D CMAKE_PREFIX_PATH=${work}/prefix)
  run(${CMAKE_COMMAND} --build ${work}/${name})
endforeach()
run(${work}/consumer/consumer EXPECT "39 ms")
run(${work}/planner/planner EXPECT "39 ms")

# A program that plans links no backend unless it asks for them.
find_program(ldd ldd)
foreach(program consumer planner)
  if(ldd)
    execute_process(COMMAND ${ldd} ${work}/${program}/${program} OUTPUT_VARIABLE loaded)
    if(loaded MATCHES "lib(glpk|Cbc|Clp|highs)")
      message(FATAL_ERROR "${program} loads a backend:\n${loaded}")
    endif()
  endif()
endforeach()
file(GLOB_RECURSE backends ${work}/prefix/*/stowageBackendsTargets.cmake)
if(backends)
  run(${CMAKE_COMMAND} -S ${source}/tests/install/backends -B ${work}/backends ${common}
      -D CMAKE_PREFIX_PATH=${work}/prefix)
  run(${CMAKE_COMMAND} --build ${work}/backends)
  run(${work}/backends/backends EXPECT "backend (cbc|glpk|highs)\n(.*\n)?E101 1:2: must be JSON")
endif()
run_examples(${work}/examples)

# --- pkg-config ----------------------------------------------------------------------------------

if(NOT pkg_config)
  message(STATUS "left out: there is no pkg-config")
  return()
endif()
file(GLOB_RECURSE pc ${work}/prefix/*/stowage.pc)
get_filename_component(pc_dir ${pc} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${pc_dir})
set(static --static)
if(shared)
  set(static "")
endif()
separate_arguments(flags)
get_filename_component(lib_dir ${pc_dir} DIRECTORY)
set(ENV{LD_LIBRARY_PATH} ${lib_dir})
file(MAKE_DIRECTORY ${work}/plain)
foreach(example training_loop buffer_layout read_and_plan packed_attention)
  set(package stowage-plan)
  if(example STREQUAL "packed_attention")
    set(package stowage)
  endif()
  execute_process(COMMAND ${pkg_config} ${static} --cflags --libs ${package} OUTPUT_VARIABLE line
                  COMMAND_ERROR_IS_FATAL ANY OUTPUT_STRIP_TRAILING_WHITESPACE)
  separate_arguments(line)
  run(${compiler} -std=c++20 ${flags} ${source}/examples/${example}.cc -o ${work}/plain/${example}
      ${line})
endforeach()
run_examples(${work}/plain)
