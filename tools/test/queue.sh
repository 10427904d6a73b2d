#!/bin/sh
# rvm queue: scripts that drive a device, what they leave in host memory, and which are refused. queue.sh FOLDER_OF_BINARIES
. "$(dirname "$0")/expect.sh"

root=$here/../..
bundle=$root/examples/coprocessor/bundle.queue
reproject=$root/examples/bundle_adjustment/reproject.rasm
data=${RVM_DATA:-$root/../shared/data}

# The gradient is that of rvm grad, bit by bit; what crossed the bus is counted.
expect 0 'loss = 771.512125326279' rvm queue "$bundle"
expect 0 '49 values to the device, 25 to the host' rvm queue "$bundle" --model adiabatic
expect 0 '"host":{"loss":771.512125326279,"cameras_b":\[\[560.5637506077165,*"to_device":49,"to_host":25,"turns":1,' rvm queue "$bundle" --json
expect 0 '' rvm queue "$bundle" --save cameras_b=gradient.npy --counts queue.csv --svg queue.svg
expect 0 '# to.host 25' cat queue.csv
expect 0 'queue.csv: 1596 instructions*49 values to the device' rvm cost queue.csv --model cmos45
printf 'fn same(x: f64[n, m])\nend\n' >same.rasm
expect 0 'x = \[\[560.5637506077165,' rvm run same.rasm x=@gradient.npy

# A file in the text format of Bundle Adjustment in the Large, as a script. scene FILE
scene() {
    echo "program $reproject cost"
    awk 'NR == 1 { m = $1; p = $2; n = $3; next }
         NR <= n + 1 { c = c "," $1; k = k "," $2; o = o ",[" $3 "," $4 "]"; r = r ",[0,0]"; next }
         { v[i++] = $1 }
         END { print "host camera = [" substr(c, 2) "]"; print "host point = [" substr(k, 2) "]"
               print "host observed = [" substr(o, 2) "]"; print "host r = [" substr(r, 2) "]"
               printf "host cameras = ["; for (j = 0; j < m; j++) row(j * 9, 9, j); print "]"
               printf "host points = ["; for (j = 0; j < p; j++) row(9 * m + 3 * j, 3, j); print "]" }
         function row(from, n, j, q) { printf "%s[", j ? "," : ""; for (q = 0; q < n; q++) printf "%s%s", q ? "," : "", v[from + q]; printf "]" }' "$1"
    echo 'host out_b = 1'
    for name in camera point observed r cameras points; do echo "load $name"; done
    printf 'run\ncopy-out out to loss\nload out_b\ndirection backward\ngradient on\nrun\nstore cameras_b\nstore points_b\n'
}
# norm FILE: of the whole gradient, by its JSON.
norm() {
    rvm queue "$1" --save cameras_b=c.npy --save points_b=p.npy >text || return 1
    sed -n '/^loss/p' text
    printf 'fn norm(out: f64, a: f64[m, k], b: f64[p, l])\n    compute\n        let s: f64\n        for i in 0..m\n            for j in 0..k\n                s += a[i, j] ^ 2\n            end\n        end\n        for i in 0..p\n            for j in 0..l\n                s += b[i, j] ^ 2\n            end\n        end\n    do\n        out += sqrt(s)\n    undo\nend\n' >norm.rasm
    rvm run norm.rasm a=@c.npy b=@p.npy --only out
}
scene "$root/examples/bundle_adjustment/scene.txt" >scene.queue
expect 0 'loss = 332.67502453*out = 12500.60706404' norm scene.queue
if [ -f "$data/ba/balbianello-5-544.txt" ]; then
    scene "$data/ba/balbianello-5-544.txt" >real.queue
    expect 0 'loss = 253.8566464223' norm real.queue
else
    echo "skipped: real data are not there"
fi

# Scripts that are refused, each at its line, and nothing is run. script LINE...
begin="program $root/examples/norm.rasm norm
host x = [3,4]
host out_b = 1"
script() {
    printf '%s\n' "$begin" "$@" >bad.queue
}
refused() {
    status=$1 line=$2 message=$3
    shift 3
    script "$@"
    expect "$status" "bad.queue:$line:* error: $message" rvm queue bad.queue
}
refused 2 4 'store out_b: no gradient is there' 'store out_b'
refused 2 4 'store x: it was never loaded' 'store x'
refused 2 4 'copy-out out: it was never loaded' 'copy-out out'
refused 2 4 'run x: it was never loaded' run
refused 2 6 'load x: the run has yet to come back' 'load x' run 'load x'
refused 2 6 'store out: the run has yet to come back, and needs it: copy-out leaves it' 'load x' run 'store out'
refused 2 6 'store x: the run has yet to come back' 'load x' run 'store x'
refused 2 6 'run: the device is at that end already' 'load x' run run
refused 2 8 'store out_b: no gradient' 'load x' run 'direction backward' run 'store out_b'
refused 2 6 'run: forward with gradients takes a sweep back' 'load x' 'gradient on' run
refused 2 11 'run: the sweep has dropped gradients' 'load x' run 'load out_b' 'direction backward' 'gradient on' run 'direction forward' run
refused 3 4 'no command is `loads`; did you mean load?' 'loads x'
refused 3 4 'the line is `load NAME \[from HOST\]`' 'load x to y'
refused 3 4 'the line is `direction forward|backward`' 'direction up'
refused 3 4 'the line is `gradient on|off`' gradient
refused 3 4 'the line is `run`' 'run x'
refused 3 4 'the line is `host NAME = VALUE`' 'host y'
refused 3 4 'a queue has one program' 'program a.rasm'
refused 2 4 '`norm` has no parameter `z`' 'load z'
refused 2 4 'the host has no memory `x_b`' 'load x_b'
refused 2 4 'the host has no memory `y`: `host y = VALUE` makes it' 'load x from y'
refused 1 4 'load x: host memory has another type or shape' 'load x from out'
refused 2 4 '`norm` has no parameter `z`' 'host z = 3'
refused 3 4 '`out_b` has a value already' 'host out_b = 2'
begin="program $root/examples/norm.rasm norm
host x = [3,four]"
refused 2 2 '*four*' 'load x'
printf 'load x\n' >bad.queue
expect 3 'bad.queue:1: error: first is `program FILE.rasm' rvm queue bad.queue
printf '# nothing\n' >bad.queue
expect 3 'the script ends here, and has no `program`' rvm queue bad.queue
printf 'program none.rasm\n' >bad.queue
expect 3 'none.rasm: error: cannot' rvm queue bad.queue
expect 3 'none.queue: error: cannot read' rvm queue none.queue

# A run that fails says where in the script, too.
printf 'fn two(x: i64)\n    assert x == 2\nend\n' >two.rasm
printf 'program two.rasm\nhost x = 3\nload x\nrun\n' >two.queue
expect 1 'two.rasm:2:* error: the assertion fails*(run of two.queue, line 4)' rvm queue two.queue
expect 2 'the host has no memory `y`' rvm queue "$bundle" --save y=y.npy
finish
