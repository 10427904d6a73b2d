#include "number.h"
#include "errors.h"

#include <ctype.h>
#include <errno.h>
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the nearest name ---- */

enum { NAME_MAX_COMPARED = 48 };

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Edit distance, in which two letters that changed places count as one edit (optimal string alignment). */
static size_t distance(const char *a, const char *b) {
    size_t rows[3][NAME_MAX_COMPARED + 1], n = strlen(b), m = strlen(a);
    for (size_t j = 0; j <= n; j++) rows[0][j] = j;
    for (size_t i = 1; i <= m; i++) {
        size_t *row = rows[i % 3], *up = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            row[j] = least(least(up[j], row[j - 1]) + 1, up[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return rows[m % 3][n];
}

void nearest_offer(nearest *n, const char *candidate) {
    const size_t length = strlen(n->wanted), most = length < 6 ? 1 : length / 3;
    if (length > NAME_MAX_COMPARED || strlen(candidate) > NAME_MAX_COMPARED) return;
    const size_t d = distance(n->wanted, candidate);
    if (d > most || d >= length || (n->best && d >= n->distance)) return;
    n->best = candidate;
    n->distance = d;
}

/* ---- numbers ---- */

const char *number_text(rvm_type t, rvm_scalar v, char text[NUMBER_TEXT]) {
    rvm_scalar_text(t, v, text, NUMBER_TEXT);
    return text;
}

int quoted_length(const char *text) {
    enum { MOST = 20 };
    const size_t n = strcspn(text, "\n");
    return n < MOST ? (int)n : MOST;
}

static rvm_status bad_number(const char *at, const char *why, rvm_error *err) {
    int length = (int)strcspn(at, ",]) \t\n");
    if (length > 40) length = 40;
    if (!length && *at) length = 1;
    return fail(err, RVM_ERR_ARGUMENT, NULL, "`%.*s` %s", length, at, why);
}

/* The values next to the decimal itself, below and above; if it is one, it is both. */
static void bracket(const char *decimal, long double *below, long double *above) {
    const int mode = fegetround();
    fesetround(FE_DOWNWARD);
    *below = strtold(decimal, NULL);
    fesetround(FE_UPWARD);
    *above = strtold(decimal, NULL);
    fesetround(mode);
}

static rvm_status parse_i64(const char **at, rvm_scalar *out, rvm_error *err) {
    const char *digits = *at + strspn(*at, "+-");
    int base = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') ? 16 : 10;
    char *end, *real_end;
    errno = 0;
    long long n = strtoll(*at, &end, base);
    if (end != *at && errno == ERANGE) return bad_number(*at, "is outside the range of i64", err);
    errno = 0;
    double x = strtod(*at, &real_end);
    if (real_end == *at) return bad_number(*at, "is not a number", err);
    if (real_end > end) { /* 1e6 is whole, too */
        if (errno == ERANGE && isinf(x)) return bad_number(*at, "is outside the range of i64", err);
        long double below, above;
        bracket(*at, &below, &above);
        if (!isinf(x) && (fabsl(below) > 0x1p53L || fabsl(above) > 0x1p53L))
            return bad_number(*at, "is too large for this notation: write all its digits", err);
        if (isinf(x) || below != above || below != floorl(below))
            return bad_number(*at, "is not whole, as an i64 must be", err);
        n = (long long)x;
        end = real_end;
    }
    out->i = n;
    *at = end;
    return RVM_OK;
}

/* To nearest, ties to even, of the decimal itself: a long double has no bits to spare beyond 2^19. Ties are among its
 * values, so that what lies between two of them rounds as what is a little above the lower one. */
static long double nearest_unit(const char *decimal) {
    long double below, above;
    bracket(decimal, &below, &above);
    const long double scaled = ldexpl(below, RVM_FIX_FRACTION), floor = floorl(scaled);
    return below != above && scaled - floor == 0.5L ? floor + 1 : rintl(scaled);
}

static rvm_status parse_fix(const char **at, rvm_scalar *out, rvm_error *err) {
    char *end;
    long double x = strtold(*at, &end);
    if (end == *at) return bad_number(*at, "is not a number", err);
    if (!(x >= -FIX_LIMIT && x < FIX_LIMIT)) return bad_number(*at, "is outside the range of fix, [-1048576, 1048576)", err);
    const long double scaled = nearest_unit(*at);
    out->i = scaled < 0x1p63L ? (int64_t)scaled : INT64_MAX;
    *at = end;
    return RVM_OK;
}

rvm_status number_parse(rvm_type t, const char **at, rvm_scalar *out, rvm_error *err) {
    *at += strspn(*at, " \t\n");
    if (t == RVM_I64) return parse_i64(at, out, err);
    if (t == RVM_FIX) return parse_fix(at, out, err);
    char *end;
    out->f = t == RVM_F32 ? (double)strtof(*at, &end) : strtod(*at, &end); /* rounded once */
    if (end == *at) return bad_number(*at, "is not a number", err);
    *out = rvm_scalar_from_double(t, out->f);
    if (isinf(out->f) && isdigit((unsigned char)end[-1]))
        return bad_number(*at, t == RVM_F32 ? "is outside the range of f32" : "is outside the range of f64", err);
    *at = end;
    return RVM_OK;
}

void param_type_text(const rvm_param_info *p, char *text, size_t size) {
    int n = snprintf(text, size, "%s", p->function_type ? p->function_type : rvm_type_name(p->type));
    for (int d = 0; d < p->ndim && (size_t)n < size; d++) {
        n += snprintf(text + n, size - (size_t)n, "%s", d ? ", " : "[");
        if ((size_t)n >= size) return;
        if (p->dim_name[d])
            n += snprintf(text + n, size - (size_t)n, "%s", p->dim_name[d]);
        else
            n += snprintf(text + n, size - (size_t)n, "%lld", (long long)p->dim_value[d]);
    }
    if (p->ndim && (size_t)n < size) snprintf(text + n, size - (size_t)n, "]");
}
