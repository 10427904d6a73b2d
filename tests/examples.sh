#!/bin/sh
# The C of public headers (in comments, indented by five) and of pages (between ```c and ```) compiles as it stands; that of
# the README runs, too, on the library of the build, and computes what it says.
# examples.sh REPOSITORY BUILD COMPILER
set -eu
build=$2 cc=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$1"
cat >"$work/given.h" <<'C'
#include <stdio.h>
#include <string.h>
#include "rvm_asm.h"
#include "rvm_derivatives.h"
#include "rvm_schedule.h"
#include "rvm_cuda.h"
#include "rvm_jit.h"
#include "rvm_profile.h"
#include "rvm_debug.h"
#include "rvm_coprocessor.h"
/* What the examples take for granted. */
extern rvm_machine *m;
extern rvm_error e;
extern rvm_arg a[2];
extern int64_t fn;
extern size_t n;
extern double *J, *H, *v, *w, *Jv, *wJ, *Hv;
extern rvm_sparse entries;
C
awk -v to="$work" '
    function begin(line) {
        out = to "/" ++examples ".c"
        printf "#include \"given.h\"\nint main(void) {\n#line %d \"%s\"\n", line, FILENAME >out
    }
    function end() {
        if (out && FILENAME == "README.md") print "printf(\"%g %g\\n\", x_b[0], x_b[1]);" >out
        if (out) print "return 0;\n}" >out
        out = ""
    }
    FILENAME ~ /\.h$/ && !/^ \*     / { end() }
    FILENAME ~ /\.h$/ && sub(/^ \*     /, "") { if (!out) begin(FNR); sub(/ *\*\/$/, ""); print >out }
    FILENAME !~ /\.h$/ && /^```/ { end() }
    FILENAME !~ /\.h$/ && out { print >out }
    /^```c$/ { begin(FNR + 1) }' README.md docs/*.md */README.md examples/*/README.md \
    isa/rvm_program.h isa/rvm_functions.h assembler/rvm_asm.h schedules/rvm_schedule.h vm/rvm.h vm/rvm_derivatives.h vm/rvm_profile.h vm/rvm_debug.h coprocessor/rvm_coprocessor.h jit/rvm_jit.h cuda/rvm_cuda.h
compile() { "$cc" -std=c99 -Wall -Wextra -Werror -Iisa -Iassembler -Ischedules -Ivm -Icoprocessor -Ijit -Icuda "$@"; }
for example in "$work"/*.c; do compile -fsyntax-only "$example"; done
compile "$work/1.c" -o "$work/readme" "$build/cmake/librvm.so" -Wl,-rpath,"$build/cmake"
RVM_CACHE_DIR='' "$work/readme" >"$work/got"
printf '5, by x: 0.6 0.8\n1.2 1.6\n' | diff - "$work/got"
echo "$(ls "$work"/*.c | wc -l) examples"
