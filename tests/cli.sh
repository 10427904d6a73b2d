#!/usr/bin/env bash
# Damaged files through the commands: whatever is in a .npy or .rbc file, `rvm` ends with an exit status of its own and a
# message that names the file. cli.sh RASM RVM
set -u
rasm=$(realpath "$1") rvm=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
    printf 'FAILED: %s\n' "$*"
    failures=$((failures + 1))
}
# refused STATUS TEXT COMMAND...
refused() {
    local want=$1 text=$2 out status
    shift 2
    out=$("$@" 2>&1 </dev/null)
    status=$?
    [ $status -eq "$want" ] && [[ $out == *"$text"* ]] || fail "$*: expected $want and \`$text\`, got $status and: $out"
}
# survives NAME COMMAND...: any documented status, so no signal
survives() {
    local name=$1 out status
    shift
    out=$("$@" 2>&1 </dev/null)
    status=$?
    [ $status -le 4 ] || fail "$name: $* ended with $status: $out"
}
flip() { # FILE OFFSET VALUE: overwrite a byte
    printf "$(printf '\\x%02x' "$3")" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
# npy FILE HEADER DATA: header text and data as printf writes them
npy() {
    local text=$2 pad
    pad=$((64 - (10 + ${#text} + 1) % 64))
    {
        printf '\x93NUMPY\x01\x00'
        printf "$(printf '\\x%02x\\x%02x' $(((${#text} + pad + 1) % 256)) $(((${#text} + pad + 1) / 256)))"
        printf '%s%*s\n' "$text" "$pad" ''
        printf "$3"
    } >"$1"
}

cat >sum.rasm <<'TEXT'
fn sum(out: real, x: real[n])
    for i in 0..n
        out += x[i]
    end
end
TEXT
"$rasm" sum.rasm -o sum.rbc || fail "rasm sum.rasm"
one='\x00\x00\x00\x00\x00\x00\xf0\x3f'

# arrays: right, then each way to be wrong
npy good.npy "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }" "$one$one"
refused 0 'out = 2' "$rvm" run sum.rbc sum x=@good.npy
npy short.npy "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }" "$one$one"
refused 3 'short.npy' "$rvm" run sum.rbc sum x=@short.npy
npy huge.npy "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807,), }" "$one"
refused 3 'huge.npy' "$rvm" run sum.rbc sum x=@huge.npy
npy product.npy "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }" "$one"
survives product "$rvm" run sum.rbc sum x=@product.npy
npy negative.npy "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }" "$one"
refused 3 'negative.npy' "$rvm" run sum.rbc sum x=@negative.npy
npy type.npy "{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }" "$one$one"
refused 3 'type.npy' "$rvm" run sum.rbc sum x=@type.npy
npy objects.npy "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }" "$one"
refused 3 'objects.npy' "$rvm" run sum.rbc sum x=@objects.npy
npy matrix.npy "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }" "$one$one"
refused 1 'dimension' "$rvm" run sum.rbc sum x=@matrix.npy
npy nothing.npy "" "$one"
refused 3 'nothing.npy' "$rvm" run sum.rbc sum x=@nothing.npy
printf 'hello' >text.npy
refused 3 'text.npy' "$rvm" run sum.rbc sum x=@text.npy
: >empty.npy
refused 3 'empty.npy' "$rvm" run sum.rbc sum x=@empty.npy
size=$(stat -c %s good.npy)
for ((n = 0; n < size; n += 7)); do
    head -c $n good.npy >cut.npy
    refused 3 'cut.npy' "$rvm" run sum.rbc sum x=@cut.npy
done
for ((n = 0; n < 90; n += 3)); do
    cp good.npy bad.npy
    flip bad.npy $n $(((n * 37 + 11) % 256))
    survives "byte $n of a .npy" "$rvm" run sum.rbc sum x=@bad.npy
done

# bytecode: truncated, bit-flipped, newer, foreign
size=$(stat -c %s sum.rbc)
for ((n = 4; n < size; n += 5)); do
    head -c $n sum.rbc >cut.rbc
    refused 3 'cut.rbc' "$rvm" run cut.rbc sum x=[1]
    cp sum.rbc bad.rbc
    flip bad.rbc $n 165
    refused 3 'bad.rbc' "$rvm" verify bad.rbc
done
cp sum.rbc newer.rbc
flip newer.rbc 4 9
refused 3 'container of another version' "$rvm" info newer.rbc
cp sum.rbc other.rbc # of other tables
flip other.rbc 12 9
refused 3 'assemble it again' "$rvm" info other.rbc
refused 3 '"code":"VERSION"' "$rvm" verify newer.rbc --json
refused 3 '"ok":false' "$rvm" dis cut.rbc --json

# whole numbers, in whatever notation: none is rounded
printf 'fn g(y: i64, k: i64)\n    y += k\nend\n' >whole.rasm
for k in 9007199254740992.5 0.99999999999999999999 4503599627370496.2 1e-400 2.5; do
    refused 2 "$k" "$rvm" run whole.rasm g y=0 k=$k
done
refused 2 'write all its digits' "$rvm" run whole.rasm g y=0 k=9007199254740993.0
refused 0 'y = 9007199254740992' "$rvm" run whole.rasm g y=0 k=9007199254740992.0

# back to a stop at which the machine has kept a state, too
printf 'fn f(out: real, x: real[n])\n    for i in 0..n\n        out += x[i] ^ 2\n    end\nend\n' >stops.rasm
printf '%s\n' 'seek 100' 'break 3' c c c rc rc position >moves
refused 0 'position 2 of the sweep' sh -c '"$1" debug stops.rasm "x=[1,2,3,4]" --of out <moves' sh "$rvm"

# a header whose comment names a path that would end it
mkdir 'd*'
cp whole.rasm 'd*/whole.rasm'
if "$rvm" compile 'd*/whole.rasm' g -o whole.o --header whole.h 2>/dev/null; then # else there is no native code
    ! head -n 1 whole.h | grep -q 'd\*/' || fail 'the path of a program ends the comment of its header'
fi
[ $failures -eq 0 ]
