# Copies the public headers of the list HEADERS (paths under FROM) to TO, and writes the umbrella
# header TO/stowage.h. Includes of stowage's headers get their installed names
# (stowageInstall.cmake). An unchanged header is not rewritten, so that its users are not
# recompiled.
cmake_minimum_required(VERSION 3.25)
file(GLOB_RECURSE old RELATIVE ${TO} ${TO}/*)
foreach(header IN LISTS old)
  if(NOT header IN_LIST HEADERS AND NOT header STREQUAL "stowage.h")
    file(REMOVE ${TO}/${header})
  endif()
endforeach()

function(publish header text)
  if(EXISTS ${TO}/${header})
    file(READ ${TO}/${header} before)
    if(before STREQUAL text)
      return()
    endif()
  endif()
  file(WRITE ${TO}/${header} "${text}")
endfunction()

set(umbrella "")
foreach(header IN LISTS HEADERS)
  file(READ ${FROM}/${header} text)
  string(REGEX REPLACE "(\n#include )\"([a-z_0-9/]+\\.h)\"" "\\1<stowage/\\2>" text "${text}")
  publish(${header} "${text}")
  string(APPEND umbrella "#include <stowage/${header}>\n")
endforeach()
publish(stowage.h
"// Everything stowage offers. Programs that build often include what they use instead.
#pragma once

${umbrella}")
