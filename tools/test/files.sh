#!/bin/sh
# What the commands promise of files: what they read exactly or refuse, and that nothing is lost. files.sh FOLDER_OF_BINARIES
. "$(dirname "$0")/expect.sh"

cat >types.rasm <<'TEXT'
fn single(y: f32[n])
    for i in 0..n
        y[i] += 0.0
    end
end
fn fixed(y: fix[n])
    for i in 0..n
        y[i] += 0.0
    end
end
fn double(y: f64[n])
    for i in 0..n
        y[i] += 0.0
    end
end
fn whole(k: i64[n])
    for i in 0..n
        k[i] += 0
    end
end
fn one(x: real, k: i64, y: real[1], A: real[2, 2])
    x += 0.0
    k += 0
    neg y[0]
    neg A[0, 0]
end
fn scale(y: real[n], x: real[n], a: real)
    for i in 0..n
        y[i] += a * x[i]
    end
end
TEXT
# header TEXT: of an array file as NumPy writes it, in version 1
header() { printf '\223NUMPY\001\000v\000%-117s\n' "$1"; }
# npy FILE DESCR SHAPE BYTES [ORDER]
npy() {
    header "{'descr': '$2', 'fortran_order': ${5-False}, 'shape': $3, }" >"$1"
    # shellcheck disable=SC2059 # escapes
    printf "$4" >>"$1"
}

# an element is what the file says, exactly, or the file is refused
npy d.npy '<f8' '(2,)' '\0\0\0\0\0\0\360\077\232\231\231\231\231\231\271\077' # 1, 0.1
npy h.npy '<f8' '(1,)' '\234\165\0\210\074\344\067\176'                       # 1e300
npy n.npy '<f8' '(2,)' '\0\0\0\0\0\0\370\177\0\0\0\0\0\0\360\377'             # nan, -inf
expect 0 'y = [[]1, 0.1]' rvm run types.rasm double y=@d.npy
expect 2 'd.npy: error: y: element [[]1] is 0.1, which an f32 does not hold exactly; saved as float32' rvm run types.rasm single y=@d.npy
expect 2 'd.npy: error: y: element [[]1] is 0.1, which a fix does not hold exactly' rvm run types.rasm fixed y=@d.npy
expect 2 'h.npy: error: y: element [[]0] is 1e+300, which an f32 does not hold' rvm run types.rasm single y=@h.npy
expect 2 'h.npy: error: y: element [[]0] is 1e+300, which a fix does not hold' rvm run types.rasm fixed y=@h.npy
expect 0 'y = [[]nan, -inf]' rvm run types.rasm single y=@n.npy
expect 2 'element [[]0] is nan, which a fix' rvm run types.rasm fixed y=@n.npy
npy i.npy '<i8' '(2,)' '\001\0\0\0\0\0\040\0\001\0\0\0\0\0\0\200' # 2^53 + 1, -2^63 + 1
npy u.npy '>u8' '(1,)' '\377\377\377\377\377\377\377\377'         # 2^64 - 1
npy s.npy '<i2' '(2,)' '\0\200\377\377'                           # -32768, -1
npy b.npy '|b1' '(2,)' '\001\0'
npy c.npy '|b1' '(2,)' '\001\002'
expect 0 'k = [[]9007199254740993, -9223372036854775807]' rvm run types.rasm whole k=@i.npy
expect 2 'i.npy: error: y: element [[]0] is 9007199254740993, which an f64 does not hold exactly' rvm run types.rasm double y=@i.npy
expect 2 'u.npy: error: k: element [[]0] is 18446744073709551615, which an i64 does not hold' rvm run types.rasm whole k=@u.npy
expect 0 'k = [[]-32768, -1]' rvm run types.rasm whole k=@s.npy
expect 0 'y = [[]-32768, -1]' rvm run types.rasm fixed y=@s.npy
# Rounded once: a long double holds neither, and both would look like halves of a unit.
expect 0 'y = [[]647784.2736713509956, -917047.3948541657284]' \
    rvm run types.rasm fixed 'y=[647784.2736713509956,-917047.3948541657284]'
