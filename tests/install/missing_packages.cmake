# Configures without packages: one message must name all that are missing, by system.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${work})
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${source} -B ${work} -G ${generator} -D CMAKE_CXX_COMPILER=${compiler}
          -D CMAKE_DISABLE_FIND_PACKAGE_Eigen3=ON -D CMAKE_DISABLE_FIND_PACKAGE_CLI11=ON
          -D CMAKE_DISABLE_FIND_PACKAGE_GLPK=ON
          -D CMAKE_DISABLE_FIND_PACKAGE_HIGHS=ON -D WITH_HIGHS=ON -D WITH_CBC=OFF -D WITH_MPI=OFF
  RESULT_VARIABLE code OUTPUT_QUIET ERROR_VARIABLE errors)
foreach(text "Eigen3: Debian, Ubuntu libeigen3-dev, Fedora eigen3-devel" "CLI11: Debian, Ubuntu libcli11-dev"
        "GLPK: Debian, Ubuntu libglpk-dev" "or -DWITH_GLPK=OFF"
        "HIGHS: Debian 13 libhighs-dev" "or -DWITH_HIGHS=OFF")
  string(REGEX REPLACE "[ \n]+" " " flat "${errors}")
  string(FIND "${flat}" "${text}" at)
  if(code EQUAL 0 OR at EQUAL -1)
    message(FATAL_ERROR "ended with ${code} and does not say '${text}':\n${errors}")
  endif()
endforeach()
