# Installs the command with what it prints about itself: manual page and shell completions.

# Called by cli/CMakeLists.txt. Where the command cannot run here, they are left out.
function(stowage_install_command)
  install(TARGETS stowage RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
          DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT command)
  if(CMAKE_CROSSCOMPILING)
    return()
  endif()
  set(dir ${PROJECT_BINARY_DIR}/command)
  set(compress "")
  set(manual stowage.1)
  find_program(STOWAGE_GZIP gzip)
  if(STOWAGE_GZIP)
    set(compress COMMAND ${STOWAGE_GZIP} -9nf stowage.1)
    set(manual stowage.1.gz)
  endif()
  add_custom_command(
    OUTPUT ${dir}/stowage.bash ${dir}/_stowage ${dir}/${manual}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${dir}
    COMMAND stowage completion bash > stowage.bash
    COMMAND stowage completion zsh > _stowage
    COMMAND stowage man > stowage.1
    ${compress}
    DEPENDS stowage
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/command
    COMMENT "Printing the manual page and the completions"
    VERBATIM)
  file(MAKE_DIRECTORY ${dir})
  add_custom_target(stowage_command_texts ALL
                    DEPENDS ${dir}/stowage.bash ${dir}/_stowage ${dir}/${manual})
  install(FILES ${dir}/${manual} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
  install(FILES ${dir}/stowage.bash RENAME stowage COMPONENT command
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  # Debian's zsh looks for packaged functions in a folder of its own.
  set(zsh ${CMAKE_INSTALL_DATADIR}/zsh)
  install(CODE "
    set(functions site-functions)
    if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\" AND EXISTS /etc/debian_version)
      set(functions vendor-completions)
    endif()
    file(INSTALL \"${dir}/_stowage\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${zsh}/\${functions}\")"
    COMPONENT command)
endfunction()
