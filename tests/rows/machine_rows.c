/* machine_rows.c: a program for every row, family and type, through every check, and its gradient against dual numbers. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dual.h"
#include "harness.h"
#include "instruction.h"

enum { DRAWS = TRY_ONE_IN > 1 ? 1 : 4, ALL_DRAWS = 2 }; /* of arguments; so many through all checks, the others run */

typedef struct combination {
    rvm_op op; /* a forward update */
    rvm_row row;
    rvm_type y, operand[3];
    bool constant; /* the operand is a constant: *= on i64 */
} combination;

static bool multiplies(const combination *c) {
    return c->op == RVM_OP_mul || rvm__op_inverse(c->op) == RVM_OP_mul;
}

static void put_operands(FILE *f, const combination *c) {
    for (int k = 0; k < rvm__row_info[c->row].arity; k++) fprintf(f, c->constant ? ", -21" : ", %c", 'a' + k);
}

static void put_update(FILE *f, const combination *c, rvm_op op, const char *target) {
    fprintf(f, "    %s.%s %s", rvm__op_info[op].name, rvm__row_info[c->row].name, target);
    put_operands(f, c);
    fprintf(f, rvm__op_sets(op) ? ", 0\n" : "\n");
}

/* fn t(y, a, b, c): the update; where it lets a place appear, that place is added to y, and its inverse ends the program. */
static char *source(const combination *c) {
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    bool appears = c->op == RVM_OP_let;
    fprintf(f, "fn t(y: %s", rvm_type_name(c->y));
    for (int k = 0; k < rvm__row_info[c->row].arity; k++) fprintf(f, ", %c: %s", 'a' + k, rvm_type_name(c->operand[k]));
    fprintf(f, ")\n");
    if (appears) fprintf(f, "    reg r: %s\n", rvm_type_name(c->y));
    put_update(f, c, c->op, appears ? "r" : "y");
    if (appears) {
        fprintf(f, "    add.id y, r\n");
        put_update(f, c, rvm__op_inverse(c->op), "r");
    }
    fprintf(f, "end\n");
    fclose(f);
    return text;
}

/* Random arguments where the row is defined; reals of either sign where it is defined there too. */
static bool arguments(const combination *c, args *a, rng *r) {
    long double x[3] = {0};
    double lo = rng_below(r, 2) ? 0.1 : -0.9, hi = lo + 0.8;
    a->a[0].value = c->y == RVM_I64 ? (rvm_scalar){.i = (int64_t)rng_next(r)} : arg_from_real(c->y, rng_real(r, -1, 1));
    for (uint32_t k = 1; k < a->n; k++) {
        rvm_type t = a->a[k].type;
        a->a[k].value = arg_from_real(t, t == RVM_I64 ? (double)(int64_t)(rng_next(r) % 201) - 100 : rng_real(r, lo, hi));
        if (t == RVM_I64 && a->a[k].value.i == 0) a->a[k].value.i = 5;
        x[k - 1] = arg_real(t, a->a[k].value);
    }
    if (rvm__row_first(c->row)) a->a[1].value.i = x[0] = rng_below(r, rvm__row_info[c->row].sig == RVM_SIG_SEL ? 2 : 4);
    long double f = dual_rows[c->row].f((dual){x[0], 0}, (dual){x[1], 0}, (dual){x[2], 0}).v;
    if (rvm__row_info[c->row].sig == RVM_SIG_ORD && fabsl(f) > 10) return false; /* its derivatives would not fit a fix */
    return isfinite(f) && (fabsl(f) > 1e-3L || !multiplies(c));
}

/* y += f: with seed 1, each shadow is the derivative. */
static bool check_partials(const subject *s, const combination *c, rvm_machine *m) {
    args a = args_copy(s->in);
    rvm_error e = {0};
    long double x[3] = {0};
    args_activate(&a, NULL);
    a.a[0].shadow = arg_from_real(c->y, 1);
    for (uint32_t k = 1; k < a.n; k++) x[k - 1] = arg_real(a.a[k].type, a.a[k].value);
    bool good = report_ok(s->rep, "gradient", rvm_gradient(m, s->fn, a.a, a.n, &e), &e);
    for (uint32_t k = 1; good && k < a.n; k++) {
        if (!a.a[k].active) continue;
        double want = (double)dual_derivative(&dual_rows[c->row], x, (int)k - 1), got = arg_real(a.a[k].type, a.a[k].shadow);
        const bool single = c->y == RVM_F32 || a.a[k].type == RVM_F32, fix = c->y == RVM_FIX || a.a[k].type == RVM_FIX;
        double tol = single ? 1e-5 : fix ? 1e-11 : 3e-13;
        if (!(fabs(want - got) <= tol * fmax(1, fabs(want))))
            good = report_fail(s->rep, "partial %u: expected %.17g, got %.17g", k - 1, want, got);
    }
    args_free(&a);
    return good;
}

static void check_combination(const combination *c, report *rep) {
    char *text = source(c), about[100];
    snprintf(about, sizeof about, "%s.%s on %s <- %s", rvm__op_info[c->op].name, rvm__row_info[c->row].name,
             rvm_type_name(c->y), rvm_type_name(c->operand[rvm__row_info[c->row].arity - 1]));
    rep->about = about;
    rvm_program *p = assemble_text(text, NULL, rep);
    rng r = {c->row * 64u + c->op + 1u};
    if (p) check_round_trips(p, rep);
    for (int n = 0, tried = 0; p && n < DRAWS && tried < 200; tried++) {
        args in = args_new(p, 0), out = {0};
        subject s = subject_new(p, 0, &in, rep);
        rvm_machine *m = NULL;
        s.few = true;
        s.turn = (unsigned)n + c->op + c->row;
        if (c->y == RVM_F32 || c->operand[0] == RVM_F32)
            s.no_differences = ""; /* too coarse; the partials are checked below */
        if (arguments(c, &in, &r)) {
            bool good = (n < ALL_DRAWS ? check_all : check_run)(&s, &out) && rvm_machine_new(p, NULL, &m, NULL) == RVM_OK;
            if (good && c->op == RVM_OP_add && c->y != RVM_I64) check_partials(&s, c, m);
            n++;
        }
        rvm_machine_free(m);
        args_free(&in);
        args_free(&out);
    }
    rvm_program_free(p);
    free(text);
}

static void check_type(rvm_type y) {
    report rep = {.name = "rows"};
    unsigned count = 0;
    for (int op = 0; op < RVM_OP_start; op++)
        for (int row = 0; rvm__op_info[op].name && row < RVM_ROW_COUNT; row++)
            for (int t = 0; t < RVM_TYPE_COUNT; t++) {
                combination c = {.op = (rvm_op)op, .row = (rvm_row)row, .y = y};
                bool other = op == RVM_OP_unlet || op == RVM_OP_unset; /* met on the way back from let and set */
                if (other || !rvm__update_legal(c.op, c.row, y) || !rvm__row_types(c.row, y, (rvm_type)t, c.operand))
                    continue;
                c.constant = y == RVM_I64 && multiplies(&c);
                check_combination(&c, &rep);
                count++;
            }
    cr_assert(rep.failures == 0);
    cr_assert(count > 60, "%u", count);
}

Test(machine_rows, i64) {
    check_type(RVM_I64);
}
Test(machine_rows, f64) {
    check_type(RVM_F64);
}
Test(machine_rows, fix) {
    check_type(RVM_FIX);
}
Test(machine_rows, f32) {
    check_type(RVM_F32);
}
