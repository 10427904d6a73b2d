#!/bin/sh
# rvm pisa: programs of examples/pisa, what is wrong in others, values, options. pisa.sh FOLDER_OF_BINARIES
. "$(dirname "$0")/expect.sh"
programs=$here/../../examples/pisa
literal() { printf '%s' "$1" | sed 's/[][*?\\]/\\&/g'; }
back='ran back to where it began: all registers and words are restored'

# source TEXT: a program in w.pal
source() { printf '%b' "$1" >w.pal; }

# Results, and steps as PendVM counts them, translated and interpreted; also natively; and the other way from there.
runs() {
    results=$(literal "$1") name=$2
    shift 2
    for how in '' --interpret; do
        # shellcheck disable=SC2086
        expect 0 "$results*$back" rvm pisa "$programs/$name.pal" $engine $how "$@"
    done
}
engine='--engine jit --cache off'
runs '$5 = 63
discs = 6
steps = 1591' hanoi discs=6
engine='--engine interp'
runs 'a = 7
b = 11
product = 77
steps = 320' multiplication
runs 'a = 123
b = -5
product = -615
steps = 404' multiplication a=123 b=-5
runs 'a = 7
b = 11
product = 0
steps = 320' multiplication product=77 --back
runs '$6 = 2584
n = 18
steps = 274' fibonacci
runs 'n = 18
steps = 274' fibonacci r6=2584 --backward
runs '$5 = 63
discs = 6
steps = 1591' hanoi discs=6
runs '$1 = 2
$2 = 2
table = [4, 3, 2, 1]
end = 5
steps = 24' reverse 'table=[5,1,2,3,4]'
runs 'table = [6, 11, 6, 11]
x = 15
output = [6, 7, 14, 15]
steps = 77' dispatch
runs 'table = [6, 11, 6, 11]
x = 3
steps = 77' dispatch x=15 'output=[6,7,14,15]' --back
runs 'output = [-762737743, 178067177]
steps = 127' mixer n=10
runs 'output = [-1183502081, 268435455]
garbage = [134217727, -2]
steps = 36' bits
runs '$1 = 305419896
$2 = -3
$3 = 37
$10 = 878082066
$11 = -2147483641
$12 = -65
$13 = -929979725
$14 = 2
$15 = -36
$16 = -591751040
$17 = 1183502080
$18 = 268435455
$21 = -1
output' bits

# The same of a part of a run, and as JSON.
expect 0 "$(literal 'steps = 30
stopped before line 16: XOR     $3 $4')*$back" rvm pisa "$programs/fibonacci.pal" --steps 30
expect 0 "$(literal '{"ok":true,"registers":{"$6":2584},"memory":{"n":[18]},"output":[],"garbage":[],"steps":274,"ended":true,"translated":true,"restored":true}')" \
    rvm pisa "$programs/fibonacci.pal" --json
expect 0 '"translated":false' rvm pisa "$programs/dispatch.pal" --json
expect 0 'no translation: '*'dispatch.pal:35: SWAPBR computes where to go' rvm pisa "$programs/dispatch.pal" --verbose

# The translation is a program of rasm.
expect 0 '' rvm pisa "$programs/multiplication.pal" --rasm
printf '%s\n' "$output" >made.rasm
expect 0 'fn sub_mul(' rvm info made.rasm
expect 3 'dispatch.pal:35:1: error: no translation: SWAPBR computes where to go' rvm pisa "$programs/dispatch.pal" --rasm
expect 2 '--rasm prints the translation' rvm pisa "$programs/fibonacci.pal" --rasm --interpret

# What a routine finds in its register, called and called backward.
source '.start main\ntop: BRA bot\nsub: SWAPBR $2\n NEG $2\n ADD $3 $2\nbot: BRA top\nmain: START\n RBRA sub\n BRA sub\n FINISH\n'
expect 0 "$(literal '"registers":{"$3":1}')*\"steps\":17*\"translated\":true" rvm pisa w.pal --json
expect 0 "$(literal '"registers":{"$3":1}')*\"steps\":17*\"translated\":false" rvm pisa w.pal --json --interpret

# Programs that are wrong as such.
wrong() {
    source "$1"
    expect 3 "w.pal:$2" rvm pisa w.pal
}
wrong 'a: START\n FROB $1\n FINISH\n' '2:2: error: there is no instruction `FROB`'
wrong ' ADDY $1 2\n' '1:2: error: there is no instruction `ADDY`; did you mean `ADD`?'
wrong ' ADDI $32 1\n' '1:7: error: there is no register `$32`: they are $0 to $31'
wrong ' ADDI 5 1\n' '1:7: error: ADDI takes a register here, $0 to $31, not `5`'
wrong ' ADD $1 $1\n' '1:9: error: ADD $1 by $1 itself cannot be taken back'
wrong ' ADDI $1\n' '1:2: error: ADDI takes 2 operands, not 1'
wrong ' NEG $1 2 3 4 5 6 7\n' '1:2: error: NEG takes 1 operand, not 5 or more'
wrong ' ADDI $1 4294967296\n' '1:10: error: `4294967296` is no number of 32 bits'
wrong ' SLLX $1 $2 32\n' '1:13: error: an amount to shift by is 0 to 31, not 32'
wrong ' BRA nowhere\n' '1:6: error: no label is called `nowhere`'
wrong 'a: START\na: FINISH\n' '2:1: error: the label `a` is that of line 1 already'
wrong '.start 7\n START\n' '1:8: error: the program ends before address 7'
wrong ': START\n' '1:1: error: a label without a name'
wrong '; nothing\n' ' error: there is no instruction in it'
expect 3 'none.pal: error: cannot read' rvm pisa none.pal

