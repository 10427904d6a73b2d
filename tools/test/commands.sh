#!/bin/sh
# What the commands promise to whoever calls them: exit status and text. commands.sh FOLDER_OF_BINARIES
. "$(dirname "$0")/expect.sh"

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
cat >three.rasm <<'TEXT'
fn three(y: real, x: real)
    let t: real
    t += x - 3
end
fn step(y: real, x: real)
    y += x * floor(x)
end
fn whole(y: real, x: real, k: i64)
    y += k * x
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
expect 1 'its rows have different lengths, 2 and 1' rvm run rows.rasm 'A=[[1,2],[3]]'
expect 1 'its rows have different lengths, 1 and 2' rvm run rows.rasm 'A=[[1],[2,3]]'
expect 0 'out = 0' rvm run norm.rasm norm out=5 x=[3,4] --backward
expect 0 '"values":{"out":5,"x":[[]3,4]}' rvm run norm.rasm x=[3,4] --json
expect 0 'y = [[]2, 4]' rvm run two.rasm scale x=[1,2] a=2 k=0
expect 0 '"y":[[]"NaN","Infinity"]' rvm run two.rasm scale x=[nan,inf] a=2 --json
expect 0 'k = 1' rvm run two.rasm scale y=zeros\(2\) x=ones\(2\) a=2 k=0

# subnormals in their shortest form
printf 'fn tiny(y: real, x: real)\n    y += x + 1e-310\nend\n' >tiny.rasm
expect 0 'x = -3e-310' rvm run tiny.rasm x=-3e-310
expect 0 'x = 5e-324' rvm run tiny.rasm x=5e-324
expect 0 '.const 1e-310' rvm dis tiny.rasm

# files: what is saved can be read
expect 0 'out = 5' rvm run norm.rasm x=[3,4] --save x=x.npy --save out=out.npy
expect 0 'out = 10' rvm run norm.rasm x=@x.npy out=@out.npy
expect 0 '' rvm grad norm.rasm --of out x=[3,4] --save x_b=g.npy
expect 0 'x = [[]0.6*, 0.8]' rvm run two.rasm scale x=@g.npy a=0
printf 'fn twice(y: f32[n], x: f32[n])\n    for i in 0..n\n        y[i] += 2 * x[i]\n    end\nend\n' >single.rasm
expect 0 'y = [[]0.200000002980232*, 0.5[]]' rvm run single.rasm x=[0.1,0.25] --save y=y4.npy
expect 0 'y = [[]0.400000005960464*, 1[]]' rvm run single.rasm x=@y4.npy
expect 0 '<f4' head -c 80 y4.npy
expect 2 'is outside the range of f32' rvm run single.rasm x=[1e39]
expect 0 'ok' rvm check single.rasm x=[0.1,0.25]
cat >between.rasm <<'TEXT'
fn third(y: real, x: f32)
    y += 0.3 * real(sin(x))
end
fn between(y: real, x: real)
    let t = f32(x)
    call third(y, t)
end
TEXT
expect 0 '8 of 8 checks passed' rvm check between.rasm between x=1.1
cat >waves.rasm <<'TEXT'
fn waves(y: real, x: real)
    compute
        let t = f32(x)
        t *= 1.1
        let u = sin(t)
    do
        y += real(u) * x
    undo
end
TEXT
expect 0 '8 of 8 checks passed' rvm check waves.rasm x=1234.567
expect 0 '' rvm run norm.rasm x=[3,4] --real f32
cat >numbers.rasm <<'END'
fn clog(y: complex, x: complex)
    y += log(x)
end
fn dot(y: complex, a: complex[n], b: complex[n])
    for i in 0..n
        y += conj(a[i]) * b[i]
    end
end
fn power(y: lns, x: lns, n: i64)
    for i in 0..n
        y *= x
    end
end
fn takes(y: lns, x: real)
    y *= lns(x)
end
END
expect 0 'y = 2.8047189562170503+2.536352390999194i' rvm run numbers.rasm clog y=2+3i x=2-i
expect 0 'x_b = 1.79*8+0.6i' rvm vjp numbers.rasm clog --seed y=3+3i y=2+3i x=2-i
expect 0 'd y.re / d x = 0.39999999999999997-0.19999999999999998i' rvm grad numbers.rasm clog --of y.re --wrt x y=2+3i x=2-i
expect 0 'd y = -0.19999999999999998+0.39999999999999997i' rvm jvp numbers.rasm clog --dot x=i x=2-i
expect 0 '"y":{"re":2,"im":-5}' rvm run numbers.rasm dot 'a=[1+2i,2+i]' 'b=[1,1-i]' --json
expect 0 'y = 2-5i' rvm run numbers.rasm dot 'a=[1+2i,2+i]' b.re=[1,1] b.im=[0,-1]
expect 0 'y = 0+0i' rvm run numbers.rasm dot 'a=zeros(2)' 'b=ones(2)'
expect 2 '`2+3` is no complex number' rvm run numbers.rasm clog y=2+3 x=2-i
expect 2 '`-j` is not a number' rvm run numbers.rasm clog x=2-j
expect 2 '`x.im` is given twice' rvm run numbers.rasm clog x.im=1 x=2
expect 2 'the argument `x: complex` is missing; give x=2+3i' rvm run numbers.rasm clog y=1
expect 2 'the argument `x.im: f64` is missing; give x.im=a number' rvm run numbers.rasm clog y=1 x.re=1
expect 2 'the argument `a: complex[[]n]` is missing; give a=[[]...] or @file.npy' rvm run numbers.rasm dot y=1
printf 'fn f(y: lns(f32), x: lns(f32))\n    let t = y\n    y *= x * t\nend\n' >missing.rasm
expect 2 'the argument `y: lns(f32)` is missing; give y=a positive number' rvm run missing.rasm
expect 0 'y = 2-5i' rvm run numbers.rasm dot 'a=[1+2i,2+i]' 'b=[1,1-i]' --save a=za.npy --save b.im=im.npy
expect 0 '<c16' head -c 80 za.npy
expect 0 'y = 10+0i' rvm run numbers.rasm dot a=@za.npy b=@za.npy --save y=z.npy
expect 0 'y = 9+6i' rvm run numbers.rasm dot y=@z.npy a=@im.npy 'b=[1,1-6i]'
expect 0 'b = [[]1+2i, 2+1i]' rvm grad numbers.rasm dot --of y.re --wrt b a=@za.npy b=[1,1] --save b_b=zb.npy
expect 0 'a = [[]1+2i, 2+1i]' rvm run numbers.rasm dot a=@zb.npy b=[1,1] --real f32 --save a=z8.npy
expect 0 '<c8' head -c 80 z8.npy
expect 0 'a = [[]1+2i, 2+1i]' rvm run numbers.rasm dot a=@z8.npy b=[1,1] --real fix
expect 3 'za.npy: error: x: holds elements of type `<c16`' rvm run norm.rasm x=@za.npy
expect 3 'cut.npy: error: a: is cut off' sh -c "head -c 150 za.npy >cut.npy; '$bin/rvm' run numbers.rasm dot a=@cut.npy b=[1,1]"
expect 2 'give y.log=@file.npy, of logarithms' rvm run numbers.rasm power y=@z.npy x=1 n=1
expect 0 'x_b = 2+1i' rvm run numbers.rasm "clog'grad[y,x]" y_b=5 y=0 x=2+i
expect 0 'x_b = 2+1i' rvm run numbers.rasm "clog'grad[y.re,y.im,x.re,x.im]" y_b=5 y=0 x=2+i
expect 0 'd y.re / d x' rvm grad numbers.rasm clog --of y.re --wrt x y=0 x=2+i
expect 0 "y.re: accumulate f64, y.re_d: accumulate f64" rvm transform numbers.rasm --tangent clog --wrt x,y -o clog.rbc
expect 2 'has no parameter `z`' rvm transform numbers.rasm --tangent clog --wrt z
expect 0 'a.im[[]0] = 2' sh -c "printf 'print a[0]\n' | '$bin/rvm' debug numbers.rasm dot 'a=[1+2i]' b=[1]"
# parts of a complex by themselves
expect 0 'd y.re / d b.re = [[]1, 2]' rvm grad numbers.rasm dot --of y.re --wrt b.re 'a=[1+2i,2+i]' b=[1,1]
expect 0 'd y.re / d b.im = [[]2, 1]' rvm grad numbers.rasm dot --of y.re --wrt b.im 'a=[1+2i,2+i]' b=[1,1]
expect 0 '"gradients":{"b.im":[[]2,1]}' rvm grad numbers.rasm dot --of y.re --wrt b.im 'a=[1+2i,2+i]' b=[1,1] --json
expect 2 '`b` has no derivative here' rvm grad numbers.rasm dot --of y.re --wrt b.im 'a=[1]' b=[1] --save b_b=zb.npy
expect 2 '`y` is complex: name `y.re` or `y.im`' rvm grad numbers.rasm dot --of y a=[1] b=[1]
expect 2 '`y` is an lns: name `y.log`' rvm grad numbers.rasm power --of y y=1 x=3 n=2
expect 0 'd a[[]0].im / d b' rvm grad numbers.rasm dot --of a[0].im --wrt a,b a=[1] b=[1]
expect 0 'y = 18' rvm run numbers.rasm power y=2 x=3 n=2
expect 0 'y = 1.9999999999999993
' rvm run numbers.rasm power y=18 x=3 n=2 --backward
expect 0 'y = exp(1002.1972245773363)' rvm run numbers.rasm power 'y=exp(1000)' x=3 n=2
expect 0 'd y.log / d x.log = 2' rvm grad numbers.rasm power --of y.log y=1 x=3 n=2
expect 2 ' y: `-1` is not positive and finite, as an lns must be' rvm run numbers.rasm power y=-1 x=3 n=2
expect 2 ' y: `exp(inf)` is not positive and finite, as an lns must be' rvm run numbers.rasm power 'y=exp(inf)' x=3 n=2
expect 2 ' y: `exp(2` does not end with `)`' rvm run numbers.rasm power 'y=exp(2' x=3 n=2
expect 1 'numbers.rasm:15:5: error: `x` is -2: only a positive number has a logarithm here' rvm run numbers.rasm takes y=1 x=-2
expect 0 'd y.im / d x.re = 0.19999999999999998' rvm jac numbers.rasm clog --of y --wrt x y=2+3i x=2-i
expect_not 0 . rvm jac numbers.rasm clog --of y --wrt x y=2+3i x=2-i --quiet
expect 0 'checks passed' rvm check numbers.rasm clog y=2+3i x=2-i
head -c 130 x.npy >cut.npy
expect 3 'cut.npy: error: x: is cut off' rvm run norm.rasm x=@cut.npy
expect 3 'holds elements of type `<f8`' rvm run two.rasm spin k=@out.npy n=1
expect 1 'has 1 dimension, and 0 are wanted' rvm run norm.rasm x=[1] out=@x.npy
expect 3 'cannot read' rvm run norm.rasm x=@none.npy
expect 2 'there is no parameter `y`' rvm run norm.rasm x=[1] --save y=y.npy
expect_not 2 'out = ' rvm run norm.rasm x=[1] --save y=y.npy # a name that is not there: nothing has run
expect 3 'cannot write' rvm run norm.rasm x=[1] --save x=no/x.npy
ln -s /dev/full full
expect 3 'cannot write' rvm run norm.rasm x=[1] --save x=full
expect 0 '' test -L full

