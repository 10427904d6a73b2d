#!/usr/bin/env bash
# All that needs a CUDA device, in under ten minutes, written to docs/gpu.log, too: the cases of tests/ on the device; results against the
# host's, the same bits a hundred times; code from the driver's cache; two processes at once; arrays of PyTorch and CuPy; compute-sanitizer;
# Nsight Systems; the table of `rvm_bench gpu`, on one device and on all where there are several; the same objectives in JAX and PyTorch.
# What is not installed is left out, and said; what fails is said at the end, and is the exit status.
#
#     bench/gpu.sh [BUILD [LOG]]
set -u
tree=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:-$tree/build/release}" && pwd) || exit 2
log=${2:-$tree/docs/gpu.log}
bench=$build/bench/rvm_bench rvm=$build/tools/rvm
failed=()
cd "$tree" || exit 2

if ! devices=$("$rvm" info --devices 2>&1) || ! grep -q 'compute capability' <<<"$devices"; then
    echo "no device: ${devices:-$rvm is missing}" >&2
    exit 1
fi
exec > >(tee "$log") 2>&1
writer=$!

part() { printf '\n== %s\n' "$*"; }
# NAME LIMIT COMMAND...: at most so many seconds, and no more than are left of all.
check() {
    local name=$1 limit=$2 left=$((590 - SECONDS)) begin=$SECONDS code
    shift 2
    if [ "$left" -lt 5 ]; then
        echo "$name: no time left"
        failed+=("$name")
        return 1
    fi
    timeout -k 5 "$((limit < left ? limit : left))" "$@"
    code=$?
    [ "$code" -eq 124 ] && echo "$name: stopped after $((SECONDS - begin)) s"
    [ "$code" -eq 0 ] || failed+=("$name")
    return "$code"
}
has() { command -v "$1" >/dev/null || { echo "$1: not installed"; false; }; }
has_module() { python3 -c "import $1" 2>/dev/null || { echo "$1: not installed"; false; }; }

part "$(tr '\n' ';' <<<"$devices") $(lscpu | sed -n 's/^Model name: *//p'), $(nproc) processors"

part "cases on the device whose bits are the host's: those without elementary functions"
elementary='\b(exp(2|10|m1)?|log(2|10|1p)?|a?(sin|cos|tan)h?|atan2|(sin|cos)pi|pow|cbrt|hypot|erfc?|lgamma|polygamma|rot)\b|\^ *[^2]'
cases=()
for case in tests/cases/{device,parallel}/*.rasm; do sed 's/#.*//' "$case" | grep -qE "$elementary" || cases+=("${case#tests/}"); done
check cases 90 bash -o pipefail -c 'cd tests && "$@" | grep -v ": skipped: "' - "$build/tests/runner" --orders 1 --native 1 --engines 1 --device 1 "${cases[@]}"

part checks
check checks 90 "$bench" gpu --check

part "code from the driver's cache (goal: 50 ms of loading), then two processes at once"
gmm=("$rvm" grad examples/gmm/gmm.rasm gmm --of out --wrt alphas,means,icf out=0 "alphas=zeros(25)" "means=ones(25,10)" "icf=zeros(25,55)" "x=ones(20000,10)" gamma=1
     m=0 --engine=cuda --unchecked --verbose)
for run in first second; do check "cache, $run" 40 "${gmm[@]}" >/dev/null 2> >(sed "s/^/$run: /" >&2); done
two=$(mktemp -d)
for run in a b; do "${gmm[@]}" >"$two/$run" 2>/dev/null & done
wait "$!"
wait %1 2>/dev/null
[ -s "$two/a" ] && cmp "$two/a" "$two/b" && echo "the same of both" || failed+=("two processes")
rm -r "$two"

part training
check training 40 "$build/examples/gmm/train" 1000000 20

part "arrays of PyTorch and CuPy, in their streams"
if has python3; then check pointers 40 python3 bench/pointers/pointers.py "$build/bench/pointers.so"; fi

part "rvm_bench gpu ${GPU_OPTIONS:-}"
check "bench gpu" 270 "$bench" gpu ${GPU_OPTIONS:-}
if has_module jax || has_module torch; then
    part "JAX and PyTorch"
    check "bench/gpu.py" 150 python3 bench/gpu.py ${PY_ONLY:+"$PY_ONLY"} 2> >(grep -v Warning >&2)
fi

if has compute-sanitizer; then
    for tool in memcheck initcheck racecheck; do
        part "compute-sanitizer $tool"
        check "compute-sanitizer $tool" 60 compute-sanitizer --tool "$tool" --error-exitcode 9 "$bench" gpu --check --device --repeat 1 >"$log.$tool" 2>&1
        tail -3 "$log.$tool"
        rm "$log.$tool"
    done
fi
if has nsys; then
    part "Nsight Systems: ranges of the lines of blocks"
    report=$(mktemp -d)
    check nsys 60 nsys profile -o "$report/r" "${gmm[@]}" --symbols >/dev/null 2>&1
    nsys stats --report nvtx_sum "$report/r.nsys-rep" 2>/dev/null | head -20
    rm -r "$report"
fi

part "$SECONDS s; ${#failed[@]} failed${failed[*]:+: ${failed[*]}}"
exec >&- 2>&-
wait "$writer" 2>/dev/null
[ "${#failed[@]}" -eq 0 ]