expect 0 'k = [[]1, 0]' rvm run types.rasm whole k=@b.npy
expect 0 'y = [[]1, 0]' rvm run types.rasm double y=@b.npy
expect 3 'c.npy: error: y: holds booleans, and the byte of one is 2' rvm run types.rasm double y=@c.npy
expect 3 'holds elements of type `<f8`, which are not exactly i64' rvm run types.rasm whole k=@d.npy
npy f.npy '<f8' '(2, 2)' '\0\0\0\0\0\0\360\077\232\231\231\231\231\231\271\077\0\0\0\0\0\0\360\077\0\0\0\0\0\0\360\077' True
npy zero.npy '<f8' '()' '\0\0\0\0\0\0\360\077'
npy one.npy '<i4' '(1,)' '\005\0\0\0'
expect 0 'A = [[][[]-1, 1], [[]0.1, 1]]' rvm run types.rasm one x=@zero.npy k=@one.npy y=@zero.npy A=@f.npy
expect 2 'A: element [[]1, 0] is 0.1, which an f32' rvm run types.rasm one --real f32 x=@zero.npy k=@one.npy y=@zero.npy A=@f.npy

# sizes are weighed before memory is taken
npy huge.npy '<f8' '(4611686018427387904, 4)' ''
npy large.npy '<f8' '(1000000000000,)' '\0\0\0\0\0\0\0\0'
expect 3 'error: y: not an array file of NumPy: it begins otherwise' rvm run types.rasm double y=@/dev/zero
expect 3 'huge.npy: error: A: its header promises the shape (4611686018427387904, 4): more elements than memory has addresses for' rvm run types.rasm one x=0 k=0 y=[1] A=@huge.npy
expect 3 'is cut off: its header promises 1000000000000 elements, 8 bytes are there' rvm run types.rasm double y=@large.npy
expect 4 'error: y: 1000000000000 elements take 8000000000000 bytes, and of the limit of 1048576 (--memory)' sh -c \
    "mkfifo pipe; cat large.npy >pipe & '$bin/rvm' run types.rasm double y=@pipe --memory 1M"
expect 4 'x: 100 elements take 800 bytes, and of the limit of 1024 (--memory) there are 224 left' \
    rvm run types.rasm scale y=zeros\(100\) x=ones\(100\) a=1 --memory 1k
expect 1 'an array of 4611686018427387904 by 4 has more elements than memory' rvm run types.rasm one x=0 k=0 y=[1] 'A=zeros(4611686018427387904,4)'
expect 1 'has length 2 in dimension 1, and 1 is wanted' rvm run types.rasm one x=0 k=0 y=@d.npy A=@f.npy
header "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)" >open.npy
expect 3 'its header has no end' rvm run types.rasm double y=@open.npy
header "{'descr': '<f8" >open.npy
expect 3 'its header has no end' rvm run types.rasm double y=@open.npy
printf '\223NUMPY\002\000\377\377\377\377' >open.npy
expect 3 'it is cut off within its header' rvm run types.rasm double y=@open.npy

# what could not be saved is shown, and the rest is saved
expect 3 'y = [[]2, 4]*cannot write' rvm run types.rasm scale x=[1,2] a=2 --save y=none/y.npy
expect 3 '"ok":false,"error":*"code":"IO"*"values":{"y":[[]2,4]' rvm run types.rasm scale x=[1,2] a=2 --save y=none/y.npy --json
expect 3 'd y[[]0] / d x = [[]2, 0]' rvm grad types.rasm scale --of y[0] --wrt x x=[1,2] a=2 --save x_b=none/x.npy
expect 3 '"gradients":{"x":[[]2,0]}' rvm grad types.rasm scale --of y[0] --wrt x x=[1,2] a=2 --save x_b=none/x.npy --json
expect 3 'd a = 1' rvm jvp types.rasm scale x=[1,2] a=2 --dot a=1 --save x_d=none/x.npy
expect 3 'a_b = 1' rvm vjp types.rasm scale x=[1,2] a=2 --seed y[0]=1 --save x_b=none/x.npy
expect 3 'd y / d a = [[]1, 2]' rvm jac types.rasm scale --wrt a x=[1,2] a=2 -o none/J.npy
expect 3 'cannot write' rvm run types.rasm scale x=[1,2] a=2 --save y=none/y.npy --save x=saved.npy
expect 0 'y = [[]1, 2]' rvm run types.rasm double y=@saved.npy

