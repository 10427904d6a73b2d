#!/usr/bin/env bash
# Kernels of the parallel cases, as CUDA's assembler takes them for sm_80 or sm_90: of one function with index checks, of the next
# without; those of longer programs with fast math, too. Arguments: the folder of binaries, the source folder, jit_kernels. Exit
# status 77: skipped, the reason printed.
set -eu
binaries=$1 tree=$2 kernels_of=$3
assembler=$(command -v ptxas || echo "${CUDA_HOME:-/usr/local/cuda}/bin/ptxas")
if [ ! -x "$assembler" ]; then
    echo "SKIP: CUDA's toolkit is not installed (ptxas)"
    exit 77
fi
if [ "$("$binaries/rvm" run "$tree/examples/norm.rasm" norm --dump ptx --unchecked 2>&1 | grep -c 'no LLVM\|no native code')" -ne 0 ]; then
    echo "SKIP: there is no native code"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$tree"
left=0 bad=0
fail() {
    echo "$*"
    bad=1
}
# Of one function, for one and then the other. For sm_80 the assembler leaves its own passes out, to save time.
arch=sm_80
declare -A passes=([sm_80]=-O0 [sm_90]=-O3)
one() { # number, function and how
    local ptx=$scratch/$1.ptx why=$scratch/$1.none
    if [ -f "$why" ]; then
        grep -q 'there are no kernels' "$why" || fail "$2 fails: $(cat "$why")"
        left=$((left + 1))
        return
    fi
    "$assembler" ${passes[$arch]} -arch="$arch" "$ptx" -o /dev/null 2>"$scratch/why" || fail "$2: $arch: $(head -3 "$scratch/why")"
    if [ "$arch" = sm_80 ]; then arch=sm_90; else arch=sm_80; fi
}
trust= asked=()
while IFS=: read -r file name; do
    asked+=("$file $name $trust")
    if [ -z "$trust" ]; then trust=trust; else trust=; fi
    case $file in
    tests/*/functions.rasm | tests/cases/device/f32.rasm | examples/* | bench/*) asked+=("$file $name trust fast") ;;
    esac
done < <(for file in tests/cases/parallel/*.rasm tests/cases/device/f32.rasm examples/bundle_adjustment/adbench.rasm examples/gmm/gmm.rasm \
    examples/adbench/hand.rasm bench/problems/bessel.rasm bench/problems/ensemble.rasm; do
    awk -v file="$file" '/^fn /{name=$2; sub(/\(.*/, "", name)} /^ *parallel /{if (name != last) print file ":" name; last = name}' "$file"
done)
printf '%s\n' "${asked[@]}" | "$kernels_of" "$scratch" || fail "kernels cannot be made"
for k in "${!asked[@]}"; do one "$k" "${asked[k]}"; done
kernels=$(cat "$scratch"/*.ptx | grep -c '\.visible \.entry') || fail "there is no kernel"
while IFS= read -r ptx; do
    ptx=${ptx##*/}
    fail "${asked[${ptx%.ptx}]}: stores bytes"
