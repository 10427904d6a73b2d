#!/bin/sh
# rvm cost: what it prints, writes and refuses. cost.sh FOLDER_OF_BINARIES
. "$(dirname "$0")/expect.sh"

examples=$here/../../examples/coprocessor
chaos=$examples/chaos.rasm
models=$here/../../coprocessor/models
run="$chaos reversibly x=0.3 n=256"

# The figures of docs/coprocessor.md; a model by name, from a file, with numbers set.
expect 0 'reversibly: 4112 instructions: 3 forward, 2055 compute, 2054 undo*cmos45 *1 GHz * 8748 *160 nJ' rvm cost $run
expect 0 'cmos45 *160 nJ' rvm cost $run --model "$models/cmos45.model"
expect 0 'wins where an instruction takes less than 0.561*9.07 kT ln 2 more*adiabatic *cmos45 *70 nJ *0.258 *0.46 *2.06' \
    rvm cost $run --against chaos --model adiabatic
expect 0 'landauer *landauer *47 aJ * 0 ' rvm cost $run --against chaos
expect 0 'adiabatic takes least at 553 MHz: 32.1 nJ' rvm cost $run --model adiabatic --clock 1M..10G
expect 0 'cmos45 takes least at 10 GHz, an end of the range' rvm cost $run --model cmos45 --clock 1M..10G
expect 0 'cmos45 *500 MHz' rvm cost $run --model cmos45 --clock 500M
expect 0 'cmos45 *1 GHz *0 J' rvm cost $run --model cmos45 --set leakage=0 --set overhead=0
expect 0 'leakage  *cmos45*1 uW *1 mW' rvm cost $run --model cmos45 --set leakage=1u..1m
expect 0 '"swept":"leakage"' rvm cost $run --model cmos45 --set 'leakage=1 uW..1mW' --json

# A gradient, and a run back; a run that is native.
expect 0 'reversibly, then its sweep:*swept' rvm cost $run --of out --model adiabatic
expect 0 'reversibly, backward: 4112' rvm cost $chaos reversibly x=0.3 n=256 out=0.1 --backward --model adiabatic --unchecked
expect 0 '4112 instructions' rvm cost $run --engine jit --model adiabatic
expect 0 'of 229824 bits written to registers 0.303 change, of 32896 to memory 0.551' rvm cost $run --activity
expect 0 '"switching":{"register_bits":229824,"register_flips":*,"memory_bits":32896,' rvm cost $run --activity --json
expect 0 '10.9 nJ *31.3 nJ' rvm cost $run --activity --model cmos45

# Counts are kept, priced and compared.
expect 0 '' rvm cost $run --counts reversible.csv -o report.txt
expect 0 '' rvm cost "$chaos" chaos x=0.3 n=256 --trail off --counts irreversible.csv -o other.txt
expect 0 'cmos45 * 8748' cat report.txt
rvm cost $run --against chaos | grep -v : >ran.txt
rvm cost reversible.csv --against irreversible.csv | sed 's/irreversible.csv/chaos/' | grep -v : >read.txt
expect 0 '' cmp ran.txt read.txt
expect 0 'limit alone it never wins: it saves no bits' rvm cost reversible.csv --against reversible.csv
expect 0 'run,model,swept,value,instructions*"reversibly",cmos45,clock,1e+09,4112,2232,0,1e+09,8748,*"chaos",cmos45,clock,1e+09,2306,' \
    rvm cost $run --against chaos --model cmos45 --format csv
expect 0 '"ok":true,"run":{*"times":1.78*"needed":0.56*"landauer":9.07*"against":{"name":"chaos"' rvm cost $run --against chaos --json

