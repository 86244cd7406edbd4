# Copies the public headers of the list HEADERS (paths under FROM) to TO, and writes the umbrella
# header TO/stowage.h. Includes of ours get their installed names: see stowageInstall.cmake.
file(REMOVE_RECURSE ${TO})
set(umbrella "")
foreach(header IN LISTS HEADERS)
  file(READ ${FROM}/${header} text)
  string(REGEX REPLACE "(\n#include )\"([a-z_0-9/]+\\.h)\"" "\\1<stowage/\\2>" text "${text}")
  file(WRITE ${TO}/${header} "${text}")
  string(APPEND umbrella "#include <stowage/${header}>\n")
endforeach()
file(WRITE ${TO}/stowage.h
"// Everything stowage offers. Programs that build often include what they use instead.
#pragma once

${umbrella}")
