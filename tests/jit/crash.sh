#!/usr/bin/env bash
# LLVM that crashes where it optimises: the function is compiled once more, or interpreted, and results are the same. A fault
# of somebody else's goes to whom it went to before. crash.sh RVM EXAMPLES CRASHING.so
set -u
rvm=$1 program=$2/leapfrog.rasm crashing=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
values=('q=[[0,0,0],[1,0,0]]' 'v=[[0,0,0],[0,6.28,0]]' 'm=[1,3e-6]' h=0.001 steps=250)
"$rvm" run "$program" leapfrog "${values[@]}" --engine interp >"$work/expected" || exit 1
"$rvm" run "$program" leapfrog "${values[@]}" --engine jit --cache off --verbose >"$work/got" 2>"$work/said" || exit 1
grep -q 'bytes of native code' "$work/said" || { echo "skipped: $(cat "$work/said")" && exit 77; }
failed=0
try() { # HOW STATUS TEXT: so it ends, and that is said
    (LD_PRELOAD=$crashing CRASHING=$1 "$rvm" run "$program" leapfrog "${values[@]}" --engine jit --cache off --verbose \
        >"$work/got" 2>"$work/said") 2>"$work/shell"
    status=$?
    [ $status -eq "$2" ] && grep -q "$3" "$work/said" "$work/shell" && { [ $status -ne 0 ] || cmp -s "$work/expected" "$work/got"; } && return
    printf 'FAILED: %s: status %s: %s\n' "$1" $status "$(cat "$work/said" "$work/shell")"
    failed=1
}
for how in once abort overflow; do try $how 0 'bytes of native code'; done
try always 0 'interpreted: LLVM crashes when it compiles this'
try handled 7 "the caller's handler"
try elsewhere $((128 + 11)) ''
exit $failed
