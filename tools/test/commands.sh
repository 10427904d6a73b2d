#!/bin/sh
# What the commands promise to whoever calls them: exit status and text. commands.sh FOLDER_OF_BINARIES
# expect STATUS TEXT COMMAND...: runs it, and wants that exit status and TEXT (a shell pattern) somewhere in its output.
set -u
bin=$(cd "$1" && pwd) || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

expect() {
    status=$1 text=$2
    shift 2
    output=$("$@" 2>&1 </dev/null)
    got=$?
    # shellcheck disable=SC2254 # TEXT is a pattern
    case $output in
    *$text*) [ "$got" -eq "$status" ] && return ;;
    esac
    failures=$((failures + 1))
    printf 'FAILED: %s\n  wanted status %s and: %s\n  got status %s and: %s\n' "$*" "$status" "$text" "$got" "$output"
}
rvm() { "$bin/rvm" "$@"; }
rasm() { "$bin/rasm" "$@"; }

cat >norm.rasm <<'TEXT'
fn norm(out: real, x: real[n])
    compute
        let ss: real
        for i in 0..n
            ss += x[i] ^ 2
        end
    do
        out += sqrt(ss)
    undo
end
TEXT
cat >two.rasm <<'TEXT'
fn scale(y: real[n], x: real[n], a: real, k: i64)
    for i in 0..n
        y[i] += a * x[i]
    end
    k += 1
end
fn leak(x: i64)
    let t: i64 = x
    t += 1
end
fn half(x: real)
    x += 1
    let t: real = x
    t += 1
end
fn spin(k: i64, n: i64)
    for i in 0..n
        k += i
    end
end
TEXT
cat >wrong.rasm <<'TEXT'
fn f(x: i64)
    x += 1.5
    y += 2
end
TEXT

cat >rows.rasm <<'TEXT'
fn rows(A: real[m, n])
    neg A[0, 0]
end
TEXT

# values in and out
expect 0 'out = 5' rvm run norm.rasm x=[3,4]
expect 0 'out = 5' rvm run norm.rasm norm out=0 'x=[3, 4]'
expect 0 'out = 0' rvm run norm.rasm norm out=5 x=[3,4] --backward
expect 0 '"values":{"out":5,"x":[[]3,4]}' rvm run norm.rasm x=[3,4] --json
expect 0 'y = [[]2, 4]' rvm run two.rasm scale x=[1,2] a=2 k=0
expect 0 '"y":[[]"NaN","Infinity"]' rvm run two.rasm scale x=[nan,inf] a=2 --json
expect 0 'k = 1' rvm run two.rasm scale y=zeros\(2\) x=ones\(2\) a=2 k=0

# files: what is saved can be read
expect 0 'out = 5' rvm run norm.rasm x=[3,4] --save x=x.npy --save out=out.npy
expect 0 'out = 10' rvm run norm.rasm x=@x.npy out=@out.npy
expect 0 '' rvm grad norm.rasm --of out x=[3,4] --save x_b=g.npy
expect 0 'x = [[]0.6*, 0.8]' rvm run two.rasm scale x=@g.npy a=0
head -c 130 x.npy >cut.npy
expect 3 'cut.npy: error: x: is cut off' rvm run norm.rasm x=@cut.npy
expect 3 'holds elements of type `<f8`' rvm run two.rasm spin k=@out.npy n=1
expect 1 'has 1 dimension, and 0 are wanted' rvm run norm.rasm x=[1] out=@x.npy
expect 3 'cannot read' rvm run norm.rasm x=@none.npy
expect 3 'cannot write' rvm run norm.rasm x=[1] --save x=no/x.npy

