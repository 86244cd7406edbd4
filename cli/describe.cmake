# Writes what `git describe` says of the sources to the file `output`, as a C++ constant; an empty text
# without git or outside a checkout. The file is not rewritten if it is the same, so that nothing is
# recompiled.
set(description "")
find_package(Git QUIET)
if(GIT_FOUND AND EXISTS ${source}/.git)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${source} describe --tags --always --dirty
                  OUTPUT_VARIABLE description OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
set(text "inline constexpr std::string_view kDescription = \"${description}\";\n")
set(before "")
if(EXISTS ${output})
  file(READ ${output} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${output} "${text}")
endif()
