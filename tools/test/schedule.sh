#!/bin/sh
# rvm schedule: what it prints, writes and refuses. schedule.sh FOLDER_OF_BINARIES
. "$(dirname "$0")/expect.sh"

# A text as a pattern of itself.
literal() { printf '%s' "$1" | sed 's/[][*?\\]/\\&/g'; }

printf 'l1: x\nl2: x\nm: l1 l2\nr: m l1\n' >tree.txt
printf 'a: x\nb a\n' >wrong.txt
printf 'a: b\nb: a\n' >circle.txt
i=0
while [ $i -lt 40 ]; do
    echo "s$((i + 1)): s$i"
    i=$((i + 1))
done >chain.txt

# Figures, and the moves themselves.
expect 0 'pebble, 100 steps, 10 pebbles
  evaluations  581: 291 forward, 290 uncomputed
  states       11 at a time, with the first
  rows         11
  moves        581
  formula      581 evaluations, 11 states at most: F(1, s) = 1, F(n, s) = min over m of F(m, s) + F(m, s - 1) + F(n - m, s - 1)' \
    rvm schedule --by pebble:10 -n 100
expect 0 'bennett, 2 steps, 2 sectors
  evaluations  3: 2 forward, 1 uncomputed
  states       3 at a time, with the first
  rows         3
  moves        3
  formula      3 evaluations, 3 states: E(1) = 1, E(n) = 2 (E(n1) + ... + E(nk)) - E(nk); (2k - 1)^m where n = k^m
forward    row 2 from row 0: state 1
forward    row 1 from row 2: state 2
uncompute  row 2 from row 0: state 1' rvm schedule --by bennett:2 -n 2 --moves
expect 0 "$(literal '{"ok":true,"by":"revolve","steps":3,"snapshots":2,"counts":{"evaluations":2,"states":3,"rows":3,"moves":11,"forward":0,"uncomputed":0,"advanced":2,"swept":3,"stored":1,"restored":3,"freed":2,"erased":6},"formula":{"evaluations":2,"states":3,"text":"t n - C(s + t, t - 1), C(s + t, s) >= n"},"moves":[["restore",2,0,0],["advance",2,2,1],["store",1,2,1],["advance",2,2,2],["sweep",2,2,3],["restore",2,1,1],["sweep",2,2,2],["free",1,1,1],["restore",2,0,0],["sweep",2,2,1],["free",2,2,0]]}')" \
    rvm schedule --by revolve:2 -n 3 --moves --json
expect 0 'pebble, 4 steps of a graph, 4 pebbles
  evaluations  7: 4 forward, 3 uncomputed
  states       4 at a time, without inputs
  rows         4
  moves        7
  optimal      no list with so many pebbles is shorter: all sets of steps were searched' \
    rvm schedule --by pebble:4 --graph tree.txt
expect 0 '"optimal":false' rvm schedule --by pebble:9 --graph chain.txt --json
expect 0 "$(literal '"names":["l1","l2","m","r"]')" rvm schedule --by pebble:4 --graph tree.txt --json

# Files: a list that rvm run takes, pictures that are XML.
expect 0 '' rvm schedule --by pebble:3 -n 4 -o moves.npy
cat >list.rasm <<'TEXT'
fn first(kind: i64, moves: i64[t, 4])
    kind += moves[0, 3]
end
TEXT
expect 0 'kind = 1' rvm run list.rasm first moves=@moves.npy
for of in '--by pebble:10 -n 100' '--by revolve:5 -n 60' '--by online:5 -n 60' '--by pebble:4 --graph tree.txt' '-n 1000' '-n 1'; do
    # shellcheck disable=SC2086
    expect 0 '' rvm schedule $of --svg picture.svg
    ! command -v xmllint >/dev/null || expect 0 '' xmllint --noout picture.svg
    expect 0 'prefers-color-scheme:dark' cat picture.svg
