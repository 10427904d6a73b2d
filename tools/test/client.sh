#!/bin/sh
# --server: each of these commands says, writes and ends the same here and by a server. client.sh FOLDER_OF_BINARIES
. "$(dirname "$0")/expect.sh"
if [ ! -x "$bin/rvm-client" ] || [ ! -x "$bin/rvm-serve" ]; then
    echo 'skipped: there is no client, or no server'
    exit 0
fi
examples=$here/../../examples

# ---- a server ----
serve() { # NAME OPTIONS: $NAME becomes its address
    name=$1
    shift
    "$bin/rvm" serve --listen 127.0.0.1:0 --store off --log off --workers 1 "$@" >"$name.at" 2>&1 &
    servers="$servers $!"
    until [ -s "$name.at" ]; do sleep 0.02; done
    eval "$name=\$(cat $name.at)"
}
servers=
# shellcheck disable=SC2086 # a list of numbers
trap 'kill $servers; rm -rf "$work"' EXIT
serve server --seconds 1.2
serve small --upload 2k --fuel 1000G --seconds 60
serve fixed --read-only
serve hasty --fuel 1000G --seconds 1.2

# ---- programs and values ----
cp "$examples/norm.rasm" "$examples/forgotten.rasm" .
mkdir below folder
cat >below/sum.rasm <<'TEXT'
include "part.rasm"
fn sum(out: real, x: real[n])
    for i in 0..n
        call add(out, x[i])
    end
end
TEXT
cat >below/part.rasm <<'TEXT'
fn add(out: real, x: real)
    assert x < 100.0
    out += x
end
TEXT
cp below/part.rasm folder/other.rasm
sed 's/part/other/' below/sum.rasm >searched.rasm
cat >standard.rasm <<'TEXT'
include "std/blas.rasm"
fn main(out: real, x: real[n], y: real[n])
    call dot(out, x, y)
end
TEXT
cat >many.rasm <<'TEXT'
fn square(x: real)
    x *= 2.0
end
fn apply(f: fn(real), x: real)
    call f(x)
end
fn long(k: i64, n: i64)
    for i in 0..n
        k += i
    end
end
fn grow(x: real[n], y: real[n])
    for i in 0..n
        y[i] += exp(x[i])
    end
end
fn loses(x: real[n])
    for i in 0..n
        x[i] *= 1e-200
        x[i] *= 1e-200
        x[i] *= 1e200
    end
end
fn turn(z: complex, k: complex)
    z += k * k
end
TEXT
# It is warned of, fails on the way, and notes a point without a derivative.
cat >warned.rasm <<'TEXT'
fn f(y: real, x: real, z: real)
    compute
        y += x
    do
        assert z < 9
        z += abs(x)
    undo
end
TEXT
cat >derives.rasm <<'TEXT'
fn f(y: real, x: real)
    y += sin(x)
end
fn g(y: real, x: real, z: real)
    y += x
    call f'grad(y, 1, x, z)
end
TEXT
printf 'fn f(x: real)\n    x += \nend\n' >wrong.rasm
rasm norm.rasm -o norm.rbc && rasm below/sum.rasm -o sum.rbc
rvm run --save x=x.npy --save-all all.npz -q norm.rasm 'x=[3,4]'
rvm run --save-record record --exact -q norm.rasm 'x=[3,4]'
printf '[3, 4]\n' >text.txt
printf 'no array' >bad.npy