# no file is lost to another
expect 2 '`s1.npy` and `./s1.npy` are one file' rvm run types.rasm scale x=[1,2] a=2 --save x=s1.npy --save y=./s1.npy
expect 2 '`-` is no file to write to' rvm run types.rasm scale x=[1,2] a=2 --save x=-
expect 2 '`-` is no file to write to' rvm run types.rasm scale x=[1,2] a=2 --save-all -
expect 1 '' test -e s1.npy
ln -s saved.npy link.npy
expect 2 '`link.npy` is read, too, by x' rvm run types.rasm scale x=@saved.npy a=2 --save y=link.npy
expect 2 '`saved.npy` is read, too' rvm jvp types.rasm scale x=[1,2] a=2 --dot x=@saved.npy --save y=saved.npy
expect 2 '`k.o` and `k.o` are one file' rvm compile types.rasm scale -o k.o --header k.o
expect 0 'y = [[]1, 2]' rvm run types.rasm double y=@saved.npy

# a derivative's direction is given once
expect 2 '--dot gives the tangent of `x[[]0]` twice' rvm jvp types.rasm scale x=[1,2] a=2 --dot x=[1,0] --dot x=[0,1]
expect 2 '--dot gives the tangent of `x[[]1]` twice' rvm jvp types.rasm scale x=[1,2] a=2 --dot x=[1,0] --dot x[1]=2
expect 2 '--seed gives the weight of `y[[]1]` twice' rvm vjp types.rasm scale x=[1,2] a=2 --seed y[1]=1 --seed y=[1,0]
expect 0 'd x = [[]1, 2]' rvm jvp types.rasm scale x=[1,2] a=2 --dot x[0]=1 --dot x[1]=2
# archives: data/*.npz are as NumPy's savez and savez_compressed write them, with sizes of 64 bits
data=$here/data
cat >z.rasm <<'TEXT'
fn dot(y: complex, a: complex[n], s: lns, k: i64, f: fix)
    for i in 0..n
        y += a[i]
    end
    s *= 2.0
    k += 1
    f += 1.0
end
TEXT
for kind in stored packed; do
    expect 0 'y = [[]6, 8]' rvm run types.rasm scale "@$data/$kind.npz"
    expect 0 'y = [[]7, 9]' rvm run types.rasm scale y=[1,1] "@$data/$kind.npz"
    expect 2 "\`x\` is given twice" rvm run types.rasm scale x=[1,1] "@$data/$kind.npz"
    expect 2 "$kind.npz:x.npy: error: there is no parameter \`x\`" rvm run types.rasm double "@$data/$kind.npz"
    expect 1 "$kind.npz:x.npy: error: has 1 dimension, and 0 are wanted" rvm run types.rasm one "@$data/$kind.npz"
    expect 4 'of the limit of 10 (--memory)' rvm run types.rasm scale "@$data/$kind.npz" --memory 10