# Programs that go wrong: translated, then interpreted; the registers are restored.
fails() {
    source "$1"
    for how in '' --interpret; do
        # shellcheck disable=SC2086
        expect "$2" "w.pal:$3" rvm pisa w.pal $how
        # shellcheck disable=SC2086
        expect "$2" "$back" rvm pisa w.pal $how
    done
}
fails 'a: START\n ADDI $1 a\n EXCH $2 $1\n FINISH\n' 1 '3:2: error: EXCH with address 0, which is the instruction START of line 1'
fails ' START\n ADDI $1 -1\n EXCH $2 $1\n FINISH\n' 1 '3:2: error: EXCH with address 4294967295: the memory has 65536 words (--words)'
fails ' START\nx: BRA y\n ADDI $1 1\ny: ADDI $1 2\n FINISH\n' 1 '2:4: error: the branch goes to line 4, which is no branch back but ADDI'
fails ' START\n ADDI $1 1\nx: BRA y\n ADDI $1 1\ny: BEQ $1 $2 x\n ADDI $1 1\n FINISH\n' 1 \
    '3:4: error: the branch goes to line 5, where the condition of BEQ does not hold: it does not come back'
fails ' BRA c\n FINISH\nb: BRA c\nc: BRA b\n FINISH\n' 1 '1:2: error: the branch goes to line 4, which is a branch, but not back'
fails ' START\n DATA 5\n FINISH\n' 1 '1:2: error: control goes to line 2, which is DATA'
fails ' START\n NEG $1\n' 1 '2:2: error: control goes to address 2, where there is no instruction'
fails ' START\n BRA 9\n' 1 '2:2: error: control goes to address 9, where there is no instruction'
fails '.start main\ntop: BRA bot\nsub: SWAPBR $2\n NEG $2\nbot: BRA top\nmain: START\n ADDI $2 1\n BRA sub\n FINISH\n' 1 \
    '3:6: error: the branch goes to line 4, which is no branch back but NEG'
source 'a: BNE $1 $0 b\n OUTPUT $1\n ADDI $1 1\nb: BEQ $0 $0 a\n FINISH\n'
expect 4 'w.pal:2:2: error: OUTPUT: more than 100 words are put out (--words)' rvm pisa w.pal --words 100
expect 4 'w.pal: error: ' rvm pisa w.pal --fuel 100
expect 4 'w.pal:' rvm pisa w.pal --fuel 100 --interpret
expect 4 "$back" rvm pisa w.pal --fuel 100 --interpret
source '.start main\ntop: BRA bot\nsub: SWAPBR $2\n NEG $2\n OUTPUT $3\nbot: BRA top\nmain: START\n RBRA sub\n FINISH\n'
expect 1 'w.pal:5:2: error: OUTPUT, backward, takes back a word that was not put out last' rvm pisa w.pal

# Values and options.
source ' START\n FINISH\nx: DATA 1\n DATA 2\n'
expect 0 "$(literal '$31 = -1
x = [5, 6]
[100] = [7, 8]
garbage = [9]
steps = 1')" rvm pisa w.pal '$31=0xffffffff' 'x=[5, 6]' 100=7 101=8 'garbage=[9]'
expect 0 "$(literal 'x = [1, 0]')" rvm pisa w.pal 3=0 --back
expect 2 '`y` is no register' rvm pisa w.pal y=1
expect 2 '`0=1`: an instruction stands there' rvm pisa w.pal 0=1
expect 2 '`99999999`: the memory has 65536 words (--words)' rvm pisa w.pal 99999999=1
expect 2 'there is no room for so many words' rvm pisa w.pal 'r1=[1,2]'
expect 2 'is no number of 32 bits' rvm pisa w.pal r1=5000000000
expect 2 'NAME=WORD or NAME=' rvm pisa w.pal r1
expect 2 'NAME=WORD or NAME=' rvm pisa w.pal r1=
expect 2 'NAME=WORD or NAME=' rvm pisa w.pal 'x=[1,2'
expect 2 '--words is at most' rvm pisa w.pal --words 1G
source ' START\n FINISH\n FINISH\n'
expect 2 'begins at FINISH, and w.pal has two: at lines 2 and 3' rvm pisa w.pal --back
source ' START\n'
expect 2 'begins at FINISH, and w.pal has none' rvm pisa w.pal --back
expect 2 'usage: rvm pisa FILE.pal' rvm pisa
finish
