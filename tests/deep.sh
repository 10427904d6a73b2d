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
exit $failures
