#!/usr/bin/env bash
# All that needs a CUDA device, in under ten minutes: results against the host's, the same bits a hundred times, compute-sanitizer, the
# table of `rvm_bench gpu` (on one device, and on all where there are several), and the same objectives in JAX and PyTorch where python3 has them.
#
#     bench/gpu.sh [BUILD] | tee docs/gpu.log
set -u
tree=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$tree/build/release}
bench=$build/bench/rvm_bench rvm=$build/tools/rvm
cd "$tree"
part() { printf '\n== %s\n' "$*"; }
status=0
check() { "$@" || status=1; }

part "$("$rvm" info --devices 2>&1 | tr '\n' ';') $(lscpu | sed -n 's/^Model name: *//p'), $(nproc) processors"
part checks
check timeout 120 "$bench" gpu --check
part training
check timeout 60 "$build/examples/gmm/train" 1000000 20
if command -v compute-sanitizer >/dev/null; then
    for tool in memcheck initcheck racecheck; do
        part "compute-sanitizer $tool"
        check timeout 100 compute-sanitizer --tool "$tool" --error-exitcode 9 "$bench" gpu --check --device --repeat 1 2>&1 | tail -3
        [ "${PIPESTATUS[0]}" -eq 0 ] || status=1
    done
fi
part "rvm_bench gpu ${GPU_OPTIONS:-}"
check timeout 400 "$bench" gpu ${GPU_OPTIONS:-}
if python3 -c 'import jax' 2>/dev/null || python3 -c 'import torch' 2>/dev/null; then
    part "JAX and PyTorch"
    timeout 200 python3 bench/gpu.py ${PY_ONLY:+"$PY_ONLY"} 2>/dev/null
fi
exit $status
