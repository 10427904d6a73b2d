#!/bin/sh
# The C of the README compiles as it stands, against the library of the build, and computes what it says.
# readme.sh REPOSITORY BUILD COMPILER
set -eu
root=$1 build=$2 cc=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{
    printf '#include <stdio.h>\n#include "rvm.h"\n#include "rvm_asm.h"\n#include "rvm_jit.h"\nint main(void) {\n'
    sed -n '/^```c$/,/^```$/{/^```/!p}' "$root/README.md"
    printf 'printf("%%g %%g\\n", x_b[0], x_b[1]);\nreturn s;\n}\n'
} >"$work/readme.c"
"$cc" -std=c99 -Wall -Wextra -Werror -I"$root/vm" -I"$root/jit" -I"$root/assembler" -I"$root/isa" "$work/readme.c" \
    -o "$work/readme" "$build/cmake/librvm.so" -Wl,-rpath,"$build/cmake"
cd "$root"
RVM_CACHE_DIR='' "$work/readme" >"$work/got"
printf '5, by x: 0.6 0.8\n1.2 1.6\n' | diff - "$work/got"
