#!/bin/sh
# A long loop of the function that is asked for goes native where it turns: in rvm run, and in the gradient that rvm grad
# asks for; results are the interpreter's. tiers.sh RVM
rvm=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
    echo "FAILED: $*"
    failures=1
}
# native WHAT COMMAND...: both engines print the same, and auto says that WHAT is native
native() {
    what=$1
    shift
    "$rvm" "$@" --engine interp >expected || fail "$*: the interpreter fails"
    "$rvm" "$@" --engine auto --cache off --verbose >got 2>said || fail "$*: $(cat said)"
    cmp -s expected got || fail "$*: expected $(cat expected), got $(cat got)"
    grep -q 'interpreted: there is no native code\|cannot be opened' said && echo "skipped: $(cat said)" && exit 77
    grep -q "$what" said || fail "$*: no \`$what\` in: $(cat said)"
}

cat >long.rasm <<'TEXT'
fn long(y: real, x: real[n], k: i64)
    for i in 0..k
        for j in 0..n
            y += sin(x[j]) * i
        end
    end
end
TEXT
native 'long, forward, from the loop at line 2 on, for n=3: [0-9]* bytes' run long.rasm long y=0 x=[1,2,3] k=10000000
native "long'adj, forward, for n=3: [0-9]* bytes" grad long.rasm long y=0 x=[1,2,3] k=10000000 --of y
native 'interpreted: it has not run often enough yet' grad long.rasm long y=0 x=[1,2,3] k=20 --of y

# A run that ends while code is compiled for it, which takes some time, does not wait for that.
{
    echo 'fn wide(y: real, x: real, k: i64)'
    echo 'for i in 0..k'
    for i in $(seq 200); do echo "let a$i = x * $i"; done
    printf 'y +='
    for i in $(seq 199); do printf ' a%s +' "$i"; done
    printf ' a200\nend\nend\n'
} >wide.rasm
"$rvm" run wide.rasm wide y=0 x=1.5 k=30000 --engine interp >expected || fail "wide: the interpreter fails"
"$rvm" run wide.rasm wide y=0 x=1.5 k=30000 --engine auto --cache off >got || fail "wide: exit status $?"
cmp -s expected got || fail "wide: expected $(cat expected), got $(cat got)"

# What --engine=jit does not do natively, it says.
"$rvm" grad long.rasm long y=0 x=[1,2,3] k=20 --of y --engine jit --cache off --verbose --undo 2>said >got || fail "--undo"
grep -q 'interpreted: .*(--undo)' said || fail "--undo: no reason in: $(cat said)"
"$rvm" jvp long.rasm long y=0 x=[1,2,3] k=20 --dot x=[1,0,0] --engine jit --cache off --verbose --exact 2>said >got || fail "--exact"
grep -q "native code" said && ! grep -q interpreted said || fail "--exact: not natively: $(cat said)"
exit $failures
