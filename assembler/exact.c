/* exact.c: constants as fractions in lowest terms, up to EXACT_BITS a side, and their one rounding when they meet a type.
 *
 * Written out rather than taken from GMP or its mini-gmp, whose memory hooks are global to the process, while the assembler
 * takes all of its memory from the caller's allocator. Schoolbook methods do: numbers are short.
 */
#include "asm.h"
#include "maths.h"
#include "instruction.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMB = 64, LIMBS = EXACT_BITS / LIMB, ROOM = 2 * LIMBS + 3 }; /* a sum of products, shifted, and a limb to divide */

typedef unsigned __int128 wide;
typedef struct whole { /* not negative; low limbs first, the last of the n not 0 */
    uint32_t n;
    uint64_t limb[ROOM];
} whole;

/* ---- whole numbers ---- */

static void copy(whole *x, const whole *y) {
    x->n = y->n;
    memcpy(x->limb, y->limb, y->n * sizeof *y->limb);
}

static void set(whole *x, uint64_t v) {
    x->n = v != 0;
    x->limb[0] = v;
}

static void trim(whole *x) {
    while (x->n && !x->limb[x->n - 1]) x->n--;
}

static bool is_one(const whole *x) {
    return x->n == 1 && x->limb[0] == 1;
}

static uint32_t bits(const whole *x) {
    return x->n ? x->n * LIMB - (uint32_t)__builtin_clzll(x->limb[x->n - 1]) : 0;
}

static int compare(const whole *x, const whole *y) {
    if (x->n != y->n) return x->n < y->n ? -1 : 1;
    for (uint32_t k = x->n; k-- > 0;)
        if (x->limb[k] != y->limb[k]) return x->limb[k] < y->limb[k] ? -1 : 1;
    return 0;
}

static void add(whole *x, const whole *y) {
    wide carry = 0;
    for (uint32_t k = 0; k < y->n || k < x->n || carry; k++) {
        carry += (wide)(k < x->n ? x->limb[k] : 0) + (k < y->n ? y->limb[k] : 0);
        x->limb[k] = (uint64_t)carry;
        if (k >= x->n) x->n = k + 1;
        carry >>= LIMB;
    }
}

/* x -= y, which is not larger. */
static void subtract(whole *x, const whole *y) {
    uint64_t borrow = 0;
    for (uint32_t k = 0; k < x->n; k++) {
        const wide d = (wide)x->limb[k] - (k < y->n ? y->limb[k] : 0) - borrow;
        x->limb[k] = (uint64_t)d;
        borrow = (uint64_t)(d >> LIMB) & 1;
    }
    trim(x);
}

static void multiply(whole *out, const whole *x, const whole *y) {
    memset(out->limb, 0, (x->n + y->n) * sizeof *out->limb);
    for (uint32_t i = 0; i < x->n; i++) {
        wide carry = 0;
        for (uint32_t k = 0; k < y->n; k++) {
            carry += (wide)x->limb[i] * y->limb[k] + out->limb[i + k];
            out->limb[i + k] = (uint64_t)carry;
            carry >>= LIMB;
        }
        out->limb[i + y->n] = (uint64_t)carry;
    }
    out->n = x->n + y->n;
    trim(out);
}

static void shift_left(whole *x, uint32_t count) {
    const uint32_t limbs = count / LIMB, by = count % LIMB;
    if (!x->n) return;
    x->limb[x->n] = 0;
    for (uint32_t k = x->n + 1; k-- > 0;)
        x->limb[k + limbs] = by ? x->limb[k] << by | (k ? x->limb[k - 1] >> (LIMB - by) : 0) : x->limb[k];
    memset(x->limb, 0, limbs * sizeof *x->limb);
    x->n += limbs + 1;
    trim(x);
}

static void shift_right(whole *x, uint32_t by) {
    for (uint32_t k = 0; by && k < x->n; k++)
        x->limb[k] = x->limb[k] >> by | (k + 1 < x->n ? x->limb[k + 1] << (LIMB - by) : 0);
    trim(x);
}

