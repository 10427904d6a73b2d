/* answers.c: what users ask of derivatives, natively and by the interpreter, side by side: the same bits, or the same error.
 * Tangents agree to rounding: f'tan adds each term of a derivative by itself. */
#include "sides.h"

typedef rvm_status (*entry_point)(rvm_machine *, int64_t, rvm_arg *, uint32_t, rvm_error *);

/* ---- what is asked ---- */

typedef struct parts {
    rvm_part part[RVM_MAX_PARAMS];
    uint32_t n;
} parts;

static parts active_parts(const rvm_arg *a, uint32_t n) {
    parts p = {.n = 0};
    for (uint32_t k = 0; k < n; k++)
        if (a[k].active) p.part[p.n++] = (rvm_part){k, -1};
    return p;
}

/* A product along ones, which goes into the shadows, so that it is compared. */
static rvm_status product(rvm_machine *m, int64_t fn, rvm_arg *a, uint32_t n, bool forward, rvm_error *e) {
    enum { MOST = 4096 };
    static double in[MOST], out[MOST];
    const parts p = active_parts(a, n);
    rvm_derivative_spec q = {
        .fn = fn, .args = a, .nargs = n, .outputs = p.part, .inputs = p.part, .noutputs = p.n, .ninputs = p.n};
    int64_t rows, columns;
    rvm_status st = rvm_derivative_size(m, &q, &rows, &columns, e);
    if (st || rows > MOST) return st;
    for (int64_t k = 0; k < rows; k++) in[k] = 1;
    st = forward ? rvm_jvp(m, &q, in, out, NULL, e) : rvm_vjp(m, &q, in, out, NULL, e);
    const double *from = out;
    for (uint32_t i = 0; i < p.n && !st; i++)
        for (size_t k = 0; k < arg_count(&a[p.part[i].param]); k++)
            *arg_shadow(&a[p.part[i].param], k) = arg_from_real(a[p.part[i].param].type, *from++);
    return st;
}

static rvm_status jvp(rvm_machine *m, int64_t fn, rvm_arg *a, uint32_t n, rvm_error *e) {
    return product(m, fn, a, n, true, e);
}

static rvm_status vjp(rvm_machine *m, int64_t fn, rvm_arg *a, uint32_t n, rvm_error *e) {
    return product(m, fn, a, n, false, e);
}

static const struct {
    const char *name;
    entry_point ask;
    bool from_outputs, tangents;
} entries[] = {{"rvm_gradient", rvm_gradient, false, false},
               {"rvm_value_and_gradient", rvm_value_and_gradient, false, false},
               {"rvm_tangent", rvm_tangent, false, true},
               {"rvm_sweep", rvm_sweep, true, false},
               {"rvm_jvp", jvp, false, true},
               {"rvm_vjp", vjp, false, false}};

/* ---- both sides ---- */

/* Limits are those of the program that runs; deriving fills what a file's table of variants leaves out. */
static bool is_of_program(rvm_status s) {
    return s == RVM_ERR_FUNCTION || s == RVM_ERR_FUEL || s == RVM_ERR_LIMIT || s == RVM_ERR_MEMORY || s == RVM_ERR_DEPTH;
}

static bool same_answer(const subject *s, const char *what, side *x, bool tangents) {
    side *i = &x[INTERPRETED], *n = &x[NATIVE];
    if (is_of_program(i->status) && !n->status) {
        s->rep->checks++;
        return true;
    }
    if (!sides_end_alike(s->rep, what, x)) return false;
    const int shadows = COMPARE_SHADOWS | (tangents ? 0 : COMPARE_BITS);
    if (!args_agree(s->rep, what, s->program, s->fn, &i->a, &n->a, COMPARE_BITS, 0)) return false;
    return i->status || args_agree(s->rep, what, s->program, s->fn, &i->a, &n->a, shadows, 1e-9);
}

typedef struct recorded {
    uint64_t updates, bits;
} recorded;

static recorded recorded_by(const side *x) {
    rvm_stats s;
    rvm_machine_stats(x->m, &s);
    return (recorded){s.exact_updates, s.exact_bits};
}

/* Since `before`, where native code ran on its side. Not of tangents in compute parts, recorded by the engine's own steps;
 * for the value f runs before f'grad does. */
