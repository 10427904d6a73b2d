#!/usr/bin/env bash
# Memory that runs out while LLVM is opened, compiles or links: the interpreter goes on, and results are its, or it finds too
# little left for itself and says so. The limit grows until native code runs. memory.sh RVM EXAMPLES
set -u
unset MALLOC_TOP_PAD_ MALLOC_TRIM_THRESHOLD_ # which would take a limit at once
rvm=$1 mixture=$2/gmm/gmm.rasm
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
values=(out=0 'alphas=[0.1,-0.2]' 'means=[[1,2],[-1,0]]' 'icf=[[0.1,0.2,0.3],[-0.1,0,0.4]]' 'x=[[1,1],[0,-1],[2,2.5]]' gamma=1 m=0)

"$rvm" run "$mixture" gmm "${values[@]}" --engine=interp >"$work/expected" || exit 1
"$rvm" run "$mixture" gmm "${values[@]}" --engine=jit --cache off --verbose >"$work/got" 2>"$work/said" || exit 1
grep -q 'bytes of native code' "$work/said" || { echo "skipped: $(cat "$work/said")" && exit 77; }
failed=0 inside=0
for ((limit = 40000; limit < 4000000; limit += limit / 16)); do
    (ulimit -v $limit && exec "$rvm" run "$mixture" gmm "${values[@]}" --engine=jit --cache off --verbose) >"$work/got" 2>"$work/said"
    status=$?
    if [ $status -gt 4 ] && ! grep -q 'ready in' "$work/said"; then
        continue # where the system loads LLVM, and that sets itself up, nobody can help
    elif [ $status -eq 4 ]; then
        grep -q 'out of memory \[MEMORY\]' "$work/said"
    else
        [ $status -eq 0 ] && cmp -s "$work/expected" "$work/got"
    fi || {
        printf 'FAILED: with %s KiB: status %s: %s\n' $limit $status "$(cat "$work/said")"
        failed=1
    }
    grep -q 'ran out of memory' "$work/said" && inside=$((inside + 1))
    grep -q 'bytes of native code' "$work/said" && break
done
echo "out of memory in LLVM itself: $inside times"
[ $inside -gt 0 ] || failed=1 # else nothing was tested
exit $failed