# what is written is there whole, or as it was; never over the program
expect 3 'cannot write /dev/full: No space' rvm run norm.rasm x=[1] --save x=/dev/full
[ -c /dev/full ] || expect 0 'still a device' false
expect 3 'cannot write x.npy/y: Not a directory' rvm run norm.rasm x=[1] --save x=x.npy/y
expect 2 '`x.npy` is read, too, by x' rvm run norm.rasm x=@x.npy --save x=x.npy
expect 0 'out = 5' rvm run norm.rasm x=@x.npy
expect 2 '`norm.rasm` is the program itself' rvm run norm.rasm x=[1] --save x=norm.rasm
expect 2 '`./norm.rasm` is the program itself' rasm norm.rasm -o ./norm.rasm
expect 2 'is the program itself' rvm jac norm.rasm x=[1] -o norm.rasm
forms='its name does not say what to write: a matrix goes to FILE.npy, a sparse one to FILE.mtx or FILE.npz'
expect 2 "-o J.foo: $forms" rvm jac norm.rasm x=[1] -o J.foo
expect 2 "-o J: $forms" rvm hess norm.rasm --of out x=[1] -o J --json
expect 2 '-o p.npz: its name does not say what to write: a product goes to FILE.npy' \
    rvm hvp norm.rasm --of out --dot 'x[0]=1' x=[1] -o p.npz
expect 1 '' test -e J -o -e J.foo -o -e p.npz
expect 0 'd (d out / d x)' rvm hvp norm.rasm --of out --dot 'x[0]=1' x=[3,4] -o p.npy
expect 0 'NUMPY' rvm jac norm.rasm x=[3,4] -o /dev/stdout
expect 0 'out = 5' rvm run norm.rasm x=@x.npy

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

# constants
expect 0 'out = 5*x = \[3, 4\]' rvm run norm.rasm x=[3,4] --const n=2
expect 0 'd out / d x = \[0.6' rvm grad norm.rasm --of out x=[3,4] --const n=2
expect 1 'SHAPE' rvm run norm.rasm x=[3,4] --const n=3
expect 0 'y = \[8, 11\]' rvm run two.rasm scale y=[2,5] x=[1,1] k=0 --const a=6
expect 0 'y = \[0, 0\]' rvm run two.rasm scale y=[6,6] x=[1,1] --backward k=0 --const a=6
expect 2 'no parameter and no length `z`' rvm run norm.rasm x=[3,4] --const z=3
printf 'fn parts(y: real, z: complex, q: lns)\n    y += z.re + real(q)\nend\n' >parts.rasm
expect 2 '`z` has parts, which are constants one by one: `z.re`' rvm run parts.rasm q=2 --const z=2+3i
expect 2 '`q` has parts, which are constants one by one: `q.log`' rvm run parts.rasm z=2+3i --const q=2
expect 0 'y = 4' rvm run parts.rasm z.im=3 q=2 --const z.re=2
expect 2 'is an array' rvm run norm.rasm --const x=3
expect 2 'changes `out`' rvm run norm.rasm x=[3,4] --const out=3
expect 2 '`a=6` is given, and --const a=6' rvm run two.rasm scale y=[2,5] x=[1,1] a=6 k=0 --const a=6
expect 2 'NAME=VALUE' rvm run norm.rasm x=[3,4] --const n
expect 2 'is not whole' rvm run norm.rasm x=[3,4] --const n=1.5

# failures while running, and limits
printf 'fn f(k: i64, n: i64)\n    assert n < 2\n    print "k is", k\n    k += 1\n    print "now", k\n    assert n > 0\nend\n' >shows.rasm
shown() { "$bin/rvm" run shows.rasm "$@" 2>&1 | grep -c 'k is\|now'; } # not once more by what takes a failed run back
expect 0 2 shown k=1 n=0
expect 0 2 shown k=1 n=0 --json
expect 0 2 shown --backward k=2 n=2
expect 0 2 shown k=1 n=1
expect 0 2 shown --backward k=2 n=1
expect 1 'ran back to the start: the inputs are restored' rvm run two.rasm leak x=5
expect 1 '"code":"RELEASE"*"line":*"restored":true' rvm run two.rasm leak x=5 --json
expect 0 'x = 5' rvm run two.rasm leak x=5 --unchecked
expect 4 'FUEL*the inputs are restored' rvm run two.rasm spin k=0 n=1000000 --fuel 1k
printf 'fn astray(y: real)\n    from y > 0 while y < 0.5\n        y += 1\n    end\nend\n' > astray.rasm
expect 1 'TRAP*does not restore the inputs*fuel' rvm run astray.rasm astray y=0 --unchecked --fuel 100k
expect 1 'TRAP*does not restore the inputs*goes on' rvm run astray.rasm astray y=0 --unchecked
cat >dot.rasm <<'EOF'
fn dot(s: real, a: real[n], b: real[n])
    set s = 0
    for i in 0..n
        set s = s + a[i] * b[i]
    end
