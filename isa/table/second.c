/* second.c: the partials that rows.def states, on dual numbers; the values that families.def states, on jets in (Y, F), and
 * those that inplace.def states, on jets in what an instruction reads. */
#include "second.h"
#include "instruction.h"

#include <string.h>

#include "kernels.h"

/* ---- rows ---- */

typedef struct rvm__dual {
    double v, d[3];
} rvm__dual;

static inline rvm__dual rvm__dual_neg(rvm__dual a) {
    return (rvm__dual){-a.v, {-a.d[0], -a.d[1], -a.d[2]}};
}
static inline rvm__dual rvm__dual_add(rvm__dual a, rvm__dual b) {
    return (rvm__dual){a.v + b.v, {a.d[0] + b.d[0], a.d[1] + b.d[1], a.d[2] + b.d[2]}};
}

/* p a + q b to first order, at value v; a direction that an operand lacks gains nothing from an infinite partial. */
static rvm__dual combine(double v, double p, rvm__dual a, double q, rvm__dual b) {
    rvm__dual r = {.v = v};
    for (int k = 0; k < 3; k++) r.d[k] = (a.d[k] != 0 ? p * a.d[k] : 0) + (b.d[k] != 0 ? q * b.d[k] : 0);
    return r;
}
static inline rvm__dual rvm__dual_mul(rvm__dual a, rvm__dual b) {
    return combine(a.v * b.v, b.v, a, a.v, b);
}
static inline rvm__dual rvm__dual_div(rvm__dual a, rvm__dual b) {
    return combine(a.v / b.v, 1 / b.v, a, -(a.v / b.v) / b.v, b);
}

/* Row of one or two operands at a, b, by its kernel and the partials it states. */
static rvm__dual rvm__dual_of_row(const rvm__math *math, rvm_row row, rvm__dual a, rvm__dual b) {
    const rvm__kernel *k = &math->kernels[rvm__kernel_index(row, RVM_F64, RVM_F64)];
    const rvm_value x = {.f = a.v}, y = {.f = b.v};
    int overflow = 0;
    const rvm_value f = k->f(x, y, x, &overflow);
    const double p = k->d[0](x, y, x, f, &overflow).f;
    const double q = rvm__row_info[row].arity > 1 ? k->d[1](x, y, x, f, &overflow).f : 0;
    return combine(f.f, p, a, q, b);
}

/* Row of an order and one operand. */
static rvm__dual rvm__dual_of_order(const rvm__math *math, rvm_row row, rvm__dual n, rvm__dual b) {
    const rvm__kernel *k = &math->kernels[rvm__kernel_index(row, RVM_F64, RVM_F64)];
    const rvm_value x = {.i = n.v < 0x1p63 ? (int64_t)n.v : INT64_MAX}, y = {.f = b.v};
    int overflow = 0;
    const rvm_value f = k->f(x, y, y, &overflow);
    return combine(f.f, k->d[1](x, y, y, f, &overflow).f, b, 0, b);
}

/* A comparison of equals is a corner of the function; EQ and NONZERO choose between formulas. */
static inline bool compared(bool result, rvm__dual x, rvm__dual y, bool *corner) {
    *corner |= x.v == y.v;
    return result;
}

#define FORMULA(name, F_, D0_, D1_, D2_)                                                                                    \
    static void second_##name(const rvm__math *math_, rvm__dual a_, rvm__dual b_, rvm__dual c_, rvm__dual out[4],           \
                              bool corner[3]) {                                                                             \
        (void)math_, (void)a_, (void)b_, (void)c_;                                                                          \
        bool ignored = false, *corner_ = &ignored;                                                                          \
        const rvm__dual r_ = (F_);                                                                                          \
        corner_ = &corner[0], out[0] = (D0_);                                                                               \
        corner_ = &corner[1], out[1] = (D1_);                                                                               \
        corner_ = &corner[2], out[2] = (D2_);                                                                               \
        out[3] = r_, (void)corner_;                                                                                         \
    }
