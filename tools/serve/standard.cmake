# Writes OUT: the files of the folder STD as arrays of C, for standard.h.
file(GLOB texts ${STD}/*.rasm)
set(arrays "")
set(table "")
foreach(text ${texts})
  get_filename_component(file ${text} NAME)
  string(MAKE_C_IDENTIFIER ${file} id)
  file(READ ${text} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "static const unsigned char ${id}[] = {${bytes}};\n")
  string(APPEND table "    {\"std/${file}\", ${id}, sizeof ${id}},\n")
endforeach()
file(WRITE ${OUT} "#include \"standard.h\"\n\n#include <string.h>\n\n${arrays}
static const standard_text texts[] = {\n${table}};

const standard_text *standard_find(const char *name) {
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        if (strcmp(texts[k].name, name) == 0) return &texts[k];
    return NULL;
}
")