end
EOF
expect 0 'd s / d a = [[]3, 4]' rvm grad dot.rasm --of s s=0 a=[1,2] b=[3,4]
expect 0 'd s / d a = [[]3, 4]*taken back' rvm grad dot.rasm --of s s=0 a=[1,2] b=[3,4] --undo
expect 0 'taken back' rvm grad norm.rasm --of out x=[3,4] --undo
expect 0 '10 of 10 checks passed' rvm check dot.rasm s=1 a=[1,2] b=[3,4]
expect 0 '32 bytes at most, 3 values on it now' rvm run dot.rasm s=0 a=[1,2] b=[3,4] --stats
expect 0 'erased: 192 bits: 192 by the trail' rvm run dot.rasm s=0 a=[1,2] b=[3,4] --stats --trail off
expect 0 '"trail_cells":0,"trail_peak":0,"bits_erased":192' rvm run dot.rasm s=0 a=[1,2] b=[3,4] --json --trail off
expect 1 'dot.rasm:4:*discarded*TRAIL' rvm grad dot.rasm --of s s=0 a=[1,2] b=[3,4] --trail off
cat >through.rasm <<'EOF'
fn over(y: real, x: real)
    set y = x * x
end
fn once(y: real, x: real, g: fn(real, read real))
    call g(y, x)
end
fn there(x: real)
    set x = x * x
end
fn back(x: real, g: fn(real))
    call g(x)
    uncall g(x)
end
fn main(y: real, x: real)
    call once(y, x, &over)
end
fn other(x: real)
    call back(x, &there)
end
EOF
expect 0 'y = 9*erased: 64 bits: 64 by the trail' rvm run through.rasm main y=2 x=3 --stats --trail off # others are taken back
expect 0 'x = 3*0 values on it now' rvm run through.rasm other x=3 --stats --trail off
expect 1 'exhausted' rvm run dot.rasm s=11 a=[1,2] b=[3,4] --backward
expect 4 'dot.rasm:4:*limit of 20 bytes*LIMIT' rvm run dot.rasm s=0 a=[1,2] b=[3,4] --trail-limit 20
expect 0 's = 11' rvm run dot.rasm s=0 a=[1,2] b=[3,4] --trail-limit 32
expect 4 'out of memory: the limit is 100 bytes' rvm run dot.rasm s=0 a=[1,2] b=[3,4] --memory 100
expect 4 'out of memory: the limit is 20480 bytes' rvm hess norm.rasm --of out x=zeros\(2000\) --memory 20k
expect 2 'keep or off' rvm run dot.rasm s=0 a=[1,2] b=[3,4] --trail on
expect 2 '' rvm run two.rasm spin k=0 n=1 --real i64

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
expect 0 '8 of 8 checks passed' rvm check norm.rasm x=[3,4]
expect 1 'release *FAILED (three.rasm:2: ancilla `t` disappears with a tangent' rvm check three.rasm three y=0 x=3
expect 0 'no derivative by `x` at three.rasm:6, in step (floor): it contributes 0' rvm check three.rasm step x=3.5
printf 'fn f(y: real, x: real)\n    y += floor(2 * x) + abs(x)\nend\n' >temporary.rasm
expect 0 'no derivative at temporary.rasm:2, in f (floor): it contributes 0' rvm check temporary.rasm x=0.3
expect 0 'no derivative by `x` at temporary.rasm:2, in f (abs): by its rule it is -1' rvm check temporary.rasm x=0
expect 0 '"cuts":[[]{"place":"x","row":"floor","function":"step","file":"three.rasm","line":6,"taken":0}]' rvm check three.rasm step x=3.5 --json
expect 2 'three.rasm:8:*`k` is i64' rvm grad three.rasm whole --of y --wrt k k=3 x=1
expect 2 'three.rasm:8:*`k` is i64' rvm check three.rasm whole --wrt k k=3 x=1
expect 2 'three.rasm:8:*: error: `k` is i64 and has no derivative' rvm jac three.rasm whole --of y --wrt k k=3 x=1
# the comparisons of a formula are none of the source's; f32 moved, f64 compared
cat >mixed.rasm <<'E'
fn sum(out: lns, y: lns, x: lns)
    out *= y + x
end
fn chosen(y: real, x: real, z: real)
    y += select(x > z, x * z, 3 * x)
end
fn widened(x: real[n], z: f32[n])
    x += f64(z)
end
fn narrowed(x: f32[n], z: real[n])
    x += f32(sin(z))
end
E
expect 0 'x = 1e+200' rvm run mixed.rasm sum out=1 y=2 x=1e200
expect_not 0 'no derivative' rvm check mixed.rasm sum out=1 y=2 x=3
expect 0 'no derivative by `x` at mixed.rasm:5, in chosen (gt): it contributes 0' rvm check mixed.rasm chosen y=1 x=2 z=3
expect 0 '8 of 8 checks passed' rvm check mixed.rasm widened "x=ones(11)" "z=ones(11)"
expect 0 '8 of 8 checks passed' rvm check mixed.rasm narrowed "x=ones(11)" "z=ones(11)"
expect 0 '"checks":' rvm check two.rasm scale x=[1,2] a=3 --json
expect 1 'RELEASE' rvm check two.rasm leak x=1

# derivatives that cannot be: why, with the line
cat >bad.rasm <<'TEXT'
# what has no derivative
fn f(y: real, x: real, k: i64)
    y += k * x ^ 2
end
fn over(y: real, n: i64)
    for i in 0..n
        set y = y * 1.5
    end
end
fn scale(y: real, x: real)
    y *= x
end
fn apply(y: real, x: real, g: fn(acc real, read real))
    call g(y, x)
end
fn sum(y: real, x: real[n])
    for i in 0..n
        y += x[i]
    end
end
fn over_x(y: real, x: real)
    y += 1 / x
end
TEXT
deep="f'inv'inv'inv'inv'inv'inv'inv'inv'inv'inv'inv'inv"
expect 2 'bad.rasm:2:4: error: `k` is i64 and has no derivative' rvm run bad.rasm "f'grad[y, k]" y=0 x=1 k=2
expect 2 'bad.rasm:2:4: error: `k` is i64 and has no derivative' rvm transform bad.rasm --adjoint f --wrt x,k
expect 2 'bad.rasm:2:4: error: `f` has no parameter `q`' rvm transform bad.rasm --adjoint f --wrt q
expect 2 'bad.rasm:2:4: error: `f` has no parameter `q`' rvm run bad.rasm "f'adj[q]" y=0 x=1 k=2
expect 2 "bad.rasm:2:4: error: \`'dual\` derives no function" rvm run bad.rasm "f'dual" y=0 x=1 k=2
expect 2 "bad.rasm:2:4: error: 'inv takes no list" rvm run bad.rasm "f'inv[x]" y=0 x=1 k=2
expect 2 "bad.rasm:2:4: error: 'y' of 'f' depends on what is active (x)" rvm run bad.rasm "f'adj[x]" y=0 x=1 k=2
expect 2 "bad.rasm:2:4: error: derivatives of '$deep' nest deeper than 12" rvm run bad.rasm "$deep'inv" y=0 x=1 k=2
expect 2 'bad.rasm:7:9: error: a trail entry has no room' rvm transform bad.rasm --adjoint "over'adj'adj'adj'adj'adj'adj"
expect 0 "fn f'inv(" rvm transform bad.rasm --invert f -o inverse.rbc
expect 0 "fn clog'adj(y.re: " rvm transform numbers.rasm --adjoint clog --wrt y,x -o n.rbc
expect 0 "fn power'tan'wrt'y'log(y.log: " rvm transform numbers.rasm --tangent power --wrt y -o n.rbc
expect 0 'x_b = 1.79*8+0.6i' rvm run numbers.rasm "clog'grad[y, x]" y=2+3i x=2-i y_b=3+3i
expect 0 "clog'grad'tan'wrt'y're'y'im'x're'x're_b'x'im'x'im_b(" rvm transform numbers.rasm --tangent "clog'grad" --wrt x,y -o n.rbc
expect 2 'nothing to derive' rvm transform bad.rasm --wrt x
expect 2 '--wrt names nothing' rvm transform bad.rasm --adjoint f --wrt ''
expect 2 'bad.rasm has no function `g`' rvm transform bad.rasm --adjoint g
expect 3 'cannot write no/x.rbc: No such file' rvm transform bad.rasm --adjoint f -o no/x.rbc
expect 1 'bad.rasm:7:9: error: nothing comes back into `y`*exhausted' rvm run bad.rasm "over'adj" y=3 y_b=1 n=2
expect 4 'bad.rasm:7:9: error: the trail reaches its limit of 16 bytes' rvm run bad.rasm "over'grad" y=3 y_b=1 n=9 --trail-limit 16
for c in grad hess jac; do
    expect 4 'bad.rasm:7:9: error: the trail reaches its limit' rvm $c bad.rasm over --of y y=3 n=9 --trail-limit 16