/* One limb of the quotient: x, from limb j on, less that many y. Both are shifted so that y's highest bit is set. */
static uint64_t divide_limb(uint64_t *x, const whole *y) {
    const uint32_t n = y->n;
    const wide top = (wide)x[n] << LIMB | x[n - 1];
    wide q = x[n] >= y->limb[n - 1] ? UINT64_MAX : top / y->limb[n - 1], carry = 0;
    uint64_t borrow = 0;
    for (uint32_t k = 0; k <= n; k++) {
        carry += k < n ? q * y->limb[k] : 0;
        const wide d = (wide)x[k] - (uint64_t)carry - borrow;
        x[k] = (uint64_t)d;
        borrow = (uint64_t)(d >> LIMB) & 1;
        carry >>= LIMB;
    }
    while (borrow) { /* twice at most: the estimate was too large */
        q--;
        carry = 0;
        for (uint32_t k = 0; k <= n; k++) {
            carry += (wide)x[k] + (k < n ? y->limb[k] : 0);
            x[k] = (uint64_t)carry;
            carry >>= LIMB;
        }
        borrow = !carry;
    }
    return (uint64_t)q;
}

/* q = x / y, and x becomes the remainder (Knuth, volume 2, 4.3.1, algorithm D). */
static void divide(whole *x, const whole *y, whole *q) {
    q->n = 0;
    if (compare(x, y) < 0) return;
    if (x->n == 1) {
        const uint64_t a = x->limb[0], b = y->limb[0];
        set(q, a / b);
        set(x, a % b);
        return;
    }
    whole v;
    const uint32_t by = LIMB - 1 - (bits(y) - 1) % LIMB, n = x->n;
    copy(&v, y);
    shift_left(&v, by);
    shift_left(x, by); /* which leaves limb n, be it 0 */
    q->n = n - v.n + 1;
    for (uint32_t j = q->n; j-- > 0;) q->limb[j] = divide_limb(x->limb + j, &v);
    x->n = v.n;
    shift_right(x, by);
    trim(q);
}

/* x becomes the greatest common divisor of x and y, which is lost. */
static void common_divisor(whole *x, whole *y) {
    whole q, *a = x, *b = y;
    while (b->n) {
        divide(a, b, &q);
        whole *t = a;
        a = b;
        b = t;
    }
    if (a != x) copy(x, a);
}

/* ---- fractions ---- */

static void numerator(const exact *x, whole *w) {
    w->n = x->n;
    memcpy(w->limb, x->limb, x->n * sizeof *w->limb);
}
static void denominator(const exact *x, whole *w) {
    w->n = x->d;
    memcpy(w->limb, x->limb + x->n, x->d * sizeof *w->limb);
}

static bool small(const whole *x) {
    return bits(x) <= EXACT_BITS;
}

/* n / d in lowest terms; NULL where that is too long. */
static const exact *store(assembler *a, bool negative, const whole *n, const whole *d) {
    if (!small(n) || !small(d)) return NULL;
    exact *x = rvm__arena(a, sizeof *x + (n->n + d->n) * sizeof *x->limb);
    if (!x) return NULL;
    *x = (exact){.negative = negative && n->n, .n = (uint16_t)n->n, .d = (uint16_t)d->n};
    memcpy(x->limb, n->limb, n->n * sizeof *x->limb);
    memcpy(x->limb + n->n, d->limb, d->n * sizeof *x->limb);
    return x;
}

/* Divides both by what divides both; returns that in g, which may be NULL. */
static void cancel(whole *x, whole *y, whole *g) {
    whole d, t, q;
    if (!g && (is_one(x) || is_one(y))) return;
    copy(&d, x);
    copy(&t, y);
    if (is_one(x) || is_one(y))
        set(&d, 1);
    else
        common_divisor(&d, &t);
    if (g) copy(g, &d);
    if (is_one(&d)) return;
    divide(x, &d, &q);
    copy(x, &q);
    divide(y, &d, &q);
    copy(y, &q);
}

