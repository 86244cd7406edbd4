# Checks the objects that are compiled for instruction sets that the machine may lack. If such an
# object shared an inline function with the rest of the program (a weak or unique symbol), the
# linker could choose its version, which fails on an older machine. A call of malloc would be an
# allocation in a kernel.
#
#   cmake -DNM=nm -DARCHIVE=libstowage_kernels.a -P simd_symbols.cmake
execute_process(COMMAND ${NM} -A ${ARCHIVE} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY
                ERROR_VARIABLE ignored)
string(REGEX REPLACE "\n" ";" symbols "${symbols}")
# Allowed symbols: those of libc, and those that sanitizers, coverage and position-independent code
# add.
set(allowed "^(logf|memcpy|memmove|memset|_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|_?__(asan|ubsan|tsan|gcov|sanitizer|llvm|lsan|odr_asan).*|mcount|__fentry__|llvm_gcov.*)$")
set(tables 0)
set(shared_elsewhere 0)
foreach(line IN LISTS symbols)
  if(NOT line MATCHES ":([^:]+\\.o):[0-9a-f ]* ([A-Za-z]) (.+)$")
    continue()
  endif()
  set(object ${CMAKE_MATCH_1})
  set(kind ${CMAKE_MATCH_2})
  set(symbol ${CMAKE_MATCH_3})
  if(NOT object MATCHES "^simd_")
    if(kind MATCHES "[WwVvu]")
      math(EXPR shared_elsewhere "${shared_elsewhere} + 1")
    endif()
  elseif(kind MATCHES "^[TDRB]$" AND symbol MATCHES "simd_table_")
    math(EXPR tables "${tables} + 1")
  elseif(symbol MATCHES "${allowed}" OR kind MATCHES "^[tdrbn]$")
    continue()
  else()
    message(SEND_ERROR "${object} shares or needs '${symbol}' (${kind})")
  endif()
endforeach()
if(tables EQUAL 0)
  message(SEND_ERROR "${ARCHIVE} has no table of kernels")
endif()
if(shared_elsewhere EQUAL 0)
  message(SEND_ERROR "no weak symbol in all of ${ARCHIVE}: this test has gone blind")
endif()
message(STATUS "${tables} tables, ${shared_elsewhere} weak symbols in other objects")
