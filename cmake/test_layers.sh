#!/usr/bin/env bash
# Which folder may include from which: arrows point down only, and LLVM's and CUDA's headers stay in their folders, LLVM's in
# what jit/ makes the module of. The commands, the examples and the benchmarks are users: they have the installed headers.
# vm/derivatives/ has them, too, and what answers.h and hessian.h say that it needs of the machine.
# http_answer.h, of which the benchmarks of the server and its client make use, needs the C library alone.
# Argument: the source folder.
set -eu
cd "$1"
installed="cuda/rvm_cuda.h jit/rvm_jit.h vm/rvm.h vm/rvm_derivatives.h vm/rvm_profile.h vm/rvm_debug.h coprocessor/rvm_coprocessor.h assembler/rvm_asm.h schedules/rvm_schedule.h isa/rvm_program.h isa/rvm_functions.h"
declare -A uses=(
    [isa]="isa"
    [assembler]="assembler isa"
    [schedules]="schedules isa/program/support.h isa/rvm_program.h isa/rvm_functions.h"
    [vm]="vm isa"
    [vm/derivatives]="vm/derivatives vm/answers.h vm/hessian.h isa/program/support.h $installed"
    [coprocessor]="coprocessor isa/program/support.h $installed"
    [jit]="jit vm isa"
    [cuda]="cuda jit vm isa"
    [tools]="tools $installed"
    [examples]="examples $installed"
    [bench]="bench examples tools/client/http_answer.h $installed"
)
library='^jit/(rvm_jit\.h|host/.*)$'
declare -A home_of
while read -r path; do home_of[${path##*/}]=$path; done < <(find isa assembler schedules vm coprocessor jit cuda tools tests bench examples -type f | sort -r)
bad=0 seen=0
foreign() {
    echo "$file:$line: $name does not belong here"
    bad=1
}
for folder in "${!uses[@]}"; do
    while IFS=: read -r file line text; do
        [[ $text =~ [\<\"]([^\>\"]*)[\>\"] ]] && name=${BASH_REMATCH[1]}
        seen=$((seen + 1))
        case $name in
        llvm-c/* | llvm/*) [[ $file == jit/* && ! $file =~ $library ]] || foreign ;;
        cuda*) [[ $file == cuda/* && $name == cuda.h ]] || foreign ;;
        esac
        home=${home_of[${name##*/}]:-}
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