static bool same_record(const subject *s, const char *what, const side *x, const recorded *before) {
    const recorded i = recorded_by(&x[INTERPRETED]), n = recorded_by(&x[NATIVE]);
    const uint64_t updates = i.updates - before[INTERPRETED].updates, bits = i.bits - before[INTERPRETED].bits;
    if (x[NATIVE].status || rvm_jit_reason(x[NATIVE].m, NULL)) return true;
    s->rep->checks++;
    if (n.updates - before[NATIVE].updates == updates && n.bits - before[NATIVE].bits == bits) return true;
    return report_fail(s->rep, "%s: expected %llu updates and %llu bits recorded, got %llu and %llu", what,
                       (unsigned long long)updates, (unsigned long long)bits,
                       (unsigned long long)(n.updates - before[NATIVE].updates),
                       (unsigned long long)(n.bits - before[NATIVE].bits));
}

/* Twice, since the second time arguments are known. */
static bool check_entry(const subject *s, side *x, unsigned k, args *in) {
    char what[80];
    for (int round = 0; round < 2; round++) {
        const recorded before[SIDES] = {recorded_by(&x[0]), recorded_by(&x[1])};
        snprintf(what, sizeof what, "%s, %s time", entries[k].name, round ? "second" : "first");
        for (int way = 0; way < SIDES; way++) {
            side *y = &x[way];
            y->e = (rvm_error){0};
            y->a = args_copy(in);
            y->status = entries[k].ask(y->m, s->fn, y->a.a, y->a.n, &y->e);
        }
        bool good = same_answer(s, what, x, entries[k].tangents);
        const bool counts = entries[k].ask != rvm_value_and_gradient && !entries[k].tangents;
        good = good && (!counts || same_record(s, what, x, before));
        const bool failed = good && x[INTERPRETED].status && x[NATIVE].status;
        for (int way = 0; way < SIDES && failed; way++) /* from where it failed */
            x[way].status = rvm_machine_backward(x[way].m, &x[way].e);
        good = good && (!failed || same_answer(s, "back to the start", x, entries[k].tangents));
        for (int way = 0; way < SIDES; way++) {
            rvm_machine_unbind(x[way].m);
            args_free(&x[way].a);
        }
        if (!good) return false;
    }
    return true;
}

/* Which of them: all, or by a number every other one. */
enum { ALL_ENTRIES = 2 };

static bool check_entries(const subject *s, const engine *e, unsigned which, args *in, args *out) {
    side x[SIDES] = {{0}, {0}};
    rvm_error why;
    const rvm_options o = engine_options(s, e);
    bool good = side_open(s, &o, &x[INTERPRETED], NULL) && side_open(s, &o, &x[NATIVE], s->native->way[NATIVE_WHOLE]);
    for (unsigned k = 0; good && k < sizeof entries / sizeof *entries; k++) {
        if ((which != ALL_ENTRIES && k % 2 != which) || (entries[k].from_outputs && !out)) continue;
        good = check_entry(s, x, k, entries[k].from_outputs ? out : in);
        if (good && !x[NATIVE].status && rvm_jit_reason(x[NATIVE].m, &why))
            report_interpreted(s->rep, entries[k].name, &why);
    }
    sides_close(x);
    return good;
}

bool check_answers(const subject *s, bool fails) {
    if (!s->native || !s->native->way[NATIVE_WHOLE] || s->native_orders < 1 || !is_short(s)) return true;
    if (s->inverse || s->derived) return true;
    const engine *e = &engines[fails ? 0 : s->turn % engine_count]; /* some, each */
    rng r = {97};
    rvm_error err;
    rvm_machine *m = NULL;
    const rvm_options o = engine_options(s, e);
    args in = args_copy(s->in);
    args_activate(&in, s->active);
    args_random_shadows(&in, &r);
    args out = args_copy(&in);
    const bool runs = !rvm_machine_new(s->program, &o, &m, &err) && !rvm_call(m, s->fn, out.a, out.n, &err);
    rvm_machine_free(m);
    /* One half of one directive, the other of the next, and exactly of every other: compiling takes most of the time. */
    const unsigned which = fails ? ALL_ENTRIES : (rvm_program_function_count(s->program) + s->turn) % 2;
    bool good = check_entries(s, e, which, &in, runs ? &out : NULL);
    if (good && !fails && s->turn % 2 && runs_exactly(s))
        good = check_entries(s, &exact_engine, ALL_ENTRIES, &in, runs ? &out : NULL);
    args_free(&in);
    args_free(&out);
    return good;
}