done
expect 1 'bad.rasm:11:5: error: the factor of `y` is 0' rvm run bad.rasm scale y=1 x=0 --backward
expect 1 'bad.rasm:11:5: error: the factor of `y` is 0' rvm run bad.rasm "scale'inv" y=1 x=0
expect 1 'bad.rasm:11:5: error: the factor of `y_b` is 0' rvm run bad.rasm "scale'adj" y=1 y_b=1 x=0
expect 1 'bad.rasm:11:5: error: the factor of `y` is 0' rvm grad bad.rasm scale --of y y=1 x=0
expect 2 'bad.rasm:13:4: error: argument `g` of apply is &sum of type' rvm run bad.rasm apply x=3 g=\&sum
expect 2 'bad.rasm:13:4: error: argument `g` of apply is 77, which is no function' rvm grad bad.rasm apply --of y x=3 g=77
expect 2 'there is no function `nothing`' rvm run bad.rasm apply x=3 g=\&nothing
expect 2 'the list of names is empty' rvm jac bad.rasm f --wrt '' x=1 k=2
expect 2 'the list of names is empty' rvm check bad.rasm f --wrt '' x=1 k=2
expect 2 '--wrt x leaves out' rvm hvp bad.rasm f --of y --wrt x x=1 k=2 --dot y=1
expect 1 'bad.rasm:21:4: error: `y` cannot be restored' rvm hess bad.rasm over_x --of y x=0 --no-exact

P='[[1,0],[0,1]]'
expect 0 'd y / d x = [[][[]3, 0], [[]0, 3]]' rvm jac two.rasm scale --wrt x x=[1,2] a=3 k=0
expect 0 'by adjoint: 1 sweep, ' rvm jac two.rasm scale --of 'y[1]' --wrt x,a x=[1,2] a=3 k=0 --stats --method adjoint
expect 0 'd y[[]1] / d x[[]1] = 3' rvm jac two.rasm scale --wrt x x=[1,2] a=3 k=0 --pattern "$P"
expect 0 '1 colour' rvm jac two.rasm scale --wrt x x=[1,2] a=3 k=0 --pattern "$P" --stats
expect 0 '"jacobian":{"y":{"x":[[][[]3,0],[[]0,3]]}},"cost":{"method":"tangent"' rvm jac two.rasm scale --wrt x x=[1,2] a=3 k=0 --json
expect 0 '"row_start":[[]0,1,2],"columns":[[]0,1],"values":[[]3,3]' rvm jac two.rasm scale --wrt x x=[1,2] a=3 k=0 --json --pattern "$P"
expect 2 'two.rasm:1:4: error: the pattern misses entry (1, 1): d y[[]1] / d x[[]1] is 3' rvm jac two.rasm scale --wrt x x=[1,2] a=3 k=0 --pattern '[[1,0],[1,0]]'
expect 1 'the pattern is 1 by 2, the Jacobian 2 by 2' rvm jac two.rasm scale --wrt x x=[1,2] a=3 k=0 --pattern '[[1,0]]'
expect 2 '`k` is i64' rvm jac two.rasm scale --wrt k x=[1,2] a=3 k=0
expect 2 '--method takes auto, tangent or adjoint' rvm jac two.rasm scale x=[1,2] a=3 k=0 --method sweep
expect 2 '`x` is named twice' rvm jac two.rasm scale --wrt 'x,x[0]' x=[1,2] a=3 k=0
expect 0 '' rvm jac two.rasm scale --wrt x x=[1,2] a=3 k=0 -o J.npy
expect 0 'd y[[]0] / d x[[]0] = 3' rvm jac two.rasm scale --wrt x x=[1,2] a=3 k=0 --pattern J.npy
expect 0 'x_b = [[]3, 0]' rvm vjp two.rasm scale x=[1,2] a=3 k=0 --seed y=[1,0]
expect 2 'seed NAME=VALUE is missing' rvm vjp two.rasm scale x=[1,2] a=3 k=0
expect 0 'd2 out / d x d x = [[][[]0.128, -0.096], [[]-0.096, 0.07*]]' rvm hess norm.rasm --of out x=[3,4]
expect 0 '"hessian":{"x":{"x":[[][[]0.128,' rvm hess norm.rasm --of out x=[3,4] --json
expect 0 'by sweep: 1 sweep' rvm hess norm.rasm --of out x=[3,4] --stats
expect 2 'a Hessian is of one number, and this is 2' rvm hess two.rasm scale --of y x=[1,2] a=3 k=0
expect 2 'of NAME is missing' rvm hess norm.rasm x=[3,4]

# where rounding spoils the way back, derivatives are asked for once more, exactly, and it is said
cat >relax.rasm <<'TEXT'
fn relax(out: real, x: real[n], w: real, sweeps: i64)
    for t in 0..sweeps
        for i in 1..n - 1
            x[i] *= 1 - w
            x[i] += w * 0.5 * (x[i - 1] + x[i + 1])
        end
    end
    for i in 0..n
        out += x[i] * x[i]
    end
end
TEXT
R='relax.rasm relax x=[3,1,4,1,5,9,2,6,5,3] w=0.9 sweeps=20'
again='relax.rasm:1:4: note: `x[[]1]` cannot be restored: it went in as 1 and came back as *; so this is run again with --exact'
expect 0 "$again*d out / d w = -41.69853262*" rvm grad $R --of out --wrt w
expect 0 "$again*d out / d w = -41.69853262*" rvm grad $R --of out --wrt w --engine=jit
expect 0 "$again*d out / d w = -41.69853262*" rvm grad $R --of out --wrt w --engine=interp --unchecked
expect 0 "$again*w_b = -41.69853262*" rvm vjp $R --seed out=1
expect 0 "$again*d out / d w = -41.69853262*" rvm jac $R --of out --wrt w --method adjoint
expect 0 "$again*d2 out / d w d w = 75.64998539*" rvm hess $R --of out --wrt w
expect 0 "$again*(d out / d w) = 75.64998539*" rvm hvp $R --of out --wrt w --dot w=1
expect 1 'error: `x[[]1]` cannot be restored*[[]NOT_RESTORABLE]' rvm grad $R --of out --wrt w --no-exact
expect 1 'error: `x[[]1]` cannot be restored*[[]NOT_RESTORABLE]' rvm grad $R --of out --wrt w --no-exact --engine=jit --trust
expect 1 'error: `x[[]1]` cannot be restored*[[]NOT_RESTORABLE]' rvm run relax.rasm "relax'grad" x=[3,1,4,1,5,9,2,6,5,3] w=0.9 sweeps=20 out_b=1
measured='a relative 2.7e+26 apart, and the tolerance is 1e-08; *may be wrong by as much or more'
expect 1 "$measured*hint: --exact*--tol X" rvm grad $R --of out --wrt w --no-exact
expect 0 '"ok":true,"exact_rerun":{"severity":"note","code":"NOT_RESTORABLE"*"line":1*"gradients":{"w":-41.69' rvm grad $R --of out --wrt w --json
expect_not 0 'so this is run again' rvm grad $R --of out --wrt w --json
expect_not 0 'exact_rerun' rvm grad $R --of out --wrt w --json --exact
expect 1 'hint: `rvm grad`' rvm run relax.rasm "relax'grad" x=[3,1,4,1,5,9,2,6,5,3] w=0.9 sweeps=20 out_b=1
# what is only added to tells of the function's own; so do checks on the way back, but no check going forward
cat >own.rasm <<'TEXT'
fn dropped(out: real, b: real, x: real, big: real)
    drop b
    b += 2.0
    out += b * x
    b += big
