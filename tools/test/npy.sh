#!/bin/sh
# Array files as NumPy writes them: versions 1 to 3, both orders of elements, both orders of bytes, every type of number; and
# that what is written is what NumPy would write. npy.sh FOLDER_OF_BINARIES
. "$(dirname "$0")/expect.sh"

cat >arrays.rasm <<'TEXT'
fn grid(A: real[2, 3])
    neg A[0, 0]
    neg A[0, 0]
end
fn cube(A: real[2, 1, 3])
    neg A[0, 0, 0]
    neg A[0, 0, 0]
end
fn whole(k: i64[2, 3])
    neg k[0, 0]
    neg k[0, 0]
end
fn waves(z: complex[2, 2])
    neg z[0, 0]
    neg z[0, 0]
end
fn line(x: real[n])
    for i in 0..n
        x[i] += 0.0
    end
end
fn one(x: real)
    x += 0.0
end
TEXT
grid='A = [[][[]1, 2, 3], [[]4, 5, 6]]'
cube='A = [[][[][[]1, 2, 3]], [[][[]4, 5, 6]]]'
whole='k = [[][[]1, 2, 3], [[]4, 5, 6]]'

# escapes HEX: as printf takes bytes
escapes() {
    printf '%s\n' "$1" | awk '{
        for (at = 1; at < length($0); at += 2)
            printf "\\0%03o", 16 * (index("123456789abcdef", substr($0, at, 1))) + index("123456789abcdef", substr($0, at + 1, 1))
    }'
}
# turned DIGITS HEX...: each of so many hexadecimal digits, its bytes the other way round
turned() {
    digits=$1
    shift
    printf '%s\n' "$*" | awk -v digits="$digits" '{
        gsub(/ /, "")
        for (first = 1; first < length($0); first += digits)
            for (at = first + digits - 2; at >= first; at -= 2) printf "%s", substr($0, at, 2)
    }'
}
# npy FILE VERSION HEADER HEX: the header padded so that the elements begin at a multiple of 64, as NumPy does
npy() {
    head=10
    [ "$2" = 1 ] || head=12
    length=$(((head + ${#3} + 1 + 63) / 64 * 64 - head))
    size=$(printf '%02x%02x' $((length % 256)) $((length / 256)))
    [ "$2" = 1 ] || size=${size}0000
    {
        printf '%b' "$(escapes "934e554d5059$(printf '%02x' "$2")00$size")"
        printf '%-*s\n' $((length - 1)) "$3"
        printf '%b' "$(escapes "$4")"
    } >"$1"
}
# header DESCR FORTRAN SHAPE
header() { printf "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" "$1" "$2" "$3"; }

# 1 to 6, by columns, and by rows
f8='3ff0000000000000 4000000000000000 4008000000000000 4010000000000000 4014000000000000 4018000000000000'
f8_columns='3ff0000000000000 4010000000000000 4000000000000000 4014000000000000 4008000000000000 4018000000000000'
f4='3f800000 40000000 40400000 40800000 40a00000 40c00000'
f4_columns='3f800000 40800000 40000000 40a00000 40400000 40c00000'

for version in 1 2 3; do
    for bytes in '<' '>'; do
        for kind in f8 f4; do
            for fortran in False True; do
                [ $kind = f8 ] && digits=16 rows=$f8 columns=$f8_columns || digits=8 rows=$f4 columns=$f4_columns
                [ $fortran = True ] && list=$columns || list=$rows
                [ "$bytes" = '<' ] && hex=$(turned "$digits" "$list") || hex=$(printf '%s' "$list" | tr -d ' ')
                npy a.npy $version "$(header "$bytes$kind" $fortran '(2, 3)')" "$hex"
                expect 0 "$grid" rvm run arrays.rasm grid A=@a.npy
                npy a.npy $version "$(header "$bytes$kind" $fortran '(2, 1, 3)')" "$hex"
                expect 0 "$cube" rvm run arrays.rasm cube A=@a.npy
            done
        done
    done
done

# half precision: the least and the greatest subnormal, 1, the greatest, zeros, infinities, nan; f32 holds all of them
halves='0001 03ff 3c00 c000 7bff 8000 7c00 fc00 7e00'
for bytes in '<' '>'; do
    [ "$bytes" = '<' ] && hex=$(turned 4 "$halves") || hex=$(printf '%s' "$halves" | tr -d ' ')
    npy a.npy 1 "$(header "${bytes}f2" False '(9,)')" "$hex"
    expect 0 'x = [[]5.9604644775390625e-08, 6.097555160522461e-05, 1, -2, 65504, 0, inf, -inf, nan]' rvm run arrays.rasm line x=@a.npy
    expect 0 'x = [[]5.9604644775390625e-08, 6.097555160522461e-05, 1, -2, 65504, 0, inf, -inf, nan]' rvm run arrays.rasm line x=@a.npy --real f32
done
npy a.npy 1 "$(header '<f2' False '(3,)')" "$(turned 4 03ff 3c00 c000)"
expect 0 'x = [[]0.0000609755516, 1, -2]' rvm run arrays.rasm line x=@a.npy --real fix
npy a.npy 1 "$(header '<f2' False '(1,)')" 007c
expect 2 'inf, which a fix does not hold exactly' rvm run arrays.rasm line x=@a.npy --real fix
npy a.npy 1 "$(header '<f2' False '(1,)')" 003c
expect 3 'holds elements of type `<f2`, which are not exactly i64' rvm run arrays.rasm whole k=@a.npy

# whole numbers of every size
rows='01 02 03 04 05 06' columns='01 04 02 05 03 06'
for wide in 1 2 4 8; do
    for sign in i u; do
        for bytes in '<' '>'; do
            for fortran in False True; do
                [ $fortran = True ] && list=$columns || list=$rows
                hex=
                for n in $list; do hex="$hex $(printf '%0*x' $((2 * wide)) "0x$n")"; done
                [ "$bytes" = '<' ] && hex=$(turned $((2 * wide)) "$hex") || hex=$(printf '%s' "$hex" | tr -d ' ')
                mark=$bytes
                [ $wide != 1 ] || mark='|'
                npy k.npy 1 "$(header "$mark$sign$wide" $fortran '(2, 3)')" "$hex"
                expect 0 "$whole" rvm run arrays.rasm whole k=@k.npy
            done
        done
    done
done
npy k.npy 1 "$(header '>i2' False '(2, 3)')" 'ffffff80000100000101800000'
npy k.npy 1 "$(header '>i2' True '(2, 3)')" 'ffff8000000101007fff0002'
expect 0 'k = [[][[]-1, 1, 32767], [[]-32768, 256, 2]]' rvm run arrays.rasm whole k=@k.npy

# complex numbers: 1+2i 3+4i, 5+6i 1+1i
z='3ff0000000000000 4000000000000000 4008000000000000 4010000000000000 4014000000000000 4018000000000000 3ff0000000000000 3ff0000000000000'
npy z.npy 1 "$(header '>c16' False '(2, 2)')" "$(printf '%s' "$z" | tr -d ' ')"
expect 0 'z = [[][[]1+2i, 3+4i], [[]5+6i, 1+1i]]' rvm run arrays.rasm waves z=@z.npy
npy z.npy 2 "$(header '<c16' True '(2, 2)')" "$(turned 16 "$z")"
expect 0 'z = [[][[]1+2i, 5+6i], [[]3+4i, 1+1i]]' rvm run arrays.rasm waves z=@z.npy

# headers of other writers: of Python 2, with other keys first, in double quotes, without the last comma, padded to 16
row=$(turned 16 "$f8")
npy h.npy 1 "{'descr': '<f8', 'fortran_order': False, 'shape': (6L,), }" "$row"
expect 0 'x = [[]1, 2, 3, 4, 5, 6]' rvm run arrays.rasm line x=@h.npy
npy h.npy 1 '{"shape": (6,), "fortran_order": True, "descr": "<f8"}' "$row"
expect 0 'x = [[]1, 2, 3, 4, 5, 6]' rvm run arrays.rasm line x=@h.npy
{
    printf '%b' "$(escapes 934e554d505901004600)"
    printf '%-69s\n' "$(header '<f8' False '(6,)')"
    printf '%b' "$(escapes "$row")"
} >h.npy
expect 0 'x = [[]1, 2, 3, 4, 5, 6]' rvm run arrays.rasm line x=@h.npy
npy h.npy 1 "$(header '<f8' False '()')" "$(turned 16 4014000000000000)"
expect 0 'x = 5' rvm run arrays.rasm one x=@h.npy
npy h.npy 1 "$(header '<f8' False '(0,)')" ''
expect 0 'x = [[]]' rvm run arrays.rasm line x=@h.npy

# other versions are refused, and a length of four bytes is read whole
npy v.npy 4 "$(header '<f8' False '(6,)')" "$row"
expect 3 'v.npy: error: x: is an array file of version 4.0; known are 1 to 3' rvm run arrays.rasm line x=@v.npy
npy v.npy 0 "$(header '<f8' False '(6,)')" "$row"
expect 3 'v.npy: error: x: is an array file of version 0.0; known are 1 to 3' rvm run arrays.rasm line x=@v.npy
printf '%b' "$(escapes 934e554d5059020076000100)" >v.npy
npy w.npy 1 "$(header '<f8' False '(6,)')" "$row"
tail -c +11 w.npy >>v.npy
expect 3 'it is cut off within its header' rvm run arrays.rasm line x=@v.npy

# what is written is what NumPy writes
npy w.npy 1 "$(header '<f8' False '(6,)')" "$row"
expect 0 '' rvm run arrays.rasm line 'x=[1,2,3,4,5,6]' --save x=saved.npy
expect 0 '' cmp w.npy saved.npy
npy w.npy 1 "$(header '<f4' False '(2, 3)')" "$(turned 8 "$f4")"
expect 0 '' rvm run arrays.rasm grid --real f32 'A=[[1,2,3],[4,5,6]]' --save A=saved.npy
expect 0 '' cmp w.npy saved.npy
npy w.npy 1 "$(header '<i8' False '(2, 3)')" "$(turned 16 000000000000000100000000000000020000000000000003000000000000000400000000000000050000000000000006)"
expect 0 '' rvm run arrays.rasm whole 'k=[[1,2,3],[4,5,6]]' --save k=saved.npy
expect 0 '' cmp w.npy saved.npy
npy w.npy 1 "$(header '<f8' False '()')" "$(turned 16 4014000000000000)"
expect 0 '' rvm run arrays.rasm one x=5 --save x=saved.npy
expect 0 '' cmp w.npy saved.npy
finish