#include "words_dual.h"
#define HAS_NUM(...) FORMULA(__VA_ARGS__)
#define HAS_REAL(name, F_, ...)                                                                                             \
    FORMULA(name, rvm__dual_of_row(math_, RVM_ROW_##name, A, B), __VA_ARGS__) /* not its words: they may overflow */
#define HAS_POS(...)            FORMULA(__VA_ARGS__)
#define HAS_SEL(...)            FORMULA(__VA_ARGS__)
#define HAS_ORD(...)            FORMULA(__VA_ARGS__)
#define HAS_CONV(name, F_, ...) FORMULA(name, A, __VA_ARGS__)
#define HAS_CMP(...)
#define HAS_INT(...)
#define HAS_QUOT(...)
#define ROW1(name, sig, F_, D0_, doc)           HAS_##sig(name, F_, D0_, K(0), K(0))
#define ROW2(name, sig, F_, D0_, D1_, doc)      HAS_##sig(name, F_, D0_, D1_, K(0))
#define ROW3(name, sig, F_, D0_, D1_, D2_, doc) HAS_##sig(name, F_, D0_, D1_, D2_)
#include "rows.def"
#undef HAS_NUM
#undef HAS_REAL
#undef HAS_POS
#undef HAS_SEL
#undef HAS_ORD
#undef HAS_CONV
#undef ROW1
#undef ROW2
#undef ROW3
#include "words_undef.h"

typedef void (*second_row)(const rvm__math *math, rvm__dual a, rvm__dual b, rvm__dual c, rvm__dual out[4], bool corner[3]);
#define HAS_NUM(name)                       [RVM_ROW_##name] = second_##name,
#define HAS_REAL                            HAS_NUM
#define HAS_POS                             HAS_NUM
#define HAS_SEL                             HAS_NUM
#define HAS_ORD                             HAS_NUM
#define HAS_CONV                            HAS_NUM
#define ROW1(name, sig, f, da, doc)         HAS_##sig(name)
#define ROW2(name, sig, f, da, db, doc)     HAS_##sig(name)
#define ROW3(name, sig, f, da, db, dc, doc) HAS_##sig(name)
static const second_row second_rows[RVM_ROW_COUNT] = {
#include "rows.def"
};

bool rvm__row_second(const rvm__math *math, rvm_row row, const double x[3], rvm__second *out) {
    if (!second_rows[row]) return false;
    const int arity = rvm__row_info[row].arity;
    rvm__dual operand[3] = {{0}}, got[4];
    for (int k = 0; k < arity; k++) operand[k].v = x[k], operand[k].d[k] = 1;
    *out = (rvm__second){0};
    second_rows[row](math, operand[0], operand[1], operand[2], got, out->corner);
    out->f = got[3].v;
    for (int j = 0; j < arity; j++) {
        out->d[j] = got[j].v;
        for (int k = 0; k <= j; k++) out->dd[j][k] = got[j].d[k];
    }
    return true;
}

/* ---- families: jets to second order in (Y, F) ---- */

typedef struct jet {
    double v, y, f, yy, yf, ff;
} jet;

static inline jet jet_add(jet a, jet b, double sign) {
    return (jet){a.v + sign * b.v,   a.y + sign * b.y,   a.f + sign * b.f,
                 a.yy + sign * b.yy, a.yf + sign * b.yf, a.ff + sign * b.ff};
}
static inline jet jet_mul(jet a, jet b) {
    return (jet){a.v * b.v,
                 a.y * b.v + a.v * b.y,
                 a.f * b.v + a.v * b.f,
                 a.yy * b.v + 2 * a.y * b.y + a.v * b.yy,
                 a.yf * b.v + a.y * b.f + a.f * b.y + a.v * b.yf,
                 a.ff * b.v + 2 * a.f * b.f + a.v * b.ff};
}
static inline jet jet_inverse(jet a) {
    const double i = 1 / a.v, d = -i * i, dd = -2 * i * d;
    return (jet){i, d * a.y, d * a.f, d * a.yy + dd * a.y * a.y, d * a.yf + dd * a.y * a.f, d * a.ff + dd * a.f * a.f};
}

#define ADD(a, b) jet_add(a, b, 1)
#define SUB(a, b) jet_add(a, b, -1)
#define MUL(a, b) jet_mul(a, b)
#define DIV(a, b) jet_mul(a, jet_inverse(b))
#define K(x)      ((jet){.v = (x)})
#define XOR(a, b) (a) /* i64 only */
#define FAMILY(name, inverse, sym, access, VALUE_, SEED_, SB_, SD_, doc)                                                    \
    static jet family_##name(jet Y, jet F) {                                                                                \
        (void)Y, (void)F;                                                                                                   \
        return VALUE_;                                                                                                      \
    }
#define INVERSE FAMILY
#include "families.def"
#undef FAMILY
#include "words_undef.h"

rvm__family_second rvm__family_partials(rvm_op op, double Y, double F) {
    static jet (*const of[RVM_OP_start])(jet, jet) = {
#define FAMILY(name, inverse, sym, access, value, seed, sb, sd, doc) [RVM_OP_##name] = family_##name,
#include "families.def"
    };
    const jet g = of[op]((jet){.v = Y, .y = 1}, (jet){.v = F, .f = 1});
    return (rvm__family_second){g.y, g.f, g.yy, g.yf, g.ff};
}

/* ---- changes in place: jets to second order in places and operands, by the partials of the rows that their words are ----
 */

typedef rvm__change_jet many;

static many constant(double v) {
    return (many){.v = v};
}

static many input(const double *x, int k) {
    many r = {.v = x[k]};
    r.d[k] = 1;
    return r;
}

static many of_row(const rvm__math *math, rvm_row row, many a, many b) {
    const double x[3] = {a.v, b.v};
    rvm__second f;
    rvm__row_second(math, row, x, &f);
    many r = {.v = f.f};
    for (int j = 0; j < RVM__CHANGE_INPUTS; j++) {
        r.d[j] = f.d[0] * a.d[j] + f.d[1] * b.d[j];
        for (int k = 0; k <= j; k++)
            r.dd[j][k] = f.d[0] * a.dd[j][k] + f.d[1] * b.dd[j][k] + f.dd[0][0] * a.d[j] * a.d[k] +
                         f.dd[1][1] * b.d[j] * b.d[k] + f.dd[1][0] * (a.d[j] * b.d[k] + b.d[j] * a.d[k]);
    }
    return r;
}

#define ADD(a, b)       of_row(math, RVM_ROW_add, a, b)
#define SUB(a, b)       of_row(math, RVM_ROW_sub, a, b)
#define MUL(a, b)       of_row(math, RVM_ROW_mul, a, b)
#define DIV(a, b)       of_row(math, RVM_ROW_div, a, b)
#define NEG(a)          of_row(math, RVM_ROW_neg, a, constant(0))
#define GT(a, b)        constant((a).v > (b).v)
#define SELECT(c, a, b) ((c).v != 0 ? (a) : (b))
#define FN(name, a)     of_row(math, RVM_ROW_##name, a, constant(0))
#define K(x)            constant(x)
#define Y               input(x, 0)
#define Z               input(x, 1)
#define W               input(x, 2)
#define A               input(x, places)
#define B               input(x, places + 1)
#define OUT(...)        (__VA_ARGS__)
#define BRACES(...)                                                                                                         \
    { __VA_ARGS__ }
#define ITSELF
#define IGNORE(...)
#undef INVERSE
#define INVERSE(name, ...) (__VA_ARGS__) IGNORE
#define GIVE(...)                                                                                                           \
    do {                                                                                                                    \
        const many is[] = {__VA_ARGS__};                                                                                    \
        memcpy(out, is, sizeof is);                                                                                         \
    } while (0)
#define ON_N(...) __VA_ARGS__
#define ON_R      ON_N
#define ON_D      ON_N
#define ON_I(...)
#define CHANGE(name, inverse, operands, types, value, exact, shadows, out_, partials, where, doc)                           \
    ON_##types(case RVM_PAIR_##name : if (rvm__is_inverse(op)) GIVE inverse out_; else GIVE out_; break;)

static void jets_of(const rvm__math *math, rvm_op op, const double x[RVM__CHANGE_INPUTS], many out[RVM_MAX_CHANGED]) {
    const int places = rvm__change_info[rvm__change_of(op)].places;
    switch ((int)rvm__pair_of(op)) {
#include "inplace.def"
    }
}

/* Second partials of f along two directions. */
static double along(const many *f, int n, const double a[RVM__CHANGE_INPUTS], const double b[RVM__CHANGE_INPUTS]) {
    double sum = 0;
    for (int p = 0; p < n; p++)
        for (int q = 0; q < n; q++) sum += (p > q ? f->dd[p][q] : f->dd[q][p]) * a[p] * b[q];
    return sum;
}

/* The partials of the inverse, out, from those of the instruction, f, where the inverse leads to: of y with f(y, a) = x. The
 * partials of f by the places are an orthogonal matrix. */
static void take_back(const rvm_change_info *info, const many f[RVM_MAX_CHANGED], many out[RVM_MAX_CHANGED]) {
    const int n = info->places, all = n + info->operands;
    double by[RVM__CHANGE_INPUTS][RVM__CHANGE_INPUTS] = {{0}}; /* of y and a by each of x and a */
    for (int k = 0; k < all; k++)
        for (int p = 0; p < n; p++)
            for (int i = 0; i < n; i++) by[k][p] += f[i].d[p] * (k < n ? i == k : -f[i].d[k]);
    for (int k = n; k < all; k++) by[k][k] = 1;
    memset(out, 0, (size_t)n * sizeof *out);
    for (int j = 0; j < all; j++)
        for (int p = 0; p < n; p++) {
            out[p].d[j] = by[j][p];
            for (int k = 0; k <= j; k++)
                for (int i = 0; i < n; i++) out[p].dd[j][k] -= f[i].d[p] * along(&f[i], all, by[j], by[k]);
        }
}

/* What has partials before it is differentiated backward as what takes it back: beside its domain the formulas of the
 * inverse are another function. */
void rvm__change_jets(const rvm__math *math, rvm_op op, const double x[RVM__CHANGE_INPUTS],
                      rvm__change_jet out[RVM_MAX_CHANGED]) {
    const rvm_change_info *info = &rvm__change_info[rvm__change_of(op)];
    double y[RVM__CHANGE_INPUTS];
    many f[RVM_MAX_CHANGED];
    jets_of(math, op, x, out);
    if (!rvm__is_inverse(op) || !info->partials.before) return;
    for (int k = 0; k < RVM__CHANGE_INPUTS; k++) y[k] = k < info->places ? out[k].v : x[k];
    jets_of(math, rvm__op_inverse(op), y, f);
    take_back(info, f, out);
}