done
# Those of docs/schedules.md are what its commands draw.
for of in 'pebble --by pebble:8 -n 64' 'revolve --by revolve:5 -n 60' 'compared -n 1000'; do
    # shellcheck disable=SC2086
    expect 0 '' rvm schedule ${of#* } --svg picture.svg
    expect 0 '' cmp picture.svg "$here/../../docs/images/schedule_${of%% *}.svg"
done
expect 0 '' rvm schedule --measure "$here/../../examples/coprocessor/heat.rasm" step 'y=ones(40)' 'env=[0.2]' -n 256 --svg picture.svg --engine interp -o report.txt
expect 0 '' cmp picture.svg "$here/../../docs/images/schedule_measured.svg"
printf 'a<&>"\001b: x\n' >odd.txt
expect 0 '' rvm schedule --by pebble:1 --graph odd.txt --svg odd.svg
expect 0 'a&lt;&amp;&gt;' cat odd.svg
! command -v xmllint >/dev/null || expect 0 '' xmllint --noout odd.svg

# Steps that are run: as many instructions as rvm cost counts, the same end to the bit; classes add up; gradients agree.
heat=$here/../../examples/coprocessor/heat.rasm
cost=$(rvm cost "$heat" heat 'y1=zeros(9)' 'y=ones(9)' 'env=[0.2]' --by bennett -n 16 --budget 2..2 | sed -n 's/^bennett:2 *\([0-9]*\) .*/\1/p')
expect 0 'step, 16 steps of a state of 9 numbers, 72 bytes*irreversible * 16 *1 *0.000*trail * 16 * - *bennett:2 * 81 * 6 * '"$cost"' *\
pebble:5 * 71 * 6 * 0.0e+00*instructions of * update *control' \
    rvm schedule --measure "$heat" step 'y=ones(9)' 'env=[0.2]' -n 16 --by bennett:2,pebble:5
rvm schedule --measure "$heat" step 'y=[1,2,3,5,8,3,1]' 'env=[0.2]' -n 20 --format csv -o measured.csv --svg measured.svg --engine interp
expect 0 'run,goal,evaluations,states,instructions,times,level,bytes,erased,interpreted,native,off,update,*"bennett:2",state,*"online:12",*' \
    cat measured.csv
expect_not 0 '"' awk -F, 'NR > 1 { n = 0; for (k = 13; k <= NF; k++) n += $k; d = log($6) / log(20) - $7; if (n != $5 || d * d > 1e-12 || $12 > 1e-12 || ($2 == "state" && NR > 2 && $9 != 0)) print }' measured.csv
! command -v xmllint >/dev/null || expect 0 '' xmllint --noout measured.svg
expect 0 '"ok":true,"step":"step","steps":4,"numbers":3,"runs":[[]{"run":"irreversible",*"level":0,*"native":null,*"run":"revolve:2","goal":"gradient",' \
    rvm schedule --measure "$heat" step 'y=ones(3)' 'env=[0.2]' -n 4 --by revolve:2 --json --engine interp
printf 'fn change(y: real[n], env: real[k])\n    for i in 0..n\n        set y[i] = y[i] * y[i] * env[0]\n    end\nend\n' >change.rasm
printf 'fn one(y: real, env: real[k])\n    y += env[0]\nend\n' >one.rasm
expect 0 'is lifted*trail * 8 *bennett:2 * 27 *revolve:3 *' \
    rvm schedule --measure change.rasm change 'y=[0.5,0.25]' 'env=[0.9]' -n 8 --by bennett:2,revolve:3 --tol 1e-6
expect 0 'pebble:4 * 0.0e+00' rvm schedule --measure "$heat" step 'y=ones(3)' 'env=[0.25]' -n 8 --engine interp --by pebble:4 --real fix
# A state of several arrays, numbers and integers; of integers alone, which has no gradient; of another name than State.
printf 'type State = (u: real[n, m], k: i64, x: real)\nfn add(y1: State, y: State, env: real[m])\n    y1.u += y.u\n    y1.x += sin(y.u[0, 1]) * y.k + y.x * env[0]\n    y1.k += y.k + 1\nend\nfn change(y: State, env: real[m])\n    set y.x = sin(y.u[0, 1]) * y.k + y.x * env[0]\n    y.k += 1\nend\n' >several.rasm
sed 's/State/Wave/g' several.rasm >wave.rasm
sed 's/real\[n, m\]/i64[n, m]/; s/x: real)/x: i64)/; s/^\( *\)\(y1.x +=\|set y.x =\).*/\1y1.x += y.k * y.u[0, 1]/; /^fn change/,$d' several.rasm >integers.rasm
for step in add change; do
    expect 0 'of a state of 6 numbers, 48 bytes*pebble:4 * 11 * 5 * 0.0e+00*revolve:2 * 0.0e+00*' \
        rvm schedule --measure several.rasm $step 'y.u=[[1,2],[3,4]]' y.k=2 y.x=0.5 'env=[0.5,1]' -n 5 --engine interp --by pebble:4,revolve:2
done
expect 0 'trail * 5 *bennett:2 *' rvm schedule --measure integers.rasm add 'y.u=[[1,2],[3,4]]' y.k=2 y.x=1 'env=[0.5,1]' -n 5 --engine interp --by bennett:2
expect 2 'a state of integers has no gradient' rvm schedule --measure integers.rasm add 'y.u=[[1,2],[3,4]]' y.k=2 y.x=1 'env=[0.5,1]' -n 5
expect 2 'wave.rasm:2:*error: no step is `fn add(y1.u: *a State is real[[]n], or what `type State = ...` says' rvm schedule --measure wave.rasm add 'y.u=[[1,2],[3,4]]' y.k=2 y.x=0.5 'env=[0.5,1]' -n 5
echo 'type State = Wave' >>wave.rasm
expect 0 'pebble:4 * 11 * 5 * 0.0e+00' rvm schedule --measure wave.rasm add 'y.u=[[1,2],[3,4]]' y.k=2 y.x=0.5 'env=[0.5,1]' -n 5 --engine interp --by pebble:4
# One that adds twice leaves rounding in the rows, and that is seen.
sed 's/^\( *\)y1\.\([xyz]\) += y\.[xyz] + h/\1y1.\2 += y.\2\n\1y1.\2 += h/' "$here/../../examples/lorenz.rasm" >twice.rasm
expect 0 'trail * 0.0e+00
pebble:10 * [1-9].[0-9]e-*
' rvm schedule --measure twice.rasm step y.x=1 y.y=0 y.z=0 'env=[10,27,2.625,0.01]' -n 300 --by pebble:10
# A list of any origin is judged, counted and run.
expect 0 'pebble, 8 steps' rvm schedule --by pebble:4 -n 8 -o moves.npy
expect 0 'moves.npy, 8 steps*evaluations  25: 13 forward, 12 uncomputed' rvm schedule --list moves.npy -n 8
expect 0 '"list":"moves.npy","steps":8,"counts":{"evaluations":25,' rvm schedule --list moves.npy -n 8 --json
expect 0 'moves.npy * 25 * 5 *' rvm schedule --measure "$heat" step 'y=ones(3)' 'env=[0.25]' -n 8 --list moves.npy --engine jit
expect 1 'moves.npy: error: *8' rvm schedule --list moves.npy -n 9
cat >wrong.rasm <<'TEXT'
fn wrong(moves: i64[t, 4], k: i64)
    moves[1, 2] += k
end
TEXT
rvm run wrong.rasm wrong moves=@moves.npy k=1 --save moves=absent.npy -q
rvm run wrong.rasm wrong moves=@moves.npy k=-9 --save moves=negative.npy -q
expect 1 'absent.npy: error: move 1*is to hold state 1 and ' rvm schedule --measure "$heat" step 'y=ones(3)' 'env=[0.25]' -n 8 --list absent.npy
expect 1 'negative.npy: error: move 1 is [[]0, *, two rows and a state are wanted' rvm schedule --list negative.npy -n 8

# Instructions on 256 steps of 10^4 cells, in millions, as known; of a pool that is all there is, a state for each row.
if rvm run "$here/../../examples/norm.rasm" norm out=0 x=[3,4] --engine jit >native.txt 2>&1; then
    rvm schedule --measure "$heat" step 'y=ones(10000)' 'env=[0.2]' -n 256 --engine jit --format csv -o heat.csv \
        --by bennett:2,bennett:4,bennett:16,pebble:9,pebble:13,pebble:16,revolve:5,revolve:9
    printf '"trail" 41\n"bennett:2" 919\n"bennett:4" 336\n"bennett:16" 135\n"pebble:9" 537\n"pebble:13" 236\n"pebble:16" 211\n"revolve:5" 299\n"revolve:9" 245\n' >known.txt
    expect 0 '9 agree' awk 'NR == FNR { known[$1] = $2; next } { split($0, f, ","); if (!(f[1] in known)) next
        rows = f[1] == "\"trail\"" ? 1 + 256 : f[2] == "gradient" ? f[4] + 2 : f[4]
        a = f[5] / 1e6 / known[f[1]]; b = f[8] / rows / 80000; n += a > 0.97 && a < 1.03 && b > 0.99 && b < 1.01 }
        END { print n, "agree" }' known.txt heat.csv
