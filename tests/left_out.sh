#!/usr/bin/env bash
# Uncomputing leaves no instruction in unchecked native code, nor what is small a call in any. LLVM's representation of four
# programs with ancillas, the last with local arrays of run-time length, is searched for what only uncomputing needs. The primal
# programs keep a trail, so that isa/analysis/elision.c alone finds it; the adjoints keep none, and isa/analysis/liveness.c finds
# it. left_out.sh RVM EXAMPLES
set -u
rvm=$1 examples=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
norm="out=0 x=zeros(4)"
logarithm="y=0 x=1+2i"
camera="e=[0,0] camera=zeros(11) X=zeros(3) w=1 feature=[0,0]"
mixture="out=0 alphas=[0.1,-0.2] means=[[1,2],[-1,0]] icf=[[0.1,0.2,0.3],[-0.1,0,0.4]] x=[[1,1],[0,-1],[2,2.5]] gamma=1 m=0"

unchecked="--unchecked --trust"

# dump PROG FN OPTION.. VALUE..: its native code in $work/ir, of instances one by one: a group has eight calls for each
dump() {
    "$rvm" run "$1" "$2" --engine=jit $unchecked --lanes off --threads 1 --dump ir "${@:3}" >"$work/ir" 2>"$work/why" && return
    grep -q 'native code' "$work/why" && echo "skipped: $(cat "$work/why")" && exit 77
    printf 'FAILED: %s: %s\n' "$2" "$(cat "$work/why")"
    exit 1
}
# most FN N PATTERN: no more than so many places that match
most() {
    local n
    n=$(grep -cE "$3" "$work/ir")
    [ "$n" -le "$2" ] && return
    printf 'FAILED: %s: %s in %d places, must be in %d at most\n' "$1" "$3" "$n" "$2"
    failures=$((failures + 1))
}
# derived PROG FN: its adjoint in $work/FN.rbc
derived() {
    "$rvm" transform --adjoint "$2" "$1" -o "$work/$2.rbc" >/dev/null || exit 1
}

# shellcheck disable=SC2086
{
    dump "$examples/norm.rasm" norm $norm
    most norm 2 'call .*sqrt' # behind a loop of no trips, too
    most norm 0 fsub # ss -= x[i]^2
    dump "$examples/papers/complex_log.rasm" complex_log $logarithm
    for f in hypot log atan2; do most complex_log 1 "call .*@$f\("; done
    dump "$examples/bundle_adjustment/camera11.rasm" residual11 $camera
    most residual11 2 'call .*@sin\('
    most residual11 20 fsub
    dump "$examples/gmm/gmm.rasm" gmm $mixture
    most gmm 7 'call .*@exp\('
    most gmm 40 fsub # with uncomputing a hundred; loops of few trips and of many are apart

    derived "$examples/norm.rasm" norm
    dump "$work/norm.rbc" "norm'adj" --trail off $norm
    most "norm'adj" 3 fsub
    derived "$examples/papers/complex_log.rasm" complex_log
    dump "$work/complex_log.rbc" "complex_log'adj" --trail off $logarithm
    for f in hypot log atan2; do most "complex_log'adj" 1 "call .*@$f\("; done
    derived "$examples/bundle_adjustment/camera11.rasm" residual11
    dump "$work/residual11.rbc" "residual11'adj" --trail off $camera
    most "residual11'adj" 55 fsub
    derived "$examples/gmm/gmm.rasm" gmm
    dump "$work/gmm.rbc" "gmm'adj" --trail off $mixture
    most "gmm'adj" 60 fsub

    # A loop that polls now and then runs long: what it calls is inlined, with all its checks.
    cat >"$work/long.rasm" <<'TEXT'
include "std/keep.rasm"
fn long(x: real[n], y: real[n, 14])
    for t in 0..n
        for j in 0..14
            call keep(y[t, j], x[t])
        end
    end
end
TEXT
    unchecked=
    dump "$work/long.rasm" long --trail off
    most long 0 'call .*@keep'
}
exit $((failures > 0))
