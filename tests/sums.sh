#!/bin/sh
# cuda/sums.ptx is made of cuda/sums.cu as it is: its first line has the hash of that. Where CUDA's compiler is the one that made
# it, it makes the same again. Argument: the source folder.
set -u
cd "$1" || exit 1
status=0
bad() {
    echo "sums: $*" >&2
    status=1
}
made="// $(sha256sum cuda/sums.cu)"
[ "$(head -1 cuda/sums.ptx)" = "$made" ] || bad "cuda/sums.ptx is not made of cuda/sums.cu as it is, whose head says how to make it"
compiler=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
[ -x "$compiler" ] || exit $status
release=$(sed -n 's|^// Cuda compilation tools, ||p' cuda/sums.ptx)
if "$compiler" --version | grep -qF "$release"; then
    "$compiler" -ptx -arch=compute_75 -fmad=false -o - cuda/sums.cu | sed 's|^.version 9.0|.version 7.3|' |
        { echo "$made"; cat; } | cmp -s - cuda/sums.ptx || bad "CUDA's compiler makes another cuda/sums.ptx"
fi
exit $status