end
fn overwritten(out: real, x: real[n], x0: real[n], w: real, sweeps: i64)
    for i in 0..n
        set x[i] = x0[i]
    end
    for t in 0..sweeps
        for i in 1..n - 1
            x[i] *= 1 - w
            x[i] += w * 0.5 * (x[i - 1] + x[i + 1])
        end
    end
    for i in 0..n
        out += x[i] * x[i]
    end
end
fn released(out: real, x: real)
    let b: real = 2.0
    out += x
    b += x
end
TEXT
for engine in interp jit; do
    expect 0 'note: `out` cannot be restored*it went in as 0 and came back as 6*d out / d x = 2' rvm grad own.rasm dropped --of out --wrt x b=7 x=3 big=1e20 --engine=$engine
    expect 0 'going backward; so this is run again with --exact*d out / d w = -41.69853262*' \
        rvm grad own.rasm overwritten x0=[3,1,4,1,5,9,2,6,5,3] x=[0,0,0,0,0,0,0,0,0,0] w=0.9 sweeps=20 --of out --wrt w --engine=$engine
    expect_not 1 'again' rvm grad own.rasm released x=1 --of out --engine=$engine
    expect_not 1 'again' rvm grad own.rasm dropped --of out --wrt x b=7 x=3 big=1 --engine=$engine --trail off
done
expect 1 'the values are there, but shadows are 1.12e+04 from the seeds' rvm grad $R --of out --wrt w --undo --exact
printf 'fn over(out: real, y: real, x: real)\n    y += exp(x)\n    out += y * 0.0\nend\n' >over.rasm
expect 0 'note: with --exact, too, there is a nan among the results' rvm grad over.rasm --of out y=1 x=1000
expect 0 'note: with --exact, too, there is a nan' rvm jac over.rasm --of out y=1 x=1000 --method adjoint
expect 1 'infinite or NaN*hint: --exact restores every bit, what overflowed too' rvm grad over.rasm --of out y=1 x=1000 --no-exact
expect_not 0 'note:' rvm jac $R --of out --wrt w --method tangent
expect_not 0 'note:' rvm grad $R --of out --wrt w --exact
# the update at which it grew: of a run forward and back; from results, which hardly determine what went in
grew='; rounding grew most at relax.rasm:4, where `x[[]i]` is updated: 9.9'
expect 1 "restore *FAILED (relax.rasm:1: \`x[[]1]\` cannot be restored*$grew" rvm check $R
rvm run $R --save x=relaxed.npy >/dev/null
back='relax.rasm relax x=@relaxed.npy w=0.9 sweeps=20 out=101.00795103957992 --backward'
expect 0 "rvm run: note: the results hardly determine \`x[[]*]\`: with other last bits it comes back *$grew" rvm run $back
expect_not 0 'note' rvm run $back --unchecked
expect_not 0 'note' rvm run norm.rasm norm out=5 x=[3,4] --backward

# points without a derivative; not branches, not floor
cat >points.rasm <<'TEXT'
fn f(y: real, x: real)
    y += abs(x) + floor(x)
    if x > 0
        y += 1
    end
end
fn g(y: real, x: real, n: i64)
    for i in 0..n
        y += abs(x)
    end
end
TEXT
there='note: no derivative by `x` at points.rasm:2, in f (abs): by its rule it is -1'
expect 0 "rvm grad: $there*d y / d x = -1" rvm grad points.rasm f --of y x=0
expect 0 "rvm vjp: $there" rvm vjp points.rasm f --seed y=1 x=0
expect 0 "rvm jvp: $there" rvm jvp points.rasm f --dot x=1 x=0
expect 0 "rvm jac: $there" rvm jac points.rasm f x=0
expect 0 "rvm hess: $there" rvm hess points.rasm f --of y x=0
expect 0 "rvm hvp: $there" rvm hvp points.rasm f --of y x=0 --dot x=1
expect_not 0 'floor' rvm grad points.rasm f --of y x=0
expect_not 0 'note' rvm grad points.rasm f --of y x=1
expect_not 0 'note' rvm grad points.rasm f --of y x=0 --unchecked
expect 0 "$there" rvm grad points.rasm f --of y x=0 --unchecked --points --engine=jit
looked='in the first 50000 instructions; --points looks on'
expect_not 0 'note' rvm grad points.rasm g --of y x=1 n=100000
expect 0 "$looked" rvm grad points.rasm g --of y x=1 n=100000 --verbose
expect 0 "(abs)*$looked" rvm grad points.rasm g --of y x=0 n=100000
expect_not 0 'note' rvm grad points.rasm g --of y x=1 n=100000 --points

# several kinks at once: differences along them agree with no rule, and check says why it does not compare
printf 'fn kinks(y: real, x: real[n])\n    y += abs(x[0]) + abs(x[1]) + abs(x[2]) + abs(x[3]) + abs(x[4])\nend\n' >kinks.rasm
kinks='tangent *along x *skipped *(nothing to compare with: `x` is at a point without a derivative)'
expect 0 "$kinks*no derivative by \`x[[]4]\` at kinks.rasm:2" rvm check kinks.rasm x=[0,0,0,0,0]
expect 0 "$kinks" rvm check kinks.rasm x=[0,0,0,0,1]
expect 0 '8 of 8 checks passed' rvm check kinks.rasm x=[1,1,1,1,1]

# entries that are not linear in what they are asked along, where the pattern misses none
printf 'fn big(y: real, x: real)\n    let t = x * 1e200\n    y += t * 1.9e108\nend\n' >big.rasm
expect 1 'big.rasm:1:4: error: the entries of row `y` cannot be right: *[[]CHECK]' rvm jac big.rasm --pattern '[[1]]' x=1e-300
expect 1 'big.rasm:1:4: error: the entries of column `x` cannot be right: *[[]CHECK]' rvm jac big.rasm --pattern '[[1]]' x=1e-300 --method adjoint