done < <(grep -l 'st\.local\.[us]8' "$scratch"/*.ptx)
rm "$scratch"/*
# No fused multiply-add in strict code but libdevice's: a kernel without functions has none.
"$binaries/rvm" run bench/problems/ensemble.rasm orbits --dump ptx --unchecked --trust --trail=off >"$scratch/x.ptx"
! grep -q 'fma\.rn\.f64' "$scratch/x.ptx" || fail "strict code has a fused multiply-add"
# Of checked code there are none, as is said of each block.
for options in "" --trust --trail=off; do
    "$binaries/rvm" run bench/problems/ensemble.rasm orbits --dump ptx $options >"$scratch/x.ptx" 2>"$scratch/why" && fail "kernels of checked code"
    grep -q '^// not a kernel: line [0-9]*: its code is checked' "$scratch/x.ptx" || fail "checked code: $(cat "$scratch/x.ptx" "$scratch/why")"
done
# Registers of a thread and bytes that it spills, of all kernels whose names are like that. What is asked of the same code is assembled once.
assembled=
registers() { # file, function, names, most registers, most bytes, options
    local arch used spilt code="$1 $2 ${*:6}"
    if [ "$code" != "$assembled" ]; then
        "$binaries/rvm" run "$1" "$2" --dump ptx --unchecked --trust --trail=off "${@:6}" >"$scratch/x.ptx"
        for arch in sm_80 sm_90; do
            "$assembler" -v -arch="$arch" -lineinfo "$scratch/x.ptx" -o "$scratch/x.cubin" >"$scratch/said.$arch" 2>&1
        done
        assembled=$code
    fi
    for arch in sm_80 sm_90; do
        read -r used spilt < <(awk -v names="$3" '/Compiling entry function/{in_it = $0 ~ names} in_it && /spill stores/{if ($5 > spilt) spilt = $5}
            in_it && /Used/{for (k = 1; k < NF; k++) if ($k == "Used" && $(k + 1) > used) used = $(k + 1)} END{print used + 0, spilt + 0}' "$scratch/said.$arch")
        [ "$used" -gt 0 ] && [ "$used" -le "$4" ] && [ "$spilt" -le "$5" ] || fail "$1 $2: $arch: $used registers, $spilt bytes spilt: $(cat "$scratch/said.$arch")"
        echo "$1 $2: $3: $arch: $used registers, $spilt bytes spilt"
    done
}
registers examples/bundle_adjustment/adbench.rasm jacobian rvm_ 128 0
registers bench/problems/reprojection.rasm "reprojection'adj[out,cameras,points]" rvm_ 128 0
# The mixture, d = 10, then any lengths: a thread for each point and a CTA for each.
mixture=(examples/gmm/gmm.rasm "gmm'adj[out,alphas,means,icf]")
registers "${mixture[@]}" rvm_kernel 128 64 --const d=10 --const K=25
registers "${mixture[@]}" rvm_nested 128 16 --const d=10 --const K=25
registers "${mixture[@]}" rvm_kernel 128 64 --const d=10 --const K=25 --fast-math
registers "${mixture[@]}" rvm_nested 128 16 --const d=10 --const K=25 --fast-math
registers "${mixture[@]}" rvm_kernel 128 512
registers "${mixture[@]}" rvm_nested 128 288
# Line tables cost no register, and name the files of what is inlined.
registers examples/bundle_adjustment/adbench.rasm jacobian rvm_ 128 0 --symbols
for file in adbench reproject camera11; do
    grep -q "^[[:space:]]*\.file.*/bundle_adjustment/$file\.rasm\"" "$scratch/x.ptx" || fail "no line of $file.rasm"
done
grep -q nv_debug_line "$scratch/x.cubin" || fail "CUDA's assembler has made no table of lines"
# Blocks within blocks: a kernel with a CTA for each instance, whose threads meet.
nested() { # file, function, least barriers, most registers, options
    "$binaries/rvm" run "$1" "$2" --dump ptx --unchecked --trust --trail=off "${@:5}" >"$scratch/x.ptx"
    local arch said used barriers
    barriers=$(awk '/\.visible \.entry/{in_it = /rvm_nested_/} in_it && /barrier\.sync/{n++} END{print n + 0}' "$scratch/x.ptx")
    [ "$barriers" -ge "$3" ] || fail "$1 $2: $barriers barriers in a kernel with a CTA for each instance"
    for arch in sm_80 sm_90; do
        said=$("$assembler" -v -arch="$arch" "$scratch/x.ptx" -o "$scratch/x.cubin" 2>&1) || fail "$1 $2: $arch: $said"
        used=$(awk '/rvm_nested_/{in_it = 1} in_it && /Used/{print $5; exit}' <<<"$said")
        [ -n "$used" ] && [ "$used" -le "$4" ] || fail "$1 $2: $arch: ${used:-no} registers"
        echo "$1 $2: $arch: a CTA for each instance, $used registers,$(awk '/rvm_nested_/{in_it = 1} in_it && /spill/{sub(/.*frame,/, ""); print; exit}' <<<"$said")"
    done
}
nested tests/cases/device/nested.rasm squares 3 64
nested tests/cases/device/nested.rasm sums 4 64
nested tests/cases/device/nested.rasm sums 4 64 --symbols
nested tests/cases/device/indexed.rasm spread 3 96
nested examples/gmm/gmm.rasm gmm 4 128
nested examples/gmm/gmm.rasm "gmm'adj[out,alphas,means,icf]" 4 128 --fast-math --const d=10 --const K=25
echo "$kernels kernels; $left functions without"
[ "$kernels" -gt 0 ] && [ "$bad" -eq 0 ]