done
expect 0 'y = [[]6, 8]' rvm run types.rasm scale "@$data/packed.npz" --save-all all.npz
expect 0 'y = [[]0, 0]' rvm run types.rasm scale @all.npz --backward
expect 0 'y = 3+1i' rvm run z.rasm dot 'a=[1+i,2]' s=3 k=2 f=0.5 --save-all z.npz
expect 0 'y = 0+0i*s = 2.9999999999999996*k = 2*f = 0.5' rvm run z.rasm dot @z.npz --backward
expect 0 '' rvm grad types.rasm scale --of y[0] x=[1,2] a=3 --save-all g.npz
expect 0 'x_b = [[]6, 0]*a_b = 2' rvm run types.rasm "scale'adj" @g.npz
# what `grad`, `vjp` and `jvp` add to an archive is skipped by who has no use for it; no other name is
expect 0 'y = [[]6, 12]' rvm run types.rasm scale @g.npz
expect 0 '' rvm jvp types.rasm scale x=[1,2] a=3 --dot a=1 --save-all d.npz
expect 0 'y = [[]6, 12]' rvm run types.rasm scale @d.npz
for name in log_b k.c_b y.log; do
    LC_ALL=C sed "s/s[.]log/$name/g" z.npz >other.npz
    expect 2 "other.npz:$name.npy: error: there is no parameter \`$name\`" rvm run z.rasm dot @other.npz
done
# from standard input, once
for kind in stored packed; do
    expect 0 'y = [[]6, 8]' sh -c "cat '$data/$kind.npz' | '$bin/rvm' run types.rasm scale @-"
    expect 0 'y = [[]6, 8]' sh -c "'$bin/rvm' run types.rasm scale @- <'$data/$kind.npz'"
done
expect 2 'standard input is read twice' sh -c "echo [1,1] | '$bin/rvm' run types.rasm scale y=@- @-"
expect 3 '<stdin>: error: not an archive of NumPy: it has no directory' rvm run types.rasm scale @-
expect 4 '<stdin>: error: is longer than 1048576 bytes' sh -c "yes | '$bin/rvm' run types.rasm scale @- --memory 1M"
expect 2 '`all.npz` is read, too' rvm run types.rasm scale @all.npz --save-all all.npz
expect 3 'it has no directory' rvm run types.rasm scale @d.npy
expect 3 'an archive is read from a file or, as @-, from standard input' rvm run types.rasm scale @/dev/null

# a damaged archive is refused or read, whatever is damaged: cuts, and bytes changed in three ways
sound() { # the status is one of the commands', no signal
    "$bin/rvm" run types.rasm scale "@$1" >output 2>&1 </dev/null
    [ $? -le 4 ] && return
    failures=$((failures + 1))
    cp "$1" "$2" && printf 'FAILED: %s\n' "$2" && cat output
}
for kind in stored packed; do
    size=$(wc -c <"$data/$kind.npz")
    i=0
    while [ $i -lt "$size" ]; do
        head -c $i "$data/$kind.npz" >bad.npz
        sound bad.npz "cut-$kind-$i"
        for byte in '\000' '\177' '\377'; do
            cp "$data/$kind.npz" bad.npz
            # shellcheck disable=SC2059 # escapes
            printf "$byte" | dd of=bad.npz bs=1 seek=$i conv=notrunc 2>/dev/null
            sound bad.npz "byte-$kind-$i"
        done
        i=$((i + 23))
    done
done

# records: an exact run comes back in another process
cat >fade.rasm <<'TEXT'
fn fade(x: real[n], k: i64)
    for i in 0..30
        x[0] *= 0.1
        x[1] += x[0]
    end
    while k < 9
        set k = k * 2 + 1
    end
    push k
end
fn twin(x: real[n], k: i64)
    neg x[0]
    k += 1
end
TEXT
expect_not 0 note: rvm run fade.rasm fade x=[3,0.1] k=2 --save-record fade.rec --save-all end.npz
expect 0 'x = [[]3, 0.1]
k = 2' rvm run fade.rasm fade @end.npz --backward --record fade.rec
expect 1 'hint: --exact --save-record FILE' rvm run fade.rasm fade @end.npz --backward
expect 2 'fade.rec: error: `x` is not what the recorded run has left there, to the last bit' \
    rvm run fade.rasm fade x=[3,4] k=0 --backward --record fade.rec