expect 0 'by sweep: 1 sweep, *; by hvp: * instructions' rvm hess norm.rasm --of out x=[3,4] --stats
expect 0 'by hvp: 2 tangent runs, *; by sweep: * instructions, * entry updates' rvm hess norm.rasm --of out x=[3,4] --stats --method hvp
printf "fn sq(y: real, x: real)\n    y += x ^ 3\nend\nfn sq'adj(y: real, y_b: real, x: real, x_b: real)\n" >byhand.rasm
printf '    x_b += 3 * y_b * x ^ 2\n    y -= x ^ 3\nend\nfn f(out: real, x: real)\n    call sq(out, x)\nend\n' >>byhand.rasm
expect 0 'by hvp: 1 tangent run, * instructions
program' rvm hess byhand.rasm f --of out x=2 --stats # only that goes through a derivative by hand
expect_not 0 'by hvp: *by hvp' rvm hess byhand.rasm f --of out x=2 --stats
expect 0 '"method":"hvp",*"other":null,"otherwise":0' rvm hess byhand.rasm f --of out x=2 --json
expect 0 'd2 out / d x d x = [[][[]0.128, -0.09*], [[]-0.09*, 0.07*]]' rvm hess norm.rasm --of out x=[3,4] --method hvp
expect 0 'd (d out / d x) = [[]0.12*, -0.09*]' rvm hvp norm.rasm --of out x=[3,4] --dot 'x[0]=1'
printf 'fn counted(y: real, x: real, n: i64[k])\n    y += x * n[0]\nend\n' >counted.rasm
expect 0 'd out = 0.8*d x = [[]0, 1]' rvm jvp norm.rasm x=[3,4] --dot 'x[1]=1'
expect 0 'y_b = [[]0, 2]' rvm vjp two.rasm scale x=[1,2] a=3 k=0 --seed 'y[1]=2'
expect 1 'index 2 is outside' rvm jvp norm.rasm x=[3,4] --dot 'x[2]=1'
expect 1 'norm.rasm:1:4: error: x: the value does not have the dimensions' rvm jvp norm.rasm x=[3,4] --dot 'x[1]=[1]'
expect 2 '`n` is i64' rvm jvp counted.rasm x=1 n=[1] --dot 'n[0]=1'
expect 0 'd (d out / d x) = [[]0.12*, -0.09*]' rvm hvp norm.rasm --of out x=[3,4] --dot x=[1,0]
expect 0 '"product":{"out":{"x":[[]0.12*,-0.09*]}}' rvm hvp norm.rasm --of out x=[3,4] --dot x=[1,0] --json
# the shadows of a derived function are 0 where not given; what the function has itself must be
cat >shadow.rasm <<'EOF'
fn f(x: real, x_b: real[n])
    x *= x_b[0]
end
EOF
expect 0 'x_b_d = [[]0]*' rvm run shadow.rasm "f'tan" x=2 x_b=[3] x_d=1
expect 0 'x_b2_d = 0*' rvm run shadow.rasm "f'grad'tan" x=2 x_b=[3] x_b2=1
expect 2 'the argument `x_b: f64[[]n]` is missing' rvm run shadow.rasm "f'grad" x=2 x_b2=1
expect 2 'the argument `x: f64` is missing' rvm run shadow.rasm "f'grad" x_b=[3]
expect 2 'dot NAME=VALUE is missing' rvm hvp norm.rasm --of out x=[3,4]

cat >turned.rasm <<'TEXT'
fn turned(out: real, z: complex)
    out += abs(z * z)
end
TEXT
expect 0 'd out / d z.im = 8' rvm jac turned.rasm --of out --wrt z z=3+4i
expect 0 'd (d out / d z.re) = 2' rvm hvp turned.rasm --of out z=3+4i --dot z.re=1

# programs
expect 3 'wrong.rasm:2:' rasm wrong.rasm
expect 3 '"ok":false*"file":"wrong.rasm","line":2' rasm wrong.rasm --json
expect 0 '' rasm norm.rasm
expect 0 'out = 5' rvm run norm.rbc x=[3,4]
expect 0 'sqrt' rasm norm.rasm --listing
expect 0 'fn norm(out: accumulate f64, x: read f64[[]n])' rvm info norm.rbc
expect 0 'verified' rvm verify norm.rbc
expect 0 '"verified":true' rvm verify norm.rbc --json
cp wrong.rasm 'a\b"c.rasm'
expect 3 '"file":"a\\\\b\\"c.rasm"' rasm 'a\b"c.rasm' --json
surrogate=$(printf 'a\355\240\200\303\244.rasm') # what UTF-8 does not have, and what it has
cp wrong.rasm "$surrogate"
expect 3 '"file":"a\\ufffd\\ufffd\\ufffd'"$(printf '\303\244')"'.rasm"' rasm "$surrogate" --json
expect 0 'add.sqrt' rvm dis norm.rbc norm
head -c 100 norm.rbc >cut.rbc
expect 3 'cut.rbc' rvm verify cut.rbc
expect 3 'none.rasm' rvm run none.rasm

# native code, which says what the interpreter says; without LLVM it is the interpreter
expect 2 'is interp, jit, cuda or auto, not `fast`' rvm run norm.rasm x=[3,4] --engine=fast
expect 2 'no processor `z80` is known here, but native, generic' rvm run norm.rasm x=[3,4] --cpu z80
expect 2 'no processor `z80`' rvm run norm.rasm x=[3,4] --cpu z80 --engine interp
expect 2 'is ir, asm or ptx, not `C`' rvm run norm.rasm --dump=C
expect 2 'not with --json' rvm run norm.rasm --dump=ir --json
expect 2 'no option' rvm info norm.rasm --engine=jit
for how in '' --unchecked --trust --fast-math; do
    # shellcheck disable=SC2086 # no option is none
    {
        expect 0 'out = 5*x = [[]3, 4]' rvm run norm.rasm x=[3,4] --engine=jit $how
        expect 0 'out = 0*x = [[]3, 4]' rvm run norm.rasm out=5 x=[3,4] --backward --engine=jit $how
        expect 0 'out = 5*d out / d x = [[]0.6*, 0.8' rvm grad norm.rasm --of out x=[3,4] --engine=jit $how
        expect 0 'out = 5*out_b = 2*x_b = [[]1.2*, 1.6' rvm vjp norm.rasm --seed out=2 x=[3,4] --engine=jit $how
        expect 0 'out = 5*d out = 0.6*d x = [[]1, 0]' rvm jvp norm.rasm --dot x=[1,0] x=[3,4] --engine=jit $how
    }
done
expect 0 'taken back' rvm grad norm.rasm --of out x=[3,4] --undo --engine=jit
expect 1 'two.rasm:8:5: error: *the inputs are restored' rvm run two.rasm leak x=3 --engine=jit
cat >over.rasm <<'TEXT'
fn over(y: real, x: real)
    set y = sin(y) * x
    set y = y * x