fi
# All kinds beside each other.
expect 0 "$(literal '"pebble":[{"pebbles":4,"states":5,"evaluations":25},{"pebbles":5,"states":6,"evaluations":21},{"pebbles":7,"states":8,"evaluations":17},{"pebbles":8,"states":9,"evaluations":15}]')" \
    rvm schedule -n 8 --json

# What is refused.
expect 2 'rvm schedule: error: pebble of 100 steps needs at least 8 pebbles, not 7' rvm schedule --by pebble:7 -n 100
expect 2 'bennett of 9 steps needs at least 2 sectors, not 1' rvm schedule --by bennett:1 -n 9
expect 2 'this graph needs at least 4 pebbles, not 2' rvm schedule --by pebble:2 --graph tree.txt
expect 2 'this graph needs more; the least that was found is 7 pebbles, not 6' rvm schedule --by pebble:6 --graph chain.txt
expect 2 '--by is pebble:NUMBER, the number of pebbles, not `pebble`' rvm schedule --by pebble -n 9
expect 2 'not `revolve:x`' rvm schedule --by revolve:x -n 9
expect 2 'not `revolve:3x`' rvm schedule --by revolve:3x -n 9
expect 2 "$(literal 'no schedule `revolv`; did you mean revolve?')" rvm schedule --by revolv:3 -n 9
expect 2 '-n says of how many steps' rvm schedule --by revolve:3
expect 2 'a schedule is of 1 to 2147483647 steps, not of 0' rvm schedule --by revolve:3 -n 0
expect 2 '--by says which schedule' rvm schedule -n 9 -o moves.npy
expect 2 '--graph goes with --by pebble:NUMBER' rvm schedule --by revolve:3 --graph tree.txt
measure="rvm schedule --measure $heat"
expect 2 'pebble of 100 steps needs at least 8 pebbles, not 7' $measure step 'y=ones(3)' 'env=[0.2]' -n 100 --by pebble:7
expect 2 '--budget 2..5: pebble of 100 steps needs at least 8 pebbles' $measure step 'y=ones(3)' 'env=[0.2]' -n 100 --by pebble --budget 2..5
expect 2 'heat.rasm:*: error: no step is `fn forward(y: *`: a step adds, `fn step(y1: State, y: State, env: real[[]k])`*or what `type State = ...` says' $measure forward 'y=ones(3)' -n 4
expect 2 'one.rasm:1:* error: no step is `fn one(y: accumulate f64, ' rvm schedule --measure one.rasm one y=1 'env=[1]' -n 4
expect 2 'has no function `stop`; did you mean `step`?' $measure stop -n 4
expect 2 'the argument `env: f64[[]env_size]` is missing' $measure step 'y=ones(3)' -n 4
expect 2 'which step is to be run' $measure -n 4
expect 2 '-n says how many steps' $measure step
expect 2 'a program goes with --measure' rvm schedule "$heat" step -n 4
expect 2 'one of them says which moves' $measure step -n 8 --by pebble:4 --list moves.npy
expect 2 'is read, too, by --list' rvm schedule --list moves.npy -n 8 -o moves.npy
expect 2 'format is text, json or csv' $measure step -n 4 --format folded
expect 3 'none.rasm: error: cannot' rvm schedule --measure none.rasm step -n 4
expect 2 '-n is of a chain' rvm schedule --by pebble:3 --graph tree.txt -n 3
expect 2 '`tree.txt` is read, too, by --graph' rvm schedule --by pebble:4 --graph tree.txt -o tree.txt
expect 2 'are one file' rvm schedule --by pebble:4 --graph tree.txt -o x.svg --svg x.svg
expect 3 'wrong.txt:2:1: error: a line is `step: what it takes`, not `b a`' rvm schedule --by pebble:3 --graph wrong.txt
expect 1 'takes itself, by way of others' rvm schedule --by pebble:3 --graph circle.txt
expect 3 'cannot read' rvm schedule --by pebble:3 --graph none.txt
expect 4 'the limit is 67108864' rvm schedule --by bennett:2 -n 1M -o moves.npy
expect 4 'too many for a picture: 200000 at most' rvm schedule --by pebble:15 -n 10k --svg picture.svg
finish
