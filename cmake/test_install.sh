#!/usr/bin/env bash
# Installs the build into a scratch prefix and builds consumer/ against it: with find_package, shared and static, and with
# pkg-config. Arguments: the build folder, the C compiler, CMake's generator. Exit status 77: skipped, the reason printed.
set -eu
build=$1 cc=$2 generator=$3
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v pkg-config >/dev/null; then
    echo "SKIP: pkg-config is not installed"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

expect_6() {
    local got
    got=$("$@")
    if [ "$got" != 6 ]; then
        echo "$*: expected 6, got $got"
        exit 1
    fi
}

# Only what the headers declare is exported, and what objects of rvm compile call in lanes.
exported=$(nm -D --defined-only "$build/cmake/librvm.so" | awk '$2 ~ /^[A-Z]$/ {print $3}')
if foreign=$(grep -Ev '^rvm_([^_]|_sleef[48]_)' <<<"$exported"); then
    echo "librvm.so exports what is not public: $foreign"
    exit 1
fi

quietly() { "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log" && exit 1; }; }

quietly cmake --install "$build" --prefix "$scratch/usr"
module=$(find "$scratch/usr" -name rvm_llvm.so)
if [ -n "$module" ] && [ "$(nm -D --defined-only "$module" | awk '$2 == "T" {print $3}')" != rvm_llvm_module ]; then
    echo "rvm_llvm.so exports more than its entry"
    exit 1
fi
quietly cmake -G "$generator" -S "$here/consumer" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/usr" -DCMAKE_C_COMPILER="$cc"
quietly cmake --build "$scratch/build"
expect_6 "$scratch/build/consumer_rvm"
expect_6 "$scratch/build/consumer_rvm_static"
# The module is found beside the library, without being named.
unset RVM_LLVM_MODULE
[ -z "$module" ] || RVM_CACHE_DIR= expect_6 "$scratch/build/consumer_rvm" --native

pc=$(find "$scratch/usr" -name rvm.pc)
export PKG_CONFIG_PATH=${pc%/*}
# shellcheck disable=SC2046 # the flags are words
"$cc" "$here/consumer/consumer.c" -o "$scratch/consumer" $(pkg-config --cflags --libs rvm)
LD_LIBRARY_PATH=$(pkg-config --variable=libdir rvm) expect_6 "$scratch/consumer"

# The standard library is found by what was installed, wherever the prefix went: by the commands, and by the library.
mv "$scratch/usr" "$scratch/moved"
printf 'include "std/blas.rasm"\nfn norm(out: real, x: real[n])\n    call nrm2(out, x)\nend\n' >"$scratch/norm.rasm"
cd "$scratch"
quietly moved/bin/rasm norm.rasm -o norm.rbc
quietly env PATH="$scratch/moved/bin:$PATH" rvm run norm.rasm norm 'x=[3,4]' out=0
grep -qx 'out = 5' log || { cat log && exit 1; }
echo "installed, and used by find_package and pkg-config"