expect 1 'fade.rec: error: the record is of a run whose `x` has length 2 in dimension 1, not 3' \
    rvm run fade.rasm fade x=[3,4,5] k=0 --backward --record fade.rec
expect 2 'fade.rec: error: the record is of the function fade' rvm run fade.rasm twin @end.npz --backward --record fade.rec
expect 2 'fade.rec: error: the record is of a run with other checks' rvm run fade.rasm fade @end.npz --backward --record fade.rec --unchecked
sed 's/0\.1/0.2/' fade.rasm >fade2.rasm
expect 2 'fade.rec: error: the record is of another program' rvm run fade2.rasm fade @end.npz --backward --record fade.rec
head -c 100 fade.rec >cut.rec
expect 3 'cut.rec: error: the record is cut off' rvm run fade.rasm fade @end.npz --backward --record cut.rec
expect 3 'end.npz: error: this is no record' rvm run fade.rasm fade @end.npz --backward --record end.npz
expect 3 'cannot read' rvm run fade.rasm fade @end.npz --backward --record none.rec
expect 2 'give --backward' rvm run fade.rasm fade @end.npz --record fade.rec
expect 2 'not of one with --backward' rvm run fade.rasm fade @end.npz --backward --save-record more.rec
expect 2 'not with --trail off' rvm run fade.rasm fade x=[3,4] k=2 --trail off --save-record more.rec
expect 2 '`fade.rec` is read, too, by --record' rvm run fade.rasm fade @end.npz --backward --record fade.rec --save x=fade.rec

# standard input
expect 0 'y = [[]2, 4]' sh -c "echo '[1,2]' | '$bin/rvm' run types.rasm scale x=@- a=2"
expect 0 'y = [[]2, 0.2]' sh -c "'$bin/rvm' run types.rasm scale x=@- a=2 <d.npy"
expect 0 'a = 7' sh -c "echo 7 | '$bin/rvm' run types.rasm scale x=[1] a=@-"
expect 2 'standard input is read twice' sh -c "echo [7] | '$bin/rvm' run types.rasm scale x=@- a=@-"
expect 0 'y = [[]2, 4]' sh -c "'$bin/rvm' run - scale x=[1,2] a=2 <types.rasm"
expect 0 'wrote' sh -c "'$bin/rasm' - -o t.rbc <types.rasm && '$bin/rvm' run - scale x=[1,2] a=2 <t.rbc && echo wrote"
expect 2 'standard input is read twice' sh -c "'$bin/rvm' run - scale x=@- a=2 <types.rasm"
expect 2 -o sh -c "'$bin/rasm' - <types.rasm"
expect 3 '<stdin>:1:1: error: *
    nonsense
    ^' sh -c "echo nonsense | '$bin/rvm' run -"
expect 3 'x: is neither an array file of NumPy nor text' sh -c "printf '12345678\\000' | '$bin/rvm' run types.rasm scale x=@- a=2"
expect 4 'is longer than 1048576 bytes' sh -c "yes 1, | '$bin/rvm' run types.rasm scale x=@- a=2 --memory 1M"

# a file that does not say its size is read to its end
if [ -r /proc/self/comm ]; then expect 3 '/proc/self/comm:1:1: error: *
    rvm' rvm run /proc/self/comm; fi

# which results are printed
expect 0 'y = [[]2, 4]' rvm run types.rasm scale x=[1,2] a=2 --only y
expect_not 0 'x = ' rvm run types.rasm scale x=[1,2] a=2 --only y
expect_not 0 '=' rvm run types.rasm scale x=[1,2] a=2 --quiet --save y=quiet.npy
expect 0 'y = [[]2, 4]' rvm run types.rasm double y=@quiet.npy
expect 0 'd y[[]0] / d a = 1' rvm grad types.rasm scale --of y[0] x=[1,2] a=2 --only a_b
expect_not 0 'y = ' rvm grad types.rasm scale --of y[0] x=[1,2] a=2 --only a_b
expect 0 '"values":{},"gradients":{"a":1}' rvm grad types.rasm scale --of y[0] x=[1,2] a=2 --only a_b --json
expect 2 'there is no result `z`, but y, x, a [[]ARGUMENT]' rvm run types.rasm scale x=[1,2] a=2 --only y,z
expect 2 'there is no result `k_b`, but y, x, a, d y[[]0] / d y, d y[[]0] / d x, d y[[]0] / d a [[]' \
    rvm grad types.rasm scale --of y[0] x=[1,2] a=2 --only k_b
