# A build of the target `stowage` alone, as in `./dev demo`, must suffice for an installation: the
# installed files of the build folder must be outputs of that target.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${ninja} -C ${build} -t targets all
                OUTPUT_VARIABLE targets COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "command/[a-z_.0-9]*stowage[a-z_.0-9]*" texts "${targets}")
if(NOT texts)
  message(FATAL_ERROR "no manual page and no completions")
endif()
foreach(text IN LISTS texts)
  # The rule that links the command also makes the texts.
  if(NOT targets MATCHES "\n${text}: CXX_EXECUTABLE_LINKER__stowage_")
    message(FATAL_ERROR "${text} is not made with the command")
  endif()
endforeach()
execute_process(COMMAND ${ninja} -C ${build} -t inputs stowage
                OUTPUT_VARIABLE inputs COMMAND_ERROR_IS_FATAL ANY)
foreach(input "libstowage\\.(a|so)" "libstowage-plan\\.(a|so)" stowage_public_headers)
  if(NOT inputs MATCHES "(^|\n|/)${input}")
    message(FATAL_ERROR "the target of the command does not build ${input}")
  endif()
endforeach()