# Schedules: a run for each budget; each gives the state that running forward gives.
heat="$examples/heat.rasm heat y1=zeros(9) y=ones(9) env=[0.2] --by bennett,pebble -n 16 --budget 2..6"
expect 0 'bennett:2 *824 * 0 *bennett:5 *pebble:5 *' rvm cost $heat --against forward steps=16
expect 0 '"schedules":\[{"name":"bennett:2"*"break_even":' rvm cost $heat --against forward steps=16 --json
expect 0 'revolve:4 * [1-9][0-9]* ' rvm cost "$examples/heat.rasm" gradient 'y=ones(9)' 'g=ones(9)' 'env=[0.2]' 'env_b=[0]' \
    --by revolve -n 16 --budget 4..4 --trail off --model cmos45

# Pictures: those of docs/coprocessor.md are what its commands draw; all are XML.
draw() {
    name=$1
    shift
    expect 0 '' rvm cost "$@" --svg picture.svg
    expect 0 '' cmp picture.svg "$here/../../docs/images/cost_$name.svg"
    ! command -v xmllint >/dev/null || expect 0 '' xmllint --noout picture.svg
}
draw parts $run --against chaos
draw clock $run --against chaos --model adiabatic --model aqfp --model cmos45 --clock 1M..10G
draw memory "$examples/heat.rasm" heat 'y1=zeros(40)' 'y=ones(40)' 'env=[0.2]' steps=256 --against forward \
    --by bennett,pebble -n 256 --budget 4..64 --model adiabatic

# What is refused.
grep -v '^leakage' "$models/cmos45.model" >missing.model
sed 's/^stages = 5/stages = -5/' "$models/cmos45.model" >negative.model
expect 3 'missing.model:*: error: the model ends here, and has no `leakage`' rvm cost $run --model ./missing.model
expect 3 'negative.model:11: error: a number is negative: `-5` [[]FORMAT]
    stages = -5' rvm cost $run --model negative.model
expect 3 'no model `cmos` comes with the library, but adiabatic' rvm cost $run --model cmos
expect 3 'none.model: error: cannot read' rvm cost $run --model none.model
expect 2 'clock: a number is negative' rvm cost $run --clock -1
expect 2 'clock: no number: `fast`' rvm cost $run --clock fast
expect 2 'clock: LOW..HIGH rises from more than 0' rvm cost $run --clock 1G..1M
expect 2 'no number of a model is `leakages`; did you mean leakage?' rvm cost $run --set leakages=1
expect 2 'leakage: a number in W is wanted: `1 J`' rvm cost $run --set leakage=1J
expect 2 'one number is swept at a time: clock or leakage' rvm cost $run --clock 1M..1G --set leakage=1u..1m
expect 2 '--set NAME=VALUE, not `leakage`' rvm cost $run --set leakage
expect 2 'has no function `chaotic`' rvm cost $run --against chaotic
expect 2 'the argument `x: f64` is missing' rvm cost "$chaos" chaos n=3
expect 2 'go together: runs by schedules' rvm cost $run --by pebble
expect 2 'has no parameters `rows: i64` and `moves: i64' rvm cost $run --by pebble -n 4 --budget 3..4
expect 2 '--budget is LOW..HIGH' rvm cost $heat --budget 4
expect 2 '--budget 2..3: pebble of 16 steps needs at least 5 pebbles' rvm cost $heat --by bennett,pebble --budget 2..3
expect 2 'no schedule `peble`; did you mean pebble?' rvm cost $heat --by peble
expect 2 'are counts of a run that was: nothing is run' rvm cost reversible.csv --of out
expect 2 'is a function: counts are held against counts' rvm cost reversible.csv --against chaos
sed 's/^# turns 0/# turns -1/' reversible.csv >wrong.csv
expect 3 'wrong.csv:8: error: no whole number: `# turns -1`' rvm cost wrong.csv
expect 2 'is the program itself' rvm cost $run --counts "$chaos"
expect 2 'are one file' rvm cost $run --counts x.csv --svg x.csv
expect 2 'format is text, json or csv' rvm cost $run --format folded
printf 'fn two(x: i64)\n    assert x == 2\nend\n' >two.rasm
expect 1 'two.rasm:2:' rvm cost two.rasm x=3
finish
