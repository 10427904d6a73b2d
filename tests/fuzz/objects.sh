#!/bin/sh
# objects.sh RVM TO EXAMPLES: native code as inputs of the target `object`, in TO/object: the entries of a cache of its own,
# from where ELF begins in them. It calls the machine, libm, itself, and in lanes libmvec.
set -eu
rvm=$1 to=$2 examples=$3
rm -rf "$to/object" "$to/cache"
mkdir -p "$to/object"
run() { RVM_CACHE_DIR=$to/cache "$rvm" run "$@" --engine=jit >/dev/null; }
run "$examples/matvec.rasm" matvec 'y=[0,0]' 'A=[[1,2,3],[4,5,6]]' 'x=[1,0,-1]'
run "$examples/rotation_network.rasm" network 'x=[1,0,0]' 'angle=[[0.1,0.2,0.3]]' --unchecked
run "$examples/factorial.rasm" factorial out=0 n=5
printf 'fn f(y: real[n], x: real[n])\n    parallel i in 0..n\n        y[i] += exp(x[i])\n    end\nend\n' |
    run - f 'y=[0,0,0,0,0,0,0,0,0]' 'x=[1,2,3,4,5,6,7,8,9]' --unchecked --vector-math
for entry in "$to"/cache/*; do
    at=$(LC_ALL=C grep -aboF "$(printf '\177ELF')" "$entry" | head -n 1 | cut -d: -f1)
    [ -z "$at" ] || tail -c +$((at + 1)) "$entry" >"$to/object/$(basename "$entry" .rvm).o"
done
echo "$(ls "$to/object" | wc -l) seeds"
[ -n "$(ls "$to/object")" ]