# ---- both ways: what is said, in its order; the exit status; files ----
both() {
    rm -f out.*
    "$bin/rvm" "$@" --engine interp >said.here 2>&1 </dev/null
    echo "exit $?" >>said.here
    mkdir -p was && rm -f was/* && for f in out.*; do [ ! -f "$f" ] || mv "$f" was; done
    "$bin/rvm" "$@" --server "$server" >said.there 2>&1 </dev/null
    echo "exit $?" >>said.there
    for said in said.here said.there; do # time is never the same
        sed 's/"seconds":[-+.e0-9]*/"seconds":0/g' $said >plain && mv plain $said
    done
    for f in was/* out.*; do [ ! -f "$f" ] || cmp -s "was/${f#was/}" "${f#was/}" || echo "$f differs" >>said.there; done
    diff said.here said.there >apart && return
    failures=$((failures + 1))
    printf 'FAILED: %s\n' "$*"
    cat apart
}
while IFS= read -r line; do
    case $line in '' | '#'*) continue ;; esac
    eval "both $line"
done <<'CASES'
run norm.rasm x=[3,4]
run norm.rasm norm 'x=[3, 4]' --json
run norm.rasm x=[3,4] --stats
run norm.rasm x=[3,4] --stats --json
run norm.rasm x=[3,4] --profile
run norm.rasm x=[3,4] --only out
run norm.rasm x=[3,4] -q
run --backward norm.rasm out=5 x=[3,4]
run norm.rbc x=[3,4]
run many.rasm apply f=\&square x=1
run many.rasm long k=-3 n=10
run many.rasm turn z=2+3i k=1-i
run many.rasm turn z=2+3i k=1-i --json
run warned.rasm x=2
run warned.rasm x=2 --json
run warned.rasm z=9 --json
grad warned.rasm --of z x=0 --json
run derives.rasm g y=.1 x=2 --exact
grad derives.rasm g --of y y=.1 x=2 --exact --json
run derives.rasm g y=.1 x=2 --save-record out.record
run derives.rasm f y=.1 x=2 --save-record out.record --json
run many.rasm square x=NaN --json
run many.rasm grow 'x=zeros(2000)'
run below/sum.rasm x=[1,2]
run searched.rasm -I folder x=[1,2]
run standard.rasm x=[1,2] y=[3,4] --stats
run sum.rbc x=[1,2]
run --real f32 norm.rasm x=[3,4]
run norm.rasm x=@x.npy
run norm.rasm x=@text.txt
run norm.rasm @all.npz
run norm.rasm x=[3,4] --save x=out.x.npy --save out=out.out.npy
run norm.rasm x=[3,4] --save-all out.all.npz --json
run norm.rasm x=[3,4] --save-record out.record --exact
run norm.rasm "norm'grad" out_b=1 x=[3,4] --exact
run --backward --record record norm.rasm out=5 x=[3,4]
run norm.rasm x=[3,4] --const n=2
run --unchecked --exact --trail off --tol 1e-9 --memory 1M --depth 100 --fuel 10k norm.rasm x=[3,4]
grad norm.rasm --of out x=[3,4]
grad norm.rasm --of out x=[3,4] --undo
grad norm.rasm --of out --wrt x x=[3,4] --stats --json
grad norm.rasm --of out x=[3,4] --save x_b=out.gradient.npy
grad norm.rasm --of out x=[0,0]
grad norm.rasm --of out x=[0,0] --json
grad standard.rasm --of out x=[1,2] y=[3,4] --stats
vjp norm.rasm --seed out=2 x=[3,4]
jvp norm.rasm --dot x=[1,0] x=[3,4]
jvp norm.rasm --dot x=@x.npy x=[3,4] --json
jac many.rasm grow x=[1,2] y=[0,0] --stats
jac many.rasm grow x=[1,2] y=[0,0] --pattern [[1,0],[0,1]] -o out.matrix.npy
hess norm.rasm --of out x=[3,4] --json
hvp norm.rasm --of out --dot x=[1,0] x=[3,4]
profile norm.rasm x=[3,4]
profile norm.rasm --backward out=5 x=[3,4]
profile norm.rasm --of out x=[3,4] --json
profile standard.rasm --of out x=[1,2] y=[3,4]
profile norm.rasm x=[3,4] --format folded
profile norm.rasm x=[3,4] --format speedscope -o out.speedscope
profile norm.rasm x=[3,4] --format pprof
profile norm.rasm x=[3,4] --format pprof -o out.pprof
profile norm.rasm x=[3,4] --format callgrind
profile forgotten.rasm mean_square x=[1,2]
profile norm.rasm x=[3,4] --activity --format csv
check norm.rasm x=[3,4]
check norm.rasm x=[3,4] --json
check forgotten.rasm mean_square x=[1,2]
check many.rasm loses x=[1,2]
# errors: of the source, the words, the values, the run
run wrong.rasm x=1
run wrong.rasm x=1 --json
run nothing.rasm
run norm.rasm nrm x=1
run norm.rasm y=1
run norm.rasm x=[3,4
run norm.rasm x=@missing.npy
run norm.rasm x=@folder
run norm.rasm x=@bad.npy --json
run norm.rasm x=@-
run norm.rasm x=[3,4] --only y
run norm.rasm x=[3,4] --save y=out.y.npy
run norm.rasm x=[3,4] --save x=nowhere/out.npy
run norm.rasm x=[3,4] --save x=x.npy --save out=x.npy
run many.rasm
run many.rasm long k=0 n=1000000 --fuel 1k
run below/sum.rasm x=[1,200]
run below/sum.rasm x=[1,200] --json
run sum.rbc x=[1,200]
run searched.rasm -I folder x=[1,200]
run standard.rasm x=[1,2] y=[3]
run forgotten.rasm mean_square x=[1,2]
run forgotten.rasm mean_square x=[1,2] --json
grad norm.rasm x=[3,4]
profile norm.rasm x=[3,4] --format dot
grad norm.rasm --of x x=[3,4]
grad forgotten.rasm mean_square --of out x=[1,2]
hess norm.rasm --of out --method quickly x=[3,4]
CASES

# ---- by other ways ----
printf '[3, 4]\n' | rvm run norm.rasm x=@- --server "$server" >said 2>&1
expect 0 'out = 5' cat said
rvm run - 'x=[3,4]' --server "$server" <norm.rasm >said 2>&1
expect 0 'out = 5' cat said
rvm run - y=1 --server "$server" <norm.rasm >said 2>&1
expect 0 '<stdin>:*:4: error: there is no parameter `y`*fn norm*^' cat said
plain=${server%%#*} token=${server##*token=}
RVM_SERVER_TOKEN=$token
export RVM_SERVER_TOKEN
expect 0 'out = 5' rvm run norm.rasm 'x=[3,4]' --server "$plain"
unset RVM_SERVER_TOKEN
expect_not 0 token rvm run norm.rasm 'x=[3,4]' --server "$server"

"$bin/rvm" serve --listen unix:socket --store off --log off --workers 1 >socket.at 2>&1 &
servers="$servers $!"
until [ -s socket.at ]; do sleep 0.02; done
expect 0 'out = 5' rvm run norm.rasm 'x=[3,4]' --server "unix:socket#token=$(sed 's/.* token //' socket.at)"

# ---- a server that is busy, of another version, or none: answers of an impostor ----
answer() { # CODE HEADERS BODY
    printf 'HTTP/1.1 %s\r\nContent-Length: %d\r\n%b\r\n%s' "$1" "${#3}" "$2" "$3"
}
from_impostor() { # STATUS TEXT ANSWER...
    status=$1 text=$2
    shift 2
    rm -f impostor.at
    "$bin/impostor" "$@" >impostor.at &
    until [ -s impostor.at ] || ! kill -0 $! 2>/dev/null; do sleep 0.01; done
    expect "$status" "$text" rvm run norm.rasm 'x=[3,4]' --server "$(cat impostor.at)"
    wait $!
}
version=$("$bin/rvm" --version)
about=$(answer '200 OK' '' "{\"version\":\"${version#* }\",\"limits\":{\"upload\":4000}}")
uploaded=$(answer '201 Created' '' '{"ok":true,"id":"d640ee220ac49d23bc23088b527ec4d7"}')
busy='{"ok":false,"error":{"code":"BUSY","message":"too many runs wait"}}'
from_impostor 3 'error: the server is rvm 0.0.1, this is rvm *: results might differ*VERSION' \
    "$(answer '200 OK' '' '{"version":"0.0.1","limits":{"upload":4000}}')"
from_impostor 4 ': too many runs wait; it asks to come again in 7 s*LIMIT' "$(answer '429 Too Many' 'Retry-After: 7\r\n' "$busy")"
from_impostor 4 'wait; it asks to come again in 2 s*LIMIT' "$about" "$(answer '503 Busy' 'retry-after:2\r\n' "$busy")"
from_impostor 4 'wait; it asks to come again in 1 s*LIMIT' "$about" "$uploaded" "$(answer '503 Busy' 'Retry-After: 1\r\n' "$busy")"
from_impostor 4 'too many runs wait*LIMIT' "$about" "$uploaded" "$(answer '503 Busy' '' "$busy")"
from_impostor 4 '1.2 s, is reached*CANCELLED' "$about" "$uploaded" "$(answer '202 Accepted' '' '{"id":1,"state":"running","share":null}')" \
    "$(answer '200 OK' '' '{"exit":4,"output":[{"stderr":"the time limit, 1.2 s, is reached; CANCELLED"}],"files":{}}')"
from_impostor 3 'is no server of rvm*IO' "$(answer '502 Bad Gateway' '' '<html>')"
from_impostor 3 'is no server of rvm*IO' "$(answer '200 OK' '' '{"version":"1"}')"
from_impostor 3 'is no server of rvm*IO' "$(printf 'HTTP/1.1 200 OK\r\n\r\n{}')"
from_impostor 3 'is no server of rvm*IO' "$(printf 'SSH-2.0-OpenSSH_9\r\n')"
from_impostor 3 'is lost*IO' "$(printf 'HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{}')"

# ---- what a server cannot do, and where there is none ----
for option in --cache=x --threads=2 --fast-math --vector-math --lanes=on --any-lengths --verbose --dump=ir --trust; do
    expect 2 "error: ${option%%=*} does not go with --server: *USAGE" rvm run $option norm.rasm 'x=[3,4]' --server http://x
done
expect 2 '--checkpoint-dir does not go with --server' rvm grad --of out --checkpoint-dir . norm.rasm 'x=[3,4]' --server http://x
for command in cost debug; do
    expect 2 "rvm $command has no option \`--server\`, which is one of rvm run, rvm profile, rvm grad" \
        rvm $command norm.rasm 'x=[3,4]' --server http://x
done
expect 2 '--engine jit: the server interprets' rvm run --engine jit norm.rasm 'x=[3,4]' --server "$server"
expect 2 '--server ftp://x: http://HOST:PORT/#token=TOKEN*is expected' rvm run norm.rasm --server ftp://x
expect 2 'speaks no TLS' rvm run norm.rasm --server https://x
expect 2 'asks for its token' rvm run norm.rasm 'x=[3,4]' --server "$plain"
expect 2 'asks for its token' rvm run norm.rasm 'x=[3,4]' --server "$plain#token=0123456789abcdef"
expect 2 '"code":"USAGE"*asks for its token' rvm run norm.rasm 'x=[3,4]' --json --server "$plain"
expect 3 'no server at http://127.0.0.1:1: Connection refused*IO' rvm run norm.rasm 'x=[3,4]' --server http://127.0.0.1:1
expect 3 'no server at unix:nowhere: No such file' rvm run norm.rasm 'x=[3,4]' --server unix:nowhere
expect 3 'no server at http://nowhere.invalid' rvm run norm.rasm 'x=[3,4]' --server http://nowhere.invalid
expect 2 'is expected' rvm run norm.rasm --server "${plain}page"
expect 2 'this server takes nothing' rvm run norm.rasm 'x=[3,4]' --server "$fixed"
expect 4 'bytes, and *takes 2048 (--upload of rvm serve)*LIMIT' rvm run below/sum.rasm "x=$(printf '[%02000d]' 1)" --server "$small"
expect 2 '--fuel is from 1 to 1000000000 on this server' rvm run norm.rasm 'x=[3,4]' --fuel 2G --server "$server"
expect 4 'the time limit, 1.2 s, is reached*CANCELLED' rvm run many.rasm long k=0 n=10000000000 --server "$hasty"
"$bin/rvm" run many.rasm long k=0 n=100000000000 --server "$small" >said 2>&1 & # interrupted
sleep 1
kill -INT $!
wait $!
expect 0 "exit $?*many.rasm:9:9: error: cancelled*k += i*^" sh -c 'echo exit 4; cat said'
finish
