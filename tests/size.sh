#!/usr/bin/env bash
# Code of a derivative of third order that tests its indices stays of a size that compiles in a second or so: at LLVM's highest
# level each test of an index that a loop does not change would have a loop of its own. size.sh RVM CASES
set -u
rvm=$1 program=$2/std/linalg.rasm
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$rvm" run "$program" "qr_in_place'tan'tan'tan" 'A=[[0.6,0.8],[0.8,-0.6]]' 'R=[[5,-1],[0,2]]' --engine=jit --any-lengths --unchecked \
    --cache off --verbose >/dev/null 2>"$work/said" || { cat "$work/said" && exit 1; }
bytes=$(sed -n 's/.*: \([0-9]*\) bytes of native code.*/\1/p' "$work/said")
[ -n "$bytes" ] || { echo "skipped: $(cat "$work/said")" && exit 77; }
echo "$bytes bytes"
[ "$bytes" -lt 150000 ]
