#!/bin/sh
# Builds the example as its README says, and compares what it prints; the header serves C++, the shared library Python where
# there is one. Exit status 77: skipped, without LLVM or a compiler.
# test.sh FOLDER_OF_BINARIES EXAMPLE C_COMPILER
set -eu
bin=$(cd "$1" && pwd)
here=$(cd "$2" && pwd)
cc=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cp "$here"/logistic.rasm "$here"/descend.c .
PATH=$bin:$PATH
if ! rvm compile logistic.rasm logistic -o logistic.o 2>message; then
    cat message
    grep -q "no native code" message && exit 77
    exit 1
fi
command -v "$cc" >/dev/null || { echo "skipped: no $cc" && exit 77; }
rvm compile logistic.rasm logistic --gradient --wrt w --name logistic_gradient -o logistic_gradient.o
$cc -std=c99 -pedantic -Wall -Wextra -Werror descend.c logistic.o logistic_gradient.o -lm -o descend
./descend >printed
diff -u "$here/expected.txt" printed

# What must not be linked is not.
if nm -u logistic.o logistic_gradient.o | grep rvm; then exit 1; fi

# Blocks go in lanes, unless they are not to.
cat >sums.rasm <<'END'
fn sums(s: real[m], x: real[n, m])
    parallel i in 0..n
        for j in 0..m
            s[j] += x[i, j] * x[i, j]
        end
    end
end
END
rvm compile sums.rasm sums -o lanes.o
rvm compile sums.rasm sums --lanes off -o single.o
[ "$(wc -c <lanes.o)" -gt "$(wc -c <single.o)" ] || { echo "--lanes off makes no difference" && exit 1; }
if rvm compile sums.rasm sums --lanes some -o other.o 2>message; then exit 1; fi
grep -q -- '--lanes is on or off, not `some`' message || { cat message && exit 1; }

# A failing check: its line, in words.
cat >wrong.rasm <<'END'
fn wrong(y: real, x: real[n], k: i64)
    y += x[k]
end
END
cat >wrong.c <<'END'
#include "wrong.h"
#include <stdio.h>
int main(void) {
    double y = 0, x[2] = {1, 2};
    const int good = wrong(&y, x, 1, 2), bad = wrong(&y, x, 2, 2), length = wrong(&y, x, 0, -1);
    printf("%d %g\n%s\n%s\n%s\n", good, y, wrong_message(bad), wrong_message(length), wrong_message(99));
    return 0;
}
END
rvm compile wrong.rasm wrong -g -o wrong.o
$cc wrong.c wrong.o -lm -o wrong
./wrong >printed
cat >expected <<'END'
0 2
wrong.rasm:2:5: a check fails in `wrong`, at add.id y, x[k]
wrong.rasm:1:4: a length given to `wrong` is negative
no such status
END
diff -u expected printed

# Constants are folded with the functions that the object calls: the C library's, where nothing else is said.
printf 'fn folded(y: real)\n    y += sin(2.5)\nend\n' >folded.rasm
rvm compile folded.rasm folded -o folded.o
rvm compile folded.rasm folded --math libm -o folded_libm.o
cmp folded.o folded_libm.o

# Names that mean something else in C: keywords, and macros of headers that stand before.
cat >names.rasm <<'END'
fn names(_Bool: real, double: real, I: real[complex], errno: i64, INT64_MAX: i64)
    double += _Bool * I[0] + errno + INT64_MAX
end
END
rvm compile names.rasm names -o names.o
cat >names.c <<'END'
#include <complex.h>
#include <errno.h>
#include <stdio.h>
#include "names.h"
int main(void) {
    const double i[] = {3};
    double y = 0;
    const int status = names(2, &y, i, 1, 0, 1);
    printf("%d %g\n", status, y);
    return 0;
}
END
$cc -Wall -Wextra -Werror names.c names.o -lm -o names
[ "$(./names)" = "0 7" ]

# Mistakes.
refused() { # STATUS TEXT OPTIONS...
    want=$1 text=$2 got=0
    shift 2
    rvm compile "$@" >printed 2>&1 || got=$?
    [ $got = "$want" ] && grep -q -- "$text" printed && return
    echo "rvm compile $*: $got, not $want with: $text" && cat printed && exit 1
}
refused 2 "names the object file" wrong.rasm wrong
refused 2 "no processor" wrong.rasm wrong --cpu z80 -o x.o
refused 2 "cannot be the name" wrong.rasm wrong --name 'a b' -o x.o
refused 2 "cannot be the name" wrong.rasm wrong --name _Bool -o x.o
refused 2 "C library has a function" wrong.rasm wrong --name sin -o x.o
refused 2 "one derivative" wrong.rasm wrong --adjoint --gradient -o x.o
refused 2 "wrt goes with" wrong.rasm wrong --wrt x -o x.o
refused 2 "wrt goes with" wrong.rasm wrong --inverse --wrt x -o x.o
refused 2 "program itself" wrong.rasm wrong --header wrong.rasm -o x.o
refused 2 "no function" wrong.rasm wring -o x.o
refused 3 "cannot write" wrong.rasm wrong -o no/where.o
cat >taped.rasm <<'END'
fn taped(y: real, x: real)
    set y = x * x
end
END
rvm compile taped.rasm taped -o taped.o # what is overwritten is lost: nobody takes it back
refused 2 "taped.rasm:2:5.*back from the trail" taped.rasm taped --gradient -o x.o
[ ! -e x.o ]

if command -v python3 >/dev/null; then
    $cc -shared logistic_gradient.o -lm -o liblogistic.so
    cat >call.py <<'END'
import ctypes
D = ctypes.POINTER(ctypes.c_double)
f = ctypes.CDLL("./liblogistic.so").logistic_gradient
f.argtypes = [D, ctypes.c_double, D, D, D, D, ctypes.c_int64, ctypes.c_int64]
array = lambda *v: (ctypes.c_double * len(v))(*v)
gradient = array(0, 0)
assert f(array(0), 1, array(0, 0), gradient, array(1, 2), array(1), 2, 1) == 0
assert list(gradient) == [-0.5, -1], list(gradient)
END
    python3 call.py
fi
