#!/usr/bin/env bash
# Mutation: each patch of tests/mutants is a small, plausible bug, and names the test that has to notice it. Applies one after
# the other to a copy of the tree, builds what the test needs, runs it and expects that it fails.
#
#     mutate.sh [NAME...]     all of them, or those whose names hold one of these
#
# A patch begins with what is wrong and two lines, then the diff:
#
#     Bug: the mask of `else` is that of `then`.
#     Test: ^lanes$                 (a regular expression for ctest -R)
#     Target: lanes rvm_llvm        (what to build for it)
#
# Everything lies in build/mutate: tree (the copy), its build folder, and log. Where there is ccache the copy is built as the
# release is, so that what is no mutant comes from the cache; else with less optimisation. Exit status 1: less than 95 % are killed, or a patch does not
# apply or build any more.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
work=$root/build/mutate
binary=$work/tree/build/release # as deep as that of the tree: to ccache, paths are relative
mkdir -p "$work/log"

field() { sed -n "s/^$1: //p" "$2" | head -n 1; }

# Only what differs is copied, so that builds go on where they were.
refresh() {
    mkdir -p "$work/tree"
    if git -C "$root" rev-parse --git-dir >/dev/null 2>&1; then
        git -C "$root" ls-files -co --exclude-standard
    else
        find . -path ./build -prune -o -type f -print
    fi | sed 's|^\./||' | sort >"$work/files"
    (cd "$work/tree" && find . -path ./build -prune -o -type f -print | sed 's|^\./||' | sort) >"$work/had"
    comm -13 "$work/files" "$work/had" | while read -r gone; do rm -f "$work/tree/$gone"; done
    while read -r file; do
        [ -f "$root/$file" ] || continue
        cmp -s "$root/$file" "$work/tree/$file" && continue
        mkdir -p "$work/tree/$(dirname "$file")"
        cp "$root/$file" "$work/tree/$file"
    done <"$work/files"
}

# The patch, one way or the other: outside of any repository, since git would look for its paths in ours.
apply() { (cd "$work/tree" && GIT_CEILING_DIRECTORIES=$work git apply --recount -C1 "$@"); }

build() { # targets
    # shellcheck disable=SC2086 # several words
    cmake --build "$binary" -j "$(nproc)" --target $1
}

judge() { # patch: prints the verdict
    local patch=$1 name log targets
    name=$(basename "$patch" .patch)
    log=$work/log/$name.txt
    targets=$(field Target "$patch")
    apply --check "$patch" >"$log" 2>&1 || { echo "DOES NOT APPLY" && return; }
    apply "$patch" >>"$log" 2>&1
    if ! build "$targets" >>"$log" 2>&1; then
        echo "DOES NOT BUILD"
    elif (cd "$binary" && ctest --timeout 300 -R "$(field Test "$patch")" --no-tests=error --output-on-failure) >>"$log" 2>&1; then
        echo SURVIVED
    elif grep -q 'No tests were found' "$log"; then
        echo "NO SUCH TEST"
    else
        echo KILLED
    fi
    apply -R "$patch" >>"$log" 2>&1
}

refresh
kind=Debug launcher=
! command -v ccache >/dev/null || kind=Release launcher=ccache
cmake -G Ninja -S "$work/tree" -B "$binary" -DCMAKE_BUILD_TYPE=$kind -DCMAKE_C_COMPILER_LAUNCHER=$launcher >"$work/log/configure.txt"
patches=()
for patch in "$root"/tests/mutants/*.patch; do
    [ $# -gt 0 ] || patches+=("$patch")
    for name; do [[ $(basename "$patch") != *"$name"* ]] || { patches+=("$patch") && break; }; done
done
[ ${#patches[@]} -gt 0 ] || { echo "no such mutant" && exit 1; }
# What is not a mutant passes: else everything would count as killed.
targets=$(for patch in "${patches[@]}"; do field Target "$patch"; done | tr ' ' '\n' | sort -u | tr '\n' ' ')
tests=$(for patch in "${patches[@]}"; do field Test "$patch"; done | sort -u | paste -sd '|')
echo "the tree without a mutant: $targets"
build "$targets" >"$work/log/unchanged.txt" 2>&1 || { tail -n 30 "$work/log/unchanged.txt" && exit 1; }
(cd "$binary" && ctest --timeout 600 -R "$tests" -j "$(nproc)" --output-on-failure) >>"$work/log/unchanged.txt" 2>&1 ||
    { tail -n 40 "$work/log/unchanged.txt" && exit 1; }

killed=0 stale=0
for patch in "${patches[@]}"; do
    verdict=$(judge "$patch")
    printf '%-16s %-28s %s\n' "$verdict" "$(basename "$patch" .patch)" "$(field Bug "$patch")"
    case $verdict in
    KILLED) killed=$((killed + 1)) ;;
    SURVIVED) ;;
    *) stale=$((stale + 1)) ;;
    esac
done
echo "$killed of ${#patches[@]} killed"
[ $stale -eq 0 ] && [ $((100 * killed)) -ge $((95 * ${#patches[@]})) ]
