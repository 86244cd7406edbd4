# Writes OUTPUT: one {name, text} initialiser per schema of the semicolon-separated list INPUTS.
set(texts "")
foreach(input IN LISTS INPUTS)
  get_filename_component(name ${input} NAME)
  string(REPLACE ".schema.json" "" name ${name})
  file(READ ${input} text)
  string(APPEND texts "{\"${name}\", R\"schema(${text})schema\"},\n")
endforeach()
file(WRITE ${OUTPUT} "${texts}")
