# Finds the packages that stowage is compiled with, and names all that are missing, by system, in one
# message. Nothing is downloaded. `./dev packages` prints the command that installs them.
set(STOWAGE_MISSING "")

# stowage_need(PACKAGE REMEDY ARGUMENT...): find_package(PACKAGE ARGUMENT...). REMEDY is what the
# packages are called on Debian and Ubuntu, Fedora, Homebrew and conda-forge, or how to do without.
macro(stowage_need package remedy)
  find_package(${package} QUIET ${ARGN})
  if(NOT ${package}_FOUND)
    list(APPEND STOWAGE_MISSING "${package}: ${remedy}")
  endif()
endmacro()

# Ends the configuration if a package is missing.
function(stowage_check_packages)
  if(STOWAGE_MISSING)
    list(JOIN STOWAGE_MISSING "\n  " missing)
    message(FATAL_ERROR "These packages are missing:\n  ${missing}")
  endif()
endfunction()
