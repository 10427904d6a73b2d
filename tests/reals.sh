#!/bin/sh
# Every example and every case of the standard library says with which other types for `real` it runs too (directive reals),
# or is itself about one of them (options real=). reals.sh SOURCE_FOLDER
set -u
cd "$1" || exit 1
missing=$(grep -LE '^#: (reals |options .*real=)' examples/papers/*.rasm tests/cases/examples/*.rasm tests/cases/std/*.rasm tests/cases/derivatives/camera.rasm)
for example in examples/*.rasm examples/*/*.rasm; do
    case $example in examples/papers/*) continue ;; esac
    cat tests/cases/examples/*.rasm tests/cases/derivatives/*.rasm | grep -qE "include .*$example" || missing="$missing $example(no case)"
done
[ -z "$missing" ] || { echo "no directive reals: $missing"; exit 1; }