expect 0 'y = 3+1i' rvm run z.rasm dot 'a=[1+i,2]' s=3 k=2 f=0.5 --only y
# only_of NAMES OUTPUT COMMAND...: with --only NAMES it prints just this
only_of() {
    names=$1 wanted=$2
    shift 2
    expect 0 "<$wanted>" sh -c 'b=$1 n=$2; shift 2; echo "<$("$b" "$@" --only "$n")>"' sh "$bin/rvm" "$names" "$@"
}
only_of y_b 'd y[[]0] / d y = [[]1, 0]' grad types.rasm scale --of y[0] x=[1,2] a=2
only_of 'd y[0]/d a' 'd y[[]0] / d a = 1' grad types.rasm scale --of y[0] x=[1,2] a=2
only_of 'd a' 'd a = 3' jvp types.rasm scale x=[1,2] a=2 --dot a=3
only_of a_d 'd a = 3' jvp types.rasm scale x=[1,2] a=2 --dot a=3
only_of y_b 'y_b = [[]1, 0]' vjp types.rasm scale x=[1,2] a=2 --seed y[0]=1
for name in a_b a.re_b a.im_b; do only_of $name 'a_b = [[]1+0i]' vjp z.rasm dot a=[i] s=3 k=2 f=0.5 --seed y.re=1; done
for name in s s.log; do only_of $name 's = 6' run z.rasm dot a=[i] s=3 k=2 f=0.5; done
for name in y y.re y.im; do only_of $name 'y = 0+1i' run z.rasm dot a=[i] s=3 k=2 f=0.5; done
for name in s_b s.log_b; do only_of $name 's.log_b = 0' vjp z.rasm dot a=[i] s=3 k=2 f=0.5 --seed y.re=1; done
only_of 'd y / d a' 'd y / d a = [[]1, 2]' jac types.rasm scale x=[1,2] a=2
only_of jacobian 'd y / d x = [[][[]2, 0], [[]0, 2]]
d y / d a = [[]1, 2]' jac types.rasm scale x=[1,2] a=2
only_of y 'y = [[]2, 4]' jac types.rasm scale --wrt x x=[1,2] a=2 --pattern '[[1,0],[0,1]]'
only_of jacobian 'd y[[]0] / d x[[]0] = 2
d y[[]1] / d x[[]1] = 2' jac types.rasm scale --wrt x x=[1,2] a=2 --pattern '[[1,0],[0,1]]'
only_of 'd2 y[0] / d x d a' 'd2 y[[]0] / d x d a = [[]1, 0]' hess types.rasm scale --of y[0] x=[1,2] a=2
only_of x,product 'x = [[]1, 2]
d (d y[[]0] / d x) = [[]1, 0]
d (d y[[]0] / d a) = 0' hvp types.rasm scale --of y[0] x=[1,2] a=2 --dot a=1
expect 0 '"values":{},"jacobian":{"y":{"a":[[]1,2]}}' rvm jac types.rasm scale x=[1,2] a=2 --only 'd y / d a' --json
expect 0 '"values":{},"jacobian":{}' rvm jac types.rasm scale x=[1,2] a=2 --quiet --json
expect 2 'there is no result `y_b`, but y, x, a, hessian, d2 y[[]0] / d x d x' rvm hess types.rasm scale --of y[0] --wrt x x=[1,2] a=2 --only y_b
finish