const exact *rvm__exact(assembler *a, int64_t v) {
    whole n, d;
    set(&n, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
    set(&d, 1);
    return store(a, v < 0, &n, &d);
}

const exact *rvm__exact_negate(assembler *a, const exact *x) {
    whole n, d;
    numerator(x, &n);
    denominator(x, &d);
    return store(a, !x->negative, &n, &d);
}

/* Numbers are long, and common divisors take most of the time: of the parts rather than of their products (Knuth, volume 2,
 * 4.5.1). */
static const exact *sum(assembler *a, const exact *x, const exact *y, bool minus) {
    whole n1, d1, n2, d2, s, t, g;
    numerator(x, &n1), denominator(x, &d1);
    numerator(y, &n2), denominator(y, &d2);
    cancel(&d1, &d2, &g);
    multiply(&s, &n1, &d2);
    multiply(&t, &n2, &d1);
    const bool other = y->negative != minus, same = x->negative == other, larger = same || compare(&s, &t) >= 0;
    whole *r = larger ? &s : &t;
    (same ? add : subtract)(r, larger ? &t : &s);
    cancel(r, &g, NULL);
    multiply(&n1, &d1, &d2);
    multiply(&n2, &n1, &g);
    return store(a, larger ? x->negative : other, r, &n2);
}

static const exact *product(assembler *a, const exact *x, const exact *y, bool inverse) {
    whole n1, d1, n2, d2, n, d;
    numerator(x, &n1), denominator(x, &d1);
    numerator(y, inverse ? &d2 : &n2), denominator(y, inverse ? &n2 : &d2);
    if (!d2.n) return NULL;
    cancel(&n1, &d2, NULL);
    cancel(&n2, &d1, NULL);
    multiply(&n, &n1, &n2);
    multiply(&d, &d1, &d2);
    return store(a, x->negative != y->negative, &n, &d);
}

/* Quotient towards zero, or the remainder. */
static const exact *whole_quotient(assembler *a, const exact *x, const exact *y, bool remainder) {
    const exact *f = product(a, x, y, true);
    whole n, d, q, one;
    if (!f) return NULL;
    set(&one, 1);
    numerator(f, &n);
    denominator(f, &d);
    divide(&n, &d, &q);
    const exact *quotient = store(a, f->negative, &q, &one);
    if (!remainder || !quotient) return quotient;
    const exact *multiple = product(a, quotient, y, false);
    return multiple ? sum(a, x, multiple, true) : NULL;
}

const exact *rvm__exact_op(assembler *a, exact_op op, const exact *x, const exact *y) {
    switch (op) {
    case EXACT_ADD: return sum(a, x, y, false);
    case EXACT_SUB: return sum(a, x, y, true);
    case EXACT_MUL: return product(a, x, y, false);
    case EXACT_DIV: return product(a, x, y, true);
    case EXACT_IDIV: return whole_quotient(a, x, y, false);
    case EXACT_IREM: return whole_quotient(a, x, y, true);
    }
    return NULL;
}

int rvm__exact_compare(const exact *x, const exact *y) {
    whole n1, d1, n2, d2, s, t;
    if (x->negative != y->negative) return x->negative ? -1 : 1;
    numerator(x, &n1), denominator(x, &d1);
    numerator(y, &n2), denominator(y, &d2);
    multiply(&s, &n1, &d2);
    multiply(&t, &n2, &d1);
    const int sign = compare(&s, &t);
    return x->negative ? -sign : sign;
}

/* w to the power n, 1 or more; false where that is too long. */
static bool power(whole *w, uint64_t n) {
    whole r, t;
    if (!w->n || is_one(w)) return true;
    for (set(&r, 1);; n >>= 1) {
        if (n & 1) {
            multiply(&t, &r, w);
            copy(&r, &t);
        }
        if (!small(&r)) return false;
        if (n == 1) break;
        multiply(&t, w, w);
        if (!small(&t)) return false;
        copy(w, &t);
    }
    copy(w, &r);
    return true;
}

const exact *rvm__exact_power(assembler *a, const exact *x, const exact *y) {
    whole n, d;
    if (!y->n) return rvm__exact(a, 1);
    if (!x->n) return y->negative ? NULL : x;
    const bool odd = y->limb[0] & 1, is_unit = rvm__exact_is_whole(x) && x->n == 1 && x->limb[0] == 1;
    if (is_unit) return rvm__exact(a, x->negative && odd ? -1 : 1);
    if (y->n > 1) return NULL;
    numerator(x, y->negative ? &d : &n);
    denominator(x, y->negative ? &n : &d);
    return power(&n, y->limb[0]) && power(&d, y->limb[0]) ? store(a, x->negative && odd, &n, &d) : NULL;
}

bool rvm__exact_is_whole(const exact *x) {
    return x->d == 1 && x->limb[x->n] == 1;
}

bool rvm__exact_i64(const exact *x, int64_t *out) {
    const uint64_t magnitude = x->n ? x->limb[0] : 0;
    if (!rvm__exact_is_whole(x) || x->n > 1 || magnitude > (uint64_t)INT64_MAX + x->negative) return false;
    *out = (int64_t)(x->negative ? 0 - magnitude : magnitude);
    return true;
}

/* n = n * scale + more; false: it has too many bits. */
static bool append(whole *n, uint64_t scale, uint64_t more) {
    whole by, t;
    if (!n->n) {
        set(n, more);
        return true;
    }
    set(&by, scale);
    multiply(&t, n, &by);
    set(&by, more);
    add(&t, &by);
    copy(n, &t);
    return small(n);
}

const exact *rvm__exact_read(assembler *a, const char *text) {
    enum { AT_ONCE = 18 }; /* digits that a limb holds */
    whole n, d, ten, t;
    int64_t exponent = 0, places = 0;
    uint64_t more = 0, scale = 1;
    bool point = false;
    set(&n, 0), set(&d, 1), set(&ten, 10);
    for (uint32_t k = 0; *text && *text != 'e'; text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        more = more * 10 + (uint64_t)(*text - '0');
        scale *= 10;
        places += point;
        if (++k % AT_ONCE) continue;
        if (!append(&n, scale, more)) return NULL;
        more = 0;
        scale = 1;
    }
    if (!append(&n, scale, more)) return NULL;
    const bool minus = *text == 'e' && text[1] == '-';
    for (text += *text == 'e' ? 1 + (text[1] == '-' || text[1] == '+') : 0; *text && exponent < EXACT_BITS; text++)
        exponent = exponent * 10 + (*text - '0');
    exponent = (minus ? -exponent : exponent) - places;
    const bool zero = !n.n;
    if (exponent && !zero) {
        if (!power(&ten, (uint64_t)(exponent < 0 ? -exponent : exponent))) return NULL;
        multiply(&t, exponent < 0 ? &d : &n, &ten);
        copy(exponent < 0 ? &d : &n, &t);
    }
    cancel(&n, &d, NULL);
    return store(a, false, &n, &d);
}

/* Half way between two f64 there are no more decimal places, above 1 and below. */
enum { PLACES_ABOVE_1 = 64, PLACES_BELOW_1 = 1100, MOST_WHOLE = 310 };

const exact *rvm__exact_read_long(assembler *a, const char *text) {
    char shorter[MOST_WHOLE + PLACES_BELOW_1 + 24];
    const char *e = strchr(text, 'e'), *end = e ? e : strchr(text, 0), *point = memchr(text, '.', (size_t)(end - text));
    const char *first = text + strspn(text, "0.");
    const long exponent = e ? strtol(e + 1, NULL, 10) : 0;
    if (first >= end || labs(exponent) > 2 * EXACT_BITS) return NULL;
    const long after = (point ? point : end) - first;         /* the first digit stands before so many places .. */
    const long whole_digits = after + (after < 0) + exponent; /* .. and so many before the point, or fewer than 0 */
    const long most = whole_digits > 0 ? whole_digits + PLACES_ABOVE_1 : whole_digits + PLACES_BELOW_1;
    if (whole_digits > MOST_WHOLE || most <= 0) return NULL;
    long n = 0;
    bool more = false;
    for (const char *c = first; c < end; c++) {
        if (*c == '.') continue;
        if (n < most)
            shorter[n++] = *c;
        else
            more |= *c != '0';
    }
    if (more) shorter[n++] = '1';
    snprintf(shorter + n, 24, "e%ld", whole_digits - n);
    return rvm__exact_read(a, shorter);
}

/* ---- rounding ---- */

/* The nearest m * 2^u, ties to even, to x without its sign: of `digits` bits, u not below `least`. */
static void nearest(const exact *x, int digits, int least, uint64_t *m, int *u) {
    whole n, d, q;
    *m = 0;
    *u = least;
    if (!x->n) return;
    numerator(x, &n);
    denominator(x, &d);
    int k = (int)bits(&n) - (int)bits(&d) - 1 - digits; /* the quotient by 2^k has a bit or two more than are kept */
    if (k < least - 1) k = least - 1;
    shift_left(k < 0 ? &n : &d, (uint32_t)(k < 0 ? -k : k));
    divide(&n, &d, &q);
    const uint64_t v = q.n ? q.limb[0] : 0;
    int drop = (int)bits(&q) - digits;
    if (drop < least - k) drop = least - k;
    const uint64_t half = UINT64_C(1) << (drop - 1), rest = v & (2 * half - 1), kept = v >> drop;
    const bool up = rest > half || (rest == half && (n.n || (kept & 1)));
    *m = kept + up;
    *u = k + drop;
}

/* Of numbers that binary64 holds the processor's division rounds right. */
static bool is_short(const exact *x) {
    return x->n == 1 && x->d == 1 && (x->limb[0] | x->limb[1]) >> DBL_MANT_DIG == 0;
}

static double nearest_double(const exact *x) {
    uint64_t m;
    int u;
    if (is_short(x)) return (double)x->limb[0] / (double)x->limb[1];
    nearest(x, DBL_MANT_DIG, -1074, &m, &u);
    return ldexp((double)m, u);
}

double rvm__exact_double(const exact *x) {
    const double v = nearest_double(x);
    return x->negative ? -v : v;
}

double rvm__exact_log(const assembler *a, const exact *x) {
    const rvm__math *math = rvm__math_of(a->options.math);
    uint64_t m;
    int u;
    const double v = rvm__exact_double(x);
    if (isnormal(v)) return math->log(v);
    nearest(x, 53, -2 * EXACT_BITS, &m, &u);
    return math->log((double)m) + u * 0.69314718055994530942;
}

static bool to_float(const exact *x, rvm_value *out) {
    uint64_t m;
    int u;
    nearest(x, 24, -149, &m, &u);
    const double v = ldexp((double)m, u);
    out->f = x->negative ? -v : v;
    return v < 0x1p128;
}

static bool to_fix(const exact *x, rvm_value *out) {
    uint64_t m;
    int u;
    whole n, d;
    numerator(x, &n);
    denominator(x, &d);
    shift_left(&d, 20);
    const int against = compare(&n, &d); /* 2^20, which is -2^63 where it is negative */
    if (against >= 0) {
        out->i = INT64_MIN;
        return against == 0 && x->negative;
    }
    nearest(x, 63, -RVM_FIX_FRACTION, &m, &u);
    out->u = x->negative ? 0 - m : m;
    return m <= (uint64_t)INT64_MAX + x->negative;
}

bool rvm__exact_value(const exact *x, rvm_type type, rvm_value *out) {
    switch (type) {
    case RVM_I64: return rvm__exact_i64(x, &out->i);
    case RVM_F64: return isfinite(out->f = rvm__exact_double(x));
    case RVM_F32: return to_float(x, out);
    case RVM_FIX: return to_fix(x, out);
    case RVM_TYPE_COUNT: break;
    }
    return false;
}
