#!/bin/sh
# Several devices from the command line, by what stands in for a driver (tests/grid), which has three. Argument: rvm.
set -u
rvm=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0
bad() {
    echo "devices: $*" >&2
    status=1
}

cat >"$scratch/f.rasm" <<'END'
fn f(s: real, y: real[n], x: real[n])
    parallel i in 0..n
        y[i] += 2 * x[i]
        s += x[i]
    end
end
END
x=$(awk 'BEGIN { for (i = 0; i < 700; i++) printf "%s%.17g", i ? "," : "[", i / 7; print "]" }')
y=$(awk 'BEGIN { for (i = 0; i < 700; i++) printf "%s%d", i ? "," : "[", i; print "]" }')
run() { "$rvm" run "$scratch/f.rasm" f s=0 "y=$y" "x=$x" --unchecked "$@"; }
"$rvm" info --devices | grep -c "a grid on the host" | grep -qx 3 || bad "info --devices does not list three"
run --engine=cuda --verbose 2>&1 | grep -q "interpreted:" && exit 77

run --engine=interp >"$scratch/expected" || bad "it does not run"
for list in 0 2 0,1 2,0,1 all; do
    run --engine=cuda --verbose --device "$list" >"$scratch/got" 2>"$scratch/said" || bad "--device $list fails"
    cmp -s "$scratch/expected" "$scratch/got" || bad "--device $list: other results"
    case $list in
    0 | 2) grep -q "several devices" "$scratch/said" && bad "--device $list: several?" ;;
    *) grep -q "1 of these on several devices" "$scratch/said" || bad "--device $list: $(cat "$scratch/said")" ;;
    esac
done
# auto: nothing is opened for so little, and nothing is said without --verbose
run --engine=auto >"$scratch/got" 2>&1 || bad "--engine=auto fails"
cmp -s "$scratch/expected" "$scratch/got" || bad "--engine=auto: other results"
run --engine=auto --device 0 >"$scratch/got" 2>&1 && bad "--device goes with auto"
# Kernels that call elementary functions, of which the command shows none to what it loads; nothing of them is left behind.
cat >"$scratch/e.rasm" <<'END'
fn f(s: real, y: real[n], x: real[n])
    parallel i in 0..n
        y[i] += exp(x[i]) + polygamma(1, 2 + x[i])
        s += tanh(x[i])
    end
end
END
mkdir "$scratch/tmp"
for math in libm sleef; do
    functions() { "$rvm" run "$scratch/e.rasm" f s=0 y=[1,2,3] x=[.5,.25,.125] --unchecked --math "$math" "$@"; }
    functions --engine=interp >"$scratch/expected" 2>"$scratch/said" || { grep -q SLEEF "$scratch/said" && continue; }
    TMPDIR="$scratch/tmp" functions --engine=cuda --verbose >"$scratch/got" 2>"$scratch/said" || bad "functions of $math: $(cat "$scratch/said")"
    cmp -s "$scratch/expected" "$scratch/got" || bad "functions of $math: other results"
    grep -q "e.rasm:2: f: 1 times on a device, [0-9]* launches, [0-9.]* ms" "$scratch/said" || bad "functions of $math: $(cat "$scratch/said")"
    ls "$scratch"/tmp/* >/dev/null 2>&1 && bad "files are left: $(ls "$scratch/tmp")"
done
# What keeps all blocks on the host is said where a device was asked for
stays() { # what is said, command and options
    said=$1 command=$2
    shift 2
    "$rvm" "$command" "$scratch/f.rasm" f s=0 "y=$y" "x=$x" --engine=cuda --verbose "$@" >"$scratch/got" 2>"$scratch/said" || bad "$command $*: $(cat "$scratch/said")"
    grep -q "no parallel block of a run may be a kernel: $said" "$scratch/said" || bad "$command $*: $(cat "$scratch/said")"
}
stays "it is checked" run
stays "its instructions are counted for a profile" profile --unchecked
stays "it restores every bit" run --exact --unchecked
run --engine=cuda --verbose 2>&1 | grep -q "may be a kernel" && bad "a kernel runs, and none may"
run --engine=auto --exact --verbose 2>&1 | grep -q "may be a kernel" && bad "nobody asked for a device"
refused() { # value, what is said
    run --engine=cuda --device "$1" >"$scratch/got" 2>&1
    [ $? -eq 2 ] || bad "--device '$1' is no wrong usage"
    grep -q -e "$2" "$scratch/got" || bad "--device '$1': $(cat "$scratch/got")"
}
refused 1,1 "device 1 is named twice"
refused 0,3 "no device 3: there are 3"
refused 1, "numbers, as 0,1, or all"
refused one "numbers, as 0,1, or all"
refused 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 "more than 16"
exit $status
