#!/bin/bash
# Recursion as deep as is allowed (--depth), on stacks of the process that are too small for it: native code gives the
# interpreter's results. deep.sh RVM
rvm=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

{
    echo 'fn deep(y: f64, n: i64, x: f64)'
    echo '    if n > 0'
    for k in {1..30}; do echo "        let t$k = x / $k + n"; done
    echo '        let m: i64 = n - 1'
    echo '        call deep(y, m, x)'
    for k in {1..30}; do echo "        y += t$k / n"; done
    printf '    end\nend\n'
} >deep.rasm

for checks in '' --unchecked; do
    "$rvm" run deep.rasm deep y=0 n=9900 x=1.5 $checks --engine interp >expected || failures=1
    for engine in jit auto; do
        for stack in 256 1024 8192 unlimited; do
            (ulimit -Ss $stack && exec "$rvm" run deep.rasm deep y=0 n=9900 x=1.5 $checks --engine $engine --cache off --verbose) >got 2>said
            status=$?
            grep -q 'interpreted:\|cannot be opened' said && echo "skipped: $(cat said)" && exit 77
            [ $status = 0 ] && cmp -s expected got && continue
            echo "FAILED: $engine $checks with a stack of $stack KiB: status $status: $(cat got said)"
            failures=1
        done
    done
done

# Ahead of time a limit stands in its place, and the header says what a call takes.
cat >main.c <<'TEXT'
#include "deep.h"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    double y = 0;
    const int status = deep(&y, atoi(argv[argc - 1]), 1.5);
    puts(deep_message(status));
    return status;
}
TEXT
"$rvm" compile deep.rasm deep --stack 512k --unchecked -o deep.o && cc main.c deep.o -lm -o deep || failures=1
bytes=$(sed -n 's/.*takes at most \([0-9]*\) bytes of stack.*/\1/p' deep.h)
[ "${bytes:-0}" -gt 524288 ] && [ "$bytes" -lt 600000 ] || { echo "FAILED: the header says: $(cat deep.h)" && failures=1; }
(ulimit -Ss 1024 && ./deep 100) | grep -qx done || { echo "FAILED: 100 deep" && failures=1; }
(ulimit -Ss 1024 && ./deep 9900) | grep -q 'calls deeper than 524288 bytes of stack allow' || { echo "FAILED: 9900 deep" && failures=1; }
exit $failures