# what is wrong with arguments
expect 2 'the argument `x: f64[[]n]` is missing' rvm run norm.rasm
expect 2 'did you mean `out`' rvm run norm.rasm x=[1] ou=1
expect 2 '`n` is no parameter: it is a length' rvm run norm.rasm x=[1] n=1
expect 2 '`x` is given twice' rvm run norm.rasm x=[1] x=[1]
expect 2 'is not whole' rvm run two.rasm spin k=0.5 n=1
expect 2 'is outside the range of i64' rvm run two.rasm spin k=9223372036854775808 n=1
expect 1 'which is 3 in `y`' rvm run two.rasm scale y=[1,2,3] x=[1,2] a=1
expect 1 'different lengths' rvm run rows.rasm --real fix 'A=[[1],[1,2]]'
expect 2 'name one of: scale, leak' rvm run two.rasm
expect 2 'did you mean `scale`' rvm run two.rasm scal
expect 2 'did you mean `run`' rvm rum
expect 2 'did you mean --backward' rvm run norm.rasm --backwards x=[1]
expect 2 'needs a value' rvm run norm.rasm x=[1] --fuel
expect 2 '"code":"USAGE"' rvm run norm.rasm --nothing --json

# failures while running, and limits
expect 1 'ran back to the start: the inputs are restored' rvm run two.rasm leak x=5
expect 1 '"code":"RELEASE"*"line":*"restored":true' rvm run two.rasm leak x=5 --json
expect 0 'x = 5' rvm run two.rasm leak x=5 --unchecked
expect 4 'FUEL*the inputs are restored' rvm run two.rasm spin k=0 n=1000000 --fuel 1k
expect 2 '' rvm run two.rasm spin k=0 n=1 --real f32

# derivatives
expect 0 'd out / d x = [[]0.6*, 0.8]' rvm grad norm.rasm --of out x=[3,4]
expect 0 '"gradients":{"x":[[]0.6*,0.8]}' rvm grad norm.rasm --of out --json x=[3,4]
expect 0 'd y[[]1] / d a = 2' rvm grad two.rasm scale --of 'y[1]' --wrt a x=[1,2] a=3
expect 2 '`k` is i64' rvm grad two.rasm scale --of k x=[1,2] a=3
expect 2 'names no single number' rvm grad two.rasm scale --of y x=[1,2] a=3
expect 1 'index 2 is outside' rvm grad two.rasm scale --of 'y[2]' x=[1,2] a=3
expect 2 'of NAME is missing' rvm grad norm.rasm x=[3,4]
expect 0 'd out = 0.6' rvm jvp norm.rasm x=[3,4] --dot x=[1,0]
expect 0 '"tangents":{"out":0.6' rvm jvp norm.rasm x=[3,4] --dot x=[1,0] --json
expect 1 'the tangent of `x`' rvm jvp norm.rasm x=[3,4] --dot x=[1]
expect 0 '6 of 6 checks passed' rvm check norm.rasm x=[3,4]
expect 0 '"checks":' rvm check two.rasm scale x=[1,2] a=3 --json
expect 1 'RELEASE' rvm check two.rasm leak x=1

# programs
expect 3 'wrong.rasm:2:' rasm wrong.rasm
expect 3 '"ok":false*"file":"wrong.rasm","line":2' rasm wrong.rasm --json
expect 0 '' rasm norm.rasm
expect 0 'out = 5' rvm run norm.rbc x=[3,4]
expect 0 'sqrt' rasm norm.rasm --listing
expect 0 'fn norm(out: accumulate f64, x: read f64[[]n])' rvm info norm.rbc
expect 0 'verified' rvm verify norm.rbc
expect 0 '"verified":true' rvm verify norm.rbc --json
expect 0 'add.sqrt' rvm dis norm.rbc norm
head -c 100 norm.rbc >cut.rbc
expect 3 'cut.rbc' rvm verify cut.rbc
expect 3 'none.rasm' rvm run none.rasm

# the debugger, in both directions
debug() { printf '%s\n' "$1" | "$bin/rvm" debug norm.rasm x=[3,4]; }
expect 0 'break at norm.rasm:5*ss = 9*the end is reached*the start is reached' debug 'break 5
continue
continue
print ss
delete
continue
rcontinue'
expect 0 'ss was 0, is 9*ss was 9, is 0' debug 'break 5
c
watch ss
delete 1
c
rc'
expect 0 'there is no command' debug 'jump'

for c in run grad jvp check debug dis verify info; do expect 0 'usage: rvm' rvm $c --help; done
expect 0 'rvm 0' rvm --version
expect 0 'rasm 0' rasm --version
[ $failures -eq 0 ] || exit 1
