#!/bin/sh
# What ends a command, whatever it runs: limits and Ctrl-C. limits.sh FOLDER_OF_BINARIES
. "$(dirname "$0")/expect.sh"

cat >limits.rasm <<'TEXT'
fn late(y: real, x: real[n], k: i64)
    for i in 0..k
        y += sin(x[0]) * 0.5
    end
end
fn grows(y: real, x: real)
    let m: i64 = i64(x)
    for i in 0..m * m * m
        y += x * 0.5
    end
end
fn keeps(y: real, x: real)
    for i in 0..20
       set y = y * x
    end
end
TEXT

# rvm check: in a sweep, which keeps more than the run did; in runs from near the input; anywhere
expect_not 4 FAILED rvm check limits.rasm keeps y=1 x=1 --trail-limit 320
expect 4 'limits.rasm:14:*[[]LIMIT]' rvm check limits.rasm keeps y=1 x=1 --trail-limit 320
expect_not 4 FAILED rvm check limits.rasm late x=zeros\(1000\) k=10 --memory 20k
expect_not 4 FAILED rvm check limits.rasm grows x=2.99999 --fuel 50
expect 4 '[[]CANCELLED]' timeout --foreground --preserve-status -s INT 1 "$bin/rvm" check limits.rasm late x=[1] k=3000000 --engine interp
expect 4 '[[]CANCELLED]' timeout --foreground --preserve-status -s INT 1 "$bin/rvm" jac limits.rasm late --of y --wrt x x=[1] k=300000000 --engine interp

# which line memory ran out at, natively, too
cat >room.rasm <<'TEXT'
fn sums(y: real, n: i64)
    let a: real[n]
    for i in 0..n
        a[i] += 1
    end
    y += a[3]
    for i in 0..n
        a[i] -= 1
    end
end
TEXT
for engine in interp jit; do
    expect 4 'room.rasm:2:5: error: out of memory' rvm run room.rasm n=1000 --memory 16k --engine $engine
    expect 4 'room.rasm:2:5: error: out of memory' rvm grad room.rasm --of y n=1000 --memory 16k --engine $engine
    expect 4 'room.rasm:2:5: error: out of memory' rvm jvp room.rasm --dot y=1 n=1000 --memory 16k --engine $engine
done

# while native code is made, of the function and of its derivative, which takes LLVM seconds; from when it says that it is there
interrupted() {
    "$bin/rvm" "$@" --verbose >said 2>&1 &
    running=$!
    for _ in $(seq 1000); do
        ! grep -q 'LLVM.*ready' said || break
        sleep 0.05
    done
    sleep 0.3 # it runs a little later, and what stands in the background of a script ignores the signal until then
    kill -s INT $running
    wait $running
    ended=$?
    cat said
    return $ended
}
{
    echo 'fn wide(y: real, x: real)'
    for i in $(seq 400); do echo "let a$i = sin(x) * $i"; done
    for i in $(seq 400); do echo "y += a$i"; done
    echo end
} >wide.rasm
export RVM_CACHE_DIR="$work/cache"
if rvm run wide.rasm y=0 x=1 --engine jit --verbose 2>&1 | grep -q 'bytes of native code'; then
    expect 4 '[[]CANCELLED]' interrupted run wide.rasm x=1 --engine jit --cache off
    expect 4 '[[]CANCELLED]' interrupted grad wide.rasm --of y x=1 --engine jit # of f'adj
else
    echo 'skipped: there is no native code'
fi
finish
