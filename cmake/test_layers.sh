#!/usr/bin/env bash
# Which folder may include from which: arrows point down only, and LLVM's and CUDA's headers stay in their folders.
# Argument: the source folder.
set -eu
cd "$1"
declare -A uses=(
    [isa]="isa"
    [assembler]="assembler isa"
    [vm]="vm isa"
    [tools]="tools vm assembler isa"
    [examples]="examples vm/rvm.h vm/rvm_derivatives.h assembler/rvm_asm.h isa/rvm_program.h"
    [bench]="bench examples vm/rvm.h vm/rvm_derivatives.h assembler/rvm_asm.h isa/rvm_program.h"
)
bad=0 seen=0
for folder in "${!uses[@]}"; do
    while IFS=: read -r file line text; do
        name=$(sed -E 's/.*#[[:space:]]*include[[:space:]]*[<"]([^>"]*)[>"].*/\1/' <<<"$text")
        seen=$((seen + 1))
        case $name in
        llvm-c/* | llvm/* | cuda*) echo "$file:$line: $name does not belong in $folder/" && bad=1 ;;
        esac
        home=$(find isa assembler vm tools tests bench examples -name "${name##*/}" | head -n 1)
        [ -n "$home" ] || continue
        allowed=
        for prefix in ${uses[$folder]}; do
            [[ $home == "$prefix" || $home == "$prefix"/* ]] && allowed=1
        done
        [ -n "$allowed" ] || { echo "$file:$line: $folder/ may not include $home" && bad=1; }
    done <<<"$(grep -rnE '^[[:space:]]*#[[:space:]]*include' "$folder" --include='*.[ch]' --include='*.inc' --include='*.def')"
done
echo "$seen includes"
[ "$seen" -gt 0 ] && [ "$bad" -eq 0 ]
