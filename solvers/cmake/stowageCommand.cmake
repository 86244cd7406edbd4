# Installs the command with its generated texts: manual page and shell completions.

# Called by cli/CMakeLists.txt. If the command cannot run here, the texts are omitted. After a build
# of the target `stowage` alone, `cmake --install` finds all its files: the rule that links the
# command also prints the texts, and the libraries, made of the same objects, are dependencies of
# the target.
function(stowage_install_command)
  install(TARGETS stowage RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
          DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT command)
  add_dependencies(stowage stowage_all stowage_plan stowage_public_headers)
  if(TARGET stowage_backends)
    add_dependencies(stowage stowage_backends)
  endif()
  if(CMAKE_CROSSCOMPILING)
    return()
  endif()
  set(dir ${PROJECT_BINARY_DIR}/command)
  set(compress "")
  set(manual stowage.1)
  find_program(STOWAGE_GZIP gzip)
  if(STOWAGE_GZIP)
    set(compress COMMAND ${STOWAGE_GZIP} -9nf ${dir}/stowage.1)
    set(manual stowage.1.gz)
  endif()
  file(MAKE_DIRECTORY ${dir})
  add_custom_command(
    TARGET stowage POST_BUILD
    BYPRODUCTS ${dir}/stowage.bash ${dir}/_stowage ${dir}/${manual}
    COMMAND stowage completion bash > ${dir}/stowage.bash
    COMMAND stowage completion zsh > ${dir}/_stowage
    COMMAND stowage man > ${dir}/stowage.1
    ${compress}
    COMMENT "Printing the manual page and the completions"
    VERBATIM)
  install(FILES ${dir}/${manual} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
  install(FILES ${dir}/stowage.bash RENAME stowage COMPONENT command
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  # Debian's zsh searches packaged functions in a folder of its own.
  set(zsh ${CMAKE_INSTALL_DATADIR}/zsh)
  install(CODE "
    set(functions site-functions)
    if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\" AND EXISTS /etc/debian_version)
      set(functions vendor-completions)
    endif()
    file(INSTALL \"${dir}/_stowage\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${zsh}/\${functions}\")"
    COMPONENT command)
endfunction()
