#!/bin/sh
# What pages name is there: files, and each `name` in the (`file`) behind it.
# pages.sh REPOSITORY
set -eu
cd "$1"
folders='isa|assembler|schedules|vm|coprocessor|jit|cuda|tools|tests|bench|examples|std|cmake|docs'
missing=$(mktemp)
trap 'rm -f "$missing"' EXIT
for page in README.md docs/*.md; do
    grep -oE "\b($folders)/[A-Za-z0-9_./*-]*\.[a-z]+\b" "$page" | sort -u | while read -r path; do
        ls $path >/dev/null 2>&1 || echo "$page: there is no $path"
    done
    grep -oE '`[A-Za-z0-9_]+` \(`[a-z0-9_/]+\.[a-z]+`\)' "$page" | tr -d '`()' | sort -u | while read -r name path; do
        grep -qw "$name" "$path" || echo "$page: there is no $name in $path"
    done
done >"$missing"
cat "$missing"
[ ! -s "$missing" ]