end
TEXT
expect 0 'd y / d x = 5.45' rvm grad over.rasm --of y y=2 x=3 --engine=jit
RVM_LLVM_MODULE=/none && export RVM_LLVM_MODULE
expect 0 'interpreted: *cannot be opened: /none*out = 5' rvm run norm.rasm x=[3,4] --engine=jit --verbose
expect 0 'out = 5' rvm run norm.rasm x=[3,4] --engine=jit
expect 2 '/none*UNSUPPORTED' rvm run norm.rasm --dump=ir
unset RVM_LLVM_MODULE
if rvm run norm.rasm --dump=ir >dump 2>&1; then
    cache=--cache=$work/cache
    expect 0 'norm, forward, for n=2: *bytes of native code; *ms: lowering*out = 5' rvm run norm.rasm x=[3,4] --engine=jit --verbose "$cache"
    expect 0 'norm, forward, for n=2: *bytes of native code from the cache; *ms*out = 5' rvm run norm.rasm x=[3,4] --engine=jit --verbose "$cache"
    for entry in cache/*; do printf x >>"$entry"; done
    expect 0 'the cache: *damaged*norm, forward, for n=2: *lowering*out = 5' rvm run norm.rasm x=[3,4] --engine=jit --verbose "$cache"
    expect 0 'the cache: *Not a directory*norm, forward, for n=2: *lowering*out = 5' rvm run norm.rasm x=[3,4] --engine=jit --verbose --cache /dev/null/x
    expect 0 'norm, forward: *lowering*out = 5' rvm run norm.rasm x=[3,4] --engine=jit --verbose --any-lengths --cache off
    expect 0 "norm'adj, forward, for n=2: *d out / d x" rvm grad norm.rasm --of out x=[3,4] --engine=jit --verbose
    cat >lanes.rasm <<'END'
fn kept(y: real[n], x: real[n])
    parallel i in 0..n
        set y[i] = x[i]
    end
end
fn named(y: real[n], p: i64[n])
    parallel i in 0..n
        for k in 0..2
            y[p[i]] *= 2
        end
    end
end
END
    expect 0 'not in lanes: *: it leaves something on a trail that is kept (--trail off, RVM_TRAIL_OFF)' rvm run lanes.rasm kept y=[0,0] x=[1,2] --engine=jit --verbose
    expect 0 'not in lanes: *: its roles are enforced while it runs' rvm run lanes.rasm named y=[0,0] p=[1,0] --engine=jit --verbose
    expect 0 "over'grad, forward: " rvm grad over.rasm --of y y=2 x=3 --engine=jit --verbose
    expect 0 'norm, forward, for n=2: *bytes of native code*2 add.sqr' rvm run norm.rasm x=[3,4] --engine=jit --profile --verbose
    expect 0 'norm, forward, for n=2: *18 instructions: 3 forward, 8 compute, 7 undo' rvm profile norm.rasm x=[3,4] --engine=jit --verbose
    expect 0 'undo      down     f64   re      sub.sqr' rvm profile norm.rasm x=[3,4] --engine=jit
    expect 0 'define *@norm.*fadd' rvm run norm.rasm --dump=ir
    expect 0 '.globl*norm.' rvm run norm.rasm --dump=asm --backward
    expect 0 "norm'grad*define" rvm grad norm.rasm --of out --dump=ir
    expect 2 'no parameter `z`' rvm grad norm.rasm --of z --dump=ir
else
    echo "skipped, native code: $(cat dump)"
fi

# profiles of gradients natively are those of the interpreter
rvm profile norm.rasm x=[3,4] --of out --format csv | sort >interpreted.csv
rvm profile norm.rasm x=[3,4] --of out --format csv --engine=jit | sort >natively.csv
expect 0 '' cmp interpreted.csv natively.csv

# profiles, in every format
expect 0 'norm: 1? instructions: * forward, * compute, * undo*norm.rasm*out += sqrt(ss)' rvm profile norm.rasm x=[3,4]
expect 0 'norm, then its sweep: * swept*' rvm profile norm.rasm x=[3,4] --of out
expect 0 'norm, backward: * backward*' rvm profile norm.rasm x=[3,4] out=5 --backward
expect 0 'mnemonic,row,type,operands,places,direction,mode,tangents,count*add,sqr,f64,f64,re,up,compute,0,2' rvm profile norm.rasm x=[3,4] --format csv
expect 0 'switched: of [0-9]* bits written to registers 0.[0-9]*' rvm profile norm.rasm x=[3,4] --activity
expect 0 'tangents,count,register_bits,register_flips,memory_bits,memory_flips' rvm profile norm.rasm x=[3,4] --activity --format csv
expect 0 'forward;norm [0-9]*compute;norm' rvm profile norm.rasm x=[3,4] --format folded
expect 0 '"ok":true*"kinds":*"mnemonic":"add","row":"sqr"*"memory":*"erased":' rvm profile norm.rasm x=[3,4] --json
expect 0 'speedscope.app*"frames":*"norm"*"weights":' rvm profile norm.rasm x=[3,4] --format speedscope
expect 0 "*instructions*mode*compute*norm.rasm" rvm profile norm.rasm x=[3,4] --format pprof
expect 0 'events: instructions forward compute undo*fn=norm*' rvm profile norm.rasm x=[3,4] --format callgrind
printf 'fn hides(y: f64, x: f64)\n    compute\n        let t = x * x\n    do\n        y += t\n    forget\nend\n' >hides.rasm
expect 0 'erased: 64 bits: 0 by the trail, 0 of shadows, 0 left on the stack, 64 forgotten' rvm profile hides.rasm y=0 x=3
expect 0 '"erased":{"bits":64,"trail":0,"shadows":0,"stack":0,"forgotten":64}' rvm profile hides.rasm y=0 x=3 --json
expect 1 'half*up to an error: *RELEASE' rvm profile two.rasm half x=3
expect 2 'format is text, json, csv' rvm profile norm.rasm x=[3,4] --format xml
expect 2 'is the run back to be counted' rvm profile norm.rasm x=[3,4] --backward --of out
expect 2 'is the program itself' rvm profile norm.rasm x=[3,4] -o norm.rasm
expect 0 '' rvm profile norm.rasm x=[3,4] --format callgrind -o norm.callgrind
if command -v callgrind_annotate >/dev/null; then
    expect 0 'Events*norm' callgrind_annotate norm.callgrind
fi

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

# the picture of a function
expect 0 '"dots":5,"boxes":6,"regions":2' rvm graph norm.rasm --json -o norm.svg
expect 0 '<svg' cat norm.svg
expect 0 'class="value"*>25<' rvm graph norm.rasm norm 'x=[3,4]' --values
printf 'fn f(out: real, x: real)\n    out += sqrt(x + 7)\nend\nfn twice(y: real, x: real)\n    call f(y, x)\nend\n' >temporary.rasm
expect 0 'class="value"*>16<*class="value"*>4<' rvm graph temporary.rasm f x=9 --values
expect 0 'class="value"*>4<' rvm graph temporary.rasm twice x=9 --values
expect 0 'ss += x' rvm graph norm.rasm --statements
expect 0 'digraph "norm"*[label="ss"]' rvm graph norm.rasm --dot
expect 2 'values are for --values' rvm graph norm.rasm norm 'x=[3,4]'
expect 2 'json needs -o FILE' rvm graph norm.rasm --json
expect 4 'which is the limit (--fuel)' rvm graph norm.rasm norm 'x=[3,4]' --values --fuel 3
expect 3 'No such file' rvm graph norm.rasm -o no/such/folder/norm.svg

cat >loops.rasm <<'TEXT'
fn loops(out: real, x: real[n], k: i64)
    for t in 0..k
        for i in 0..n
            set x[i] = sin(x[i])
        end
    end
    parallel i in 0..n
        for t in 0..k
            set x[i] = cos(x[i])
        end
    end
    out += x[0]
    drop x
end
TEXT
expect 0 'loops.rasm:8 keeps the trail of its trips: it stands in a parallel block*d out / d x' rvm grad loops.rasm --of out 'x=[1,2]' k=9 --checkpoints 2
cat >until.rasm <<'E'
fn f(out: real, x: real, n: i64)
    let k: i64 = 0 -> n
    let s: real = x -> x
    from k == 0
        set s = sin(s) + x
        k += 1
        out += s
    until k == n
    set s = x
end
E
expect 0 'until.rasm:4 keeps the trail of its trips: it ends by `until`, within a trip*d out / d x' rvm grad until.rasm --of out --wrt x x=0.3 n=30 --checkpoints 4
printf 'fn f(y: real, x: real)\n    y += x * x / 3\nend\n' >nan.rasm
expect 1 'disappears with a tangent that is nan, which agrees with nothing' rvm jvp nan.rasm x=inf --dot x=0
# what going back computes anew has other bits by other functions: such a record is refused
printf 'fn f(y: real, x: real)\n    y += sin(x) * log(x)\nend\n' >functions.rasm
expect 0 'y = ' rvm run functions.rasm x=3 --math libm --save-record functions.rec --save-all functions.npz
expect 0 'y = 0' rvm run functions.rasm @functions.npz --math libm --backward --record functions.rec
if rvm run functions.rasm x=3 --math sleef -q 2>/dev/null; then
    expect 2 'functions.rec: error: the record is of a run with other elementary functions than sleef has them here' \
        rvm run functions.rasm @functions.npz --math sleef --backward --record functions.rec
fi
# a rule that does not take f back is named, and nothing is run again
printf "fn f(y: real, x: real)\n    y += x ^ 2\nend\nfn f'adj(y: real, y_b: real, x: real, x_b: real)\n    x_b += 2 * x * y_b\nend\n" >kept.rasm
expect 1 "came back as 9, since \`f'adj\`, written by hand at line 4, does not take it back" rvm grad kept.rasm f --of y x=3
expect_not 1 'run again' rvm grad kept.rasm f --of y x=3
expect 1 'takes f back itself, by `uncall f' rvm grad kept.rasm f --of y x=3
# of several in what is called, none is named, since either may be the one
{
    cat kept.rasm
    printf "fn g(y: real, x: real)\n    y += 3 * x\nend\nfn g'adj(y: real, y_b: real, x: real, x_b: real)\n    x_b += 3 * y_b\n"
    printf "    uncall g(y, x)\nend\nfn both(y: real, x: real)\n    call g(y, x)\n    call f(y, x)\nend\n"
} >either.rasm
expect 1 'since an adjoint written by hand does not take it back' rvm grad either.rasm both --of y x=3
# what is written for the other kind alone takes no part, which is said
expect 0 "note: a derivative is written by hand for sweeps alone (f'adj): tangents go by the code" \
    rvm jvp kept.rasm f x=3 --dot x=1
# a derivative that is written one way only chooses the way of a Jacobian
printf 'fn step(y: real[3], x: real[3])\n    for k in 0..3\n        y[k] += floor(x[k])\n    end\nend\n' >step.rasm
printf "fn step'adj(y: real[3], y_b: real[3], x: real[3], x_b: real[3])\n    for k in 0..3\n        x_b[k] += y_b[k]\n    end\n" >sweep.rasm
printf '    uncall step(y, x)\nend\n' >>sweep.rasm
printf "fn step'tan(y: real[3], y_d: real[3], x: real[3], x_d: real[3])\n    call step(y, x)\n    for k in 0..3\n" >tangent.rasm
printf '        y_d[k] += x_d[k]\n    end\nend\n' >>tangent.rasm
cat step.rasm sweep.rasm >sweep-step.rasm
cat step.rasm tangent.rasm >tangent-step.rasm
expect 0 'd y / d x = ??1, 0, 0?, ?0, 1, 0?, ?0, 0, 1??' rvm jac sweep-step.rasm step --of y --wrt x 'x=[1.5,2.5,3.5]'
expect 0 'd y?2? / d x?2? = 1' rvm jac sweep-step.rasm step --of y --wrt x 'x=[1.5,2.5,3.5]' '--pattern=[[1,0,0],[0,1,0],[0,0,1]]'
expect 0 'd y?1? / d x = ?0, 1, 0?' rvm jac tangent-step.rasm step --of 'y[1]' --wrt x 'x=[1.5,2.5,3.5]'
expect 0 'sweeps go by the code' rvm grad tangent-step.rasm step --of 'y[1]' --wrt x 'x=[1.5,2.5,3.5]'
expect 0 'd y?1? / d x?1? = 1' rvm jac tangent-step.rasm step --of 'y[1]' --wrt x 'x=[1.5,2.5,3.5]' '--pattern=[[1,1,1]]'
expect_not 0 'loops.rasm:2' rvm grad loops.rasm --of out 'x=[1,2]' k=9 --checkpoints 2
expect 2 'keeps S states of a loop, from 1 to' rvm grad loops.rasm --of out 'x=[1,2]' k=9 --checkpoints 0
expect 2 'does not go with --exact' rvm grad loops.rasm --of out 'x=[1,2]' k=9 --checkpoints 2 --exact
expect 0 'no loop that --checkpoints' rvm grad norm.rasm --of out 'x=[3,4]' --checkpoints 2
expect 4 'LIMIT' rvm grad loops.rasm --of out 'x=[1,2]' k=999 --checkpoints 9 --trail-limit 300
expect 2 'or auto, not `many`' rvm grad loops.rasm --of out 'x=[1,2]' k=9 --checkpoints many
cat >march.rasm <<'TEXT'
fn march(out: real, x: real[n], more: i64, k: i64)
    let c: i64
    for t in 0..k
        for i in 1..n - 1
            set x[i] = x[i] + 0.1 * (x[i - 1] - 2 * x[i] + x[i + 1])
        end
        for e in 0..more
            swap x[0], x[n - 1]
        end
    end
    out += x[1]
end
fn until(out: real, x: real[n], more: i64, k: i64)
    let t = 0
    from t == 0 while t < k
        for i in 1..n - 1
            set x[i] = x[i] + 0.1 * (x[i - 1] - 2 * x[i] + x[i + 1])
        end
        for e in 0..more
            swap x[0], x[n - 1]
        end
        t += 1
    end
    out += x[1]
    drop t
end
TEXT
# Trips that are repeated: a swap more in each takes four instructions, in a trip that is before its adjoint, too, and five in that.
broken() { failures=$((failures + 1)); echo "FAILED: $*"; }
swept() { rvm grad march.rasm "$1" --of out --wrt x out=0 'x=[0,1,2,1]' "more=$2" k=10000 --checkpoints 8 --engine interp --stats | sed -n 's/.*backward, \([0-9]*\) in the sweep.*/\1/p'; }
marches=$(rvm schedule --by revolve:8 -n 10000 | sed -n 's/.*evaluations  *\([0-9]*\) advances.*/\1/p')
repeated() { echo $((($(swept "$1" 2) - $(swept "$1" 1) - 9 * 10000) / 4)); }
[ "$marches" = 68560 ] && [ "$(repeated march)" = "$marches" ] || broken "trips are repeated $(repeated march) times, not $marches"
[ "$(repeated until)" = 69158 ] || broken "trips until an end that is not known are repeated $(repeated until) times, not 69158"
# A trail beyond its limit: from snapshots, by itself; on disk; and what a killed run left there.
expect 0 'loops ran again from snapshots' rvm grad march.rasm march --of out 'x=[0,1,2,1]' more=0 k=5000 --trail-limit 20k
expect 0 'loops ran again from snapshots' rvm grad march.rasm until --of out 'x=[0,1,2,1]' more=0 k=5000 --trail-limit 20k
# The least limit is named, and is the least; by itself, too.
least() {
    least=$(rvm grad march.rasm "$@" --of out 'x=[0,1,2,1]' more=0 --trail-limit 60 2>&1 | sed -n 's/.*limit of 60 bytes; \([0-9]*\) would do .*/\1/p')
    expect 0 'd out / d x' rvm grad march.rasm "$@" --of out 'x=[0,1,2,1]' more=0 --trail-limit "$least"
    expect 4 "; $least would do \[LIMIT" rvm grad march.rasm "$@" --of out 'x=[0,1,2,1]' more=0 --trail-limit $((least - 1))
}
least march k=300
least march k=300 --checkpoints 7
least until k=300 --checkpoints 7 --engine interp
expect 4 '; it takes no less than [0-9]* \[LIMIT' rvm grad march.rasm march --of out 'x=[0,1,2,1]' more=0 k=15000 --trail-limit 60
expect 0 'd out / d x' rvm grad march.rasm march --of out 'x=[0,1,2,1]' more=0 k=500 --checkpoints auto
mkdir snapshots
: >snapshots/rvm-1-1-0.lock
echo left >snapshots/rvm-1-1-0-7.trail
echo mine >snapshots/other
expect 0 'd out / d x' rvm grad march.rasm march --of out 'x=ones(400)' more=0 k=60 --checkpoints 20 --checkpoint-dir snapshots --trail-limit 20k
[ "$(ls snapshots)" = other ] || broken "files are left: $(ls snapshots)"
expect 3 'No such file' rvm grad march.rasm march --of out 'x=ones(400)' more=0 k=60 --checkpoints 20 --checkpoint-dir no/folder --trail-limit 20k
(trap '' XFSZ; ulimit -f 4; rvm grad march.rasm march --of out 'x=ones(400)' more=0 k=60 --checkpoints 20 --checkpoint-dir snapshots --trail-limit 20k --cache off --engine interp) >full.txt 2>&1
[ $? = 3 ] && grep -q 'File too large' full.txt || broken "a full disk: $(cat full.txt)"
[ "$(ls snapshots)" = other ] || broken "files are left: $(ls snapshots)"
for c in run grad jvp check debug dis graph verify info; do expect 0 'usage: rvm' rvm $c --help; done
expect 0 'rvm 0' rvm --version
expect 0 'rasm 0' rasm --version
# an lns is printed by the elementary functions that its logarithm is from
printf 'fn f(n: i64)\n    let y: lns = 22.5\n    print y\nend\n' >logarithm.rasm
expect 0 '22.5
n = 0' rvm run logarithm.rasm n=0 --math libm
expect 0 '22.5
n = 0' rvm run logarithm.rasm n=0

finish
