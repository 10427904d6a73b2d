/* runner.c: takes case files through every engine present; see harness/directive.h for what a case may say.
 *
 *     runner FILE...        exit status 0 when every directive of every file holds
 *
 * A file that expects no error is assembled once and goes through the round trips; every `run` goes through all checks.
 */
#include "harness/directive.h"
#include "harness/harness.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIAGNOSTICS = 64 };

typedef struct test_case {
    const char *path;
    char *source;
    directives all;
    rvm_program *program;
    rvm_asm_options assembler;
    rvm_options options;
    double restore, loose;   /* loose: values agree within this at least; 0: as each directive says */
    bool few;                /* engines, of the interpreter */
    int orders, most_orders; /* the case's; the command line's */
    int native_orders;
    const char *no_differences, *no_derivatives, *no_products, *no_transforms, *no_undoing, *no_erased;
    rvm_error diagnostics[MAX_DIAGNOSTICS];
    bool matched[MAX_DIAGNOSTICS];
    unsigned ndiagnostics;
    const natives *native;
    unsigned first; /* line of a call */
    report rep;
} test_case;

static char *read_file(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    char *text = NULL;
    size_t size = 0, n;
    do {
        text = realloc(text, size + 65537);
        if (!text) abort();
        n = fread(text + size, 1, 65536, f);
        size += n;
    } while (n);
    text[size] = 0;
    fclose(f);
    return text;
}

/* ---- assembling ---- */
static void on_diagnostic(void *userdata, const rvm_error *e, const char *text) {
    test_case *t = userdata;
    if (t->ndiagnostics < MAX_DIAGNOSTICS) t->diagnostics[t->ndiagnostics++] = *e;
    char place[300];
    snprintf(place, sizeof place, "%s:%u:%u: %s: ", e->file, e->line, e->column, e->code ? "error" : "warning");
    if (e->line && strncmp(text, place, strlen(place)) != 0) report_fail(&t->rep, "expected `%s...`, got: %s", place, text);
    if (e->line && !strchr(text, '^')) report_fail(&t->rep, "a diagnostic without a caret: %s", text);
}

static rvm_status status_of(const char *name) {
#define X(n, exit_status, text)                                                                                             \
    if (!strcmp(name, #n)) return RVM_ERR_##n;
    RVM_STATUS_MAP(X)
#undef X
    return RVM_ERR_INTERNAL;
}

static bool holds(const char *message, char *const *texts) {
    while (*texts && strstr(message, *texts)) texts++;
    return !*texts;
}

static bool expect_diagnostic(test_case *t, const directive *d, rvm_status code, unsigned word) {
    unsigned line = directive_target(t->source, directive_word(d, word));
    for (unsigned k = 0; k < t->ndiagnostics; k++) {
        const rvm_error *e = &t->diagnostics[k];
        if (t->matched[k] || e->code != code || e->line != line || !holds(e->message, directive_words(d, word + 1)))
            continue;
        return t->matched[k] = true;
    }
    return report_fail(&t->rep, "no such diagnostic (line %u)", line);
}

static bool do_error(test_case *t, const directive *d) {
    return expect_diagnostic(t, d, status_of(directive_word(d, 1)), 2);
}
static bool do_warning(test_case *t, const directive *d) {
    return expect_diagnostic(t, d, RVM_OK, 1);
}

static void unexpected_diagnostics(test_case *t) {
    t->rep.about = NULL;
    for (unsigned k = 0; k < t->ndiagnostics; k++)
        if (!t->matched[k])
            report_fail(&t->rep, "diagnostic that no directive expects: %s at %s:%u:%u: %s",
                        rvm_status_name(t->diagnostics[k].code), t->diagnostics[k].file, t->diagnostics[k].line,
                        t->diagnostics[k].column, t->diagnostics[k].message);
}

/* ---- arguments of a directive ---- */
static char *split_value(const char *word, char *name, size_t size) {
    char *eq = strchr(word, '=');
    if (!eq || (size_t)(eq - word) >= size) return NULL;
    memcpy(name, word, (size_t)(eq - word));
    name[eq - word] = 0;
    return eq + 1;
}

/* Set words [from, to) of the directive; `of` and `wrt` are left to the caller. */
static bool set_words(test_case *t, const directive *d, unsigned from, unsigned to, int64_t fn, args *a) {
    for (unsigned k = from; k < to; k++) {
        char name[64];
        const char *why = "not name=value", *value = split_value(d->words[k], name, sizeof name);
        if (value && (!strcmp(name, "of") || !strcmp(name, "wrt"))) continue;
        if (!value || !args_set(a, t->program, fn, name, value, &why))
            return report_fail(&t->rep, "bad directive: %s: %s", d->words[k], why);
    }
    return true;
}

/* The function of a directive, or -1 after a report. A derived one is derived now, in a program that takes the place of the
 * case's. */
static int64_t function(test_case *t, const directive *d) {
    const char *name = directive_word(d, 1);
    int64_t fn = rvm_program_find(t->program, name);
    rvm_program *derived;
    rvm_error e = {0};
    uint32_t index = 0;
    if (fn >= 0) return fn;
    if (!report_ok(&t->rep, name, rvm_program_derive(t->program, name, &derived, &index, &e), &e)) return -1;
    rvm_program_free(t->program);
    t->program = derived;
    return check_round_trips(derived, &t->rep) ? (int64_t)index : -1;
}

static bool begin(test_case *t, const directive *d, subject *s, args *in) {
    const char *why = "";
    int64_t fn = function(t, d);
    *in = (args){0};
    if (fn < 0) return false;
    *in = args_new(t->program, fn);
    if (!set_words(t, d, 2, d->arrow, fn, in)) return false;
    if (!args_complete(in, t->program, fn, &why)) return report_fail(&t->rep, "bad directive: %s", why);
    *s = subject_new(t->program, fn, in, &t->rep);
    s->options = t->options;
    s->restore = t->restore;
    s->no_differences = t->no_differences;
    s->no_derivatives = t->no_derivatives;
    s->no_products = t->no_products;
    s->no_transforms = t->no_transforms;
    s->no_undoing = t->no_undoing;
    s->no_erased = t->no_erased;
    if (!t->first) t->first = d->line;
    s->native = is_short(s) || (d->line - t->first) % 4 == 0 ? t->native : NULL; /* long ones take long to compile */
    s->native_orders = t->native_orders;
    s->few = t->few;
    s->turn = d->line;
    s->orders = t->orders < t->most_orders ? t->orders : t->most_orders;
    return true;
}

static double cut_tolerance(char *word, double otherwise) {
    char *tilde = strrchr(word, '~');
    if (!tilde) return otherwise;
    *tilde = 0;
    return strtod(tilde + 1, NULL);
}

/* Compare one word `name=value[~tol]` behind the arrow with what came out; a value of ? is any. */
static bool expect_word(test_case *t, subject *s, args *got, char *word, bool shadows, bool *named) {
    double tol = cut_tolerance(word, -1);
    char name[64];
    const char *value = split_value(word, name, sizeof name), *why = "not name=value";
    int64_t i = value ? args_find(t->program, s->fn, name) : -1;
    if (i < 0) return report_fail(&t->rep, "bad directive: %s: no such parameter", word);
    named[i] = true;
    if (!strcmp(value, "?")) return true;
    args want = args_copy(got), shown = args_copy(got);
    bool good = args_set(&want, t->program, s->fn, name, value, &why);
    if (!good) report_fail(&t->rep, "bad directive: %s: %s", word, why);
    size_t n = arg_count(&want.a[i]), have = arg_count(&got->a[i]);
    if (good && n != have) good = report_fail(&t->rep, "%s: expected %zu elements, got %zu", name, n, have);
    for (size_t k = 0; good && shadows && k < n; k++) *arg_value(&shown.a[i], k) = *arg_shadow(&got->a[i], k);
    if (t->loose > 0) tol = fmax(tol, t->loose);
    int how = tol < 0 ? 0 : COMPARE_REAL_FIX;
    good = good && args_agree(&t->rep, "value", t->program, s->fn, &want, &shown, how, tol < 0 ? 1e-12 : tol);
    args_free(&want);
    args_free(&shown);
    return good;
}

static bool expect_rest(test_case *t, subject *s, args *got, const bool *named) {
    for (uint32_t i = 0; i < got->n; i++)
        for (size_t k = 0; !named[i] && k < arg_count(&got->a[i]); k++)
            if (arg_value(&got->a[i], k)->i != arg_value(&s->in->a[i], k)->i)
                return report_fail(&t->rep, "argument %u, which the directive does not name, changed", i);
    return true;
}

/* All words behind the arrow; what a `run` does not name must equal the input. */
static bool expect(test_case *t, const directive *d, subject *s, args *got, bool shadows) {
    bool good = true, *named = calloc(got->n + 1, sizeof *named);
    for (unsigned k = d->arrow + 1; good && k < d->count; k++) {
        char *word = strdup(d->words[k]);
        good = expect_word(t, s, got, word, shadows, named);
        free(word);
    }
    good = good && (shadows || expect_rest(t, s, got, named));
    free(named);
    return good;
}

/* ---- directives that run ---- */
static bool do_run(test_case *t, const directive *d) {
    subject s;
    args in, out = {0};
    bool good = begin(t, d, &s, &in);
    if (good) {
        s.inverse = d->words[0][0] == 'u';
        good = check_all(&s, &out) && expect(t, d, &s, &out, false);
    }
    args_free(&out);
    args_free(&in);
    return good;
}

static bool listed(const char *list, const char *name) {
    size_t n = strlen(name);
    for (const char *s = list; *s; s += strcspn(s, ",") + (s[strcspn(s, ",")] == ','))
        if (!strncmp(s, name, n) && (s[n] == ',' || !s[n])) return true;
    return false;
}

/* "y[1, 2]" among the names of a list: sets that element's shadow to 1. False when there is no such element. */
static bool seed_elements(test_case *t, int64_t fn, const char *list, args *in) {
    for (const char *s = strchr(list, '['); s; s = strchr(s + 1, '[')) {
        const char *name = s, *at = s;
        while (name > list && name[-1] != ',') name--;
        char text[64];
        snprintf(text, sizeof text, "%.*s", (int)(s - name), name);
        int64_t i = args_find(t->program, fn, text), k = 0;
        if (i < 0) return false;
        for (int d = 0; d < in->a[i].ndim; d++) {
            char *end;
            k = k * in->a[i].shape[d] + strtoll(at + 1, &end, 10);
            at = end;
        }
        if (k < 0 || k >= (int64_t)arg_count(&in->a[i]) || *at != ']') return false;
        in->a[i].active = true;
        *arg_shadow(&in->a[i], (size_t)k) = arg_from_real(in->a[i].type, 1);
    }
    return true;
}

/* gradient: seed 1 in of=, active of= and wrt=. tangent: 1 in wrt=, all active. */
static bool do_shadow(test_case *t, const directive *d) {
    bool tangent = !strcmp(d->words[0], "tangent");
    const char *of = "", *wrt = "";
    subject s;
    args in;
    rvm_error e = {0};
    bool good = begin(t, d, &s, &in);
    for (unsigned k = 2; good && k < d->arrow; k++) {
        if (!strncmp(d->words[k], "of=", 3)) of = d->words[k] + 3;
        if (!strncmp(d->words[k], "wrt=", 4)) wrt = d->words[k] + 4;
    }
    if (good) args_activate(&in, NULL);
    for (uint32_t i = 0; good && i < in.n; i++) {
        rvm_param_info info;
        rvm_program_param(t->program, (uint32_t)s.fn, i, &info);
        bool seeded = listed(tangent ? wrt : of, info.name);
        if (!tangent) in.a[i].active = in.a[i].type != RVM_I64 && (listed(of, info.name) || listed(wrt, info.name));
        for (size_t k = 0; seeded && k < arg_count(&in.a[i]); k++) *arg_shadow(&in.a[i], k) = arg_from_real(in.a[i].type, 1);
    }
    if (good && !seed_elements(t, s.fn, tangent ? wrt : of, &in)) good = report_fail(&t->rep, "no such element");
    for (unsigned k = 0; good && k < engine_count; k++) {
        rvm_options o = engine_options(&s, &engines[k]);
        rvm_machine *m = NULL;
        args a = args_copy(&in);
        good = report_ok(&t->rep, "machine", rvm_machine_new(t->program, &o, &m, &e), &e);
        rvm_status st = !good ? RVM_ERR_MEMORY : (tangent ? rvm_tangent : rvm_gradient)(m, s.fn, a.a, a.n, &e);
        good = report_ok(&t->rep, engines[k].name, st, &e) && expect(t, d, &s, &a, true);
        rvm_machine_free(m);
        args_free(&a);
    }
    args_free(&in);
    return good;
}

/* Sets shadows to 1 in what a list names: "x,y[1]"; to another number where a `*NUMBER` follows: "x*7,y*8". */
static bool direction(test_case *t, int64_t fn, const char *list, args *a) {
    for (uint32_t i = 0; i < a->n; i++) {
        rvm_param_info info;
        rvm_program_param(t->program, (uint32_t)fn, i, &info);
        const size_t n = strlen(info.name);
        for (const char *w = list; *w; w += strcspn(w, ",") + (w[strcspn(w, ",")] == ',')) {
            if (strncmp(w, info.name, n) != 0 || (w[n] && !strchr(",*", w[n]))) continue;
            const double x = w[n] == '*' ? strtod(w + n + 1, NULL) : 1;
            for (size_t k = 0; k < arg_count(&a->a[i]); k++) *arg_shadow(&a->a[i], k) = arg_from_real(info.type, x);
        }
    }
    return seed_elements(t, fn, list, a) || report_fail(&t->rep, "no such element");
}

/* Hessian of of= by every real, times the direction that wrt= names; what comes out is shown as shadows. */
static bool do_hessian(test_case *t, const directive *d) {
    const char *of = "", *wrt = "";
    subject s;
    args in;
    bool good = begin(t, d, &s, &in);
    for (unsigned k = 2; good && k < d->arrow; k++) {
        if (!strncmp(d->words[k], "of=", 3)) of = d->words[k] + 3;
        if (!strncmp(d->words[k], "wrt=", 4)) wrt = d->words[k] + 4;
    }
    args seed = good ? args_copy(&in) : (args){0}, along = good ? args_copy(&in) : (args){0};
    if (good) {
        args_activate(&in, NULL);
        args_activate(&seed, NULL);
        args_activate(&along, NULL);
        good = direction(t, s.fn, of, &seed) && direction(t, s.fn, wrt, &along);
    }
    for (int method = 0; good && method < 2; method++) {
        args got = args_copy(&in);
        good = hessian_times(&s, method ? RVM_BY_HVP : RVM_BY_SWEEP, &seed, &along, &got) && expect(t, d, &s, &got, true);
        args_free(&got);
    }
    args_free(&seed);
    args_free(&along);
    args_free(&in);
    return good;
}

static bool do_fail(test_case *t, const directive *d) {
    subject s;
    args in;
    bool good = begin(t, d, &s, &in);
    if (good) {
        s.inverse = d->words[0][0] == 'u';
        good = check_failure(&s, status_of(directive_word(d, d->arrow + 1)),
                             directive_target(t->source, directive_word(d, d->arrow + 2)), directive_words(d, d->arrow + 3));
    }
    args_free(&in);
    return good;
}

/* The program runs, but with tangents of 1 in wrt= (all reals without it) a release is found to be an accident. */
static bool do_accident(test_case *t, const directive *d) {
    subject s;
    args in, a = {0};
    rvm_machine *m = NULL;
    rvm_error e = {0};
    const char *wrt = NULL;
    bool good = begin(t, d, &s, &in);
    for (unsigned k = 2; good && k < d->arrow; k++)
        if (!strncmp(d->words[k], "wrt=", 4)) wrt = d->words[k] + 4;
    good = good && report_ok(&t->rep, "machine", rvm_machine_new(t->program, &t->options, &m, &e), &e);
    if (good) {
        a = args_copy(&in);
        good = report_ok(&t->rep, "run", rvm_call(m, s.fn, a.a, a.n, &e), &e);
        args_free(&a);
        a = args_copy(&in);
        args_activate(&a, NULL);
        good = good && direction(t, s.fn, wrt ? wrt : "", &a);
    }
    for (uint32_t i = 0; good && !wrt && i < a.n; i++)
        for (size_t k = 0; a.a[i].active && k < arg_count(&a.a[i]); k++)
            *arg_shadow(&a.a[i], k) = arg_from_real(a.a[i].type, 1);
    const rvm_status st = good ? rvm_tangent(m, s.fn, a.a, a.n, &e) : RVM_OK;
    const unsigned line = directive_target(t->source, directive_word(d, d->arrow + 1));
    if (good && (st != RVM_ERR_TANGENT || e.line != line || !holds(e.message, directive_words(d, d->arrow + 2))))
        good = report_fail(&t->rep, "expected TANGENT at line %u, got %s at line %u: %s", line, rvm_status_name(st), e.line,
                           st ? e.message : "");
    rvm_machine_free(m);
    args_free(&a);
    args_free(&in);
    return good;
}

/* Every place where a derivative by all reals ends, as LINE:PLACE, in the order met. */
static bool do_nonsmooth(test_case *t, const directive *d) {
    enum { ROOM = 16, DIRECTIONS = 256 };
    subject s;
    args in;
    rvm_machine *m = NULL;
    rvm_error e = {0};
    rvm_part by[RVM_MAX_PARAMS];
    rvm_nonsmooth_point points[ROOM];
    double v[DIRECTIONS];
    uint32_t n = 0;
    bool good = begin(t, d, &s, &in) && report_ok(&t->rep, "machine", rvm_machine_new(t->program, &t->options, &m, &e), &e);
    rvm_derivative_spec q = {.fn = s.fn, .args = in.a, .nargs = in.n, .inputs = by};
    for (uint32_t i = 0; good && i < in.n; i++)
        if (in.a[i].type != RVM_I64) by[q.ninputs++] = (rvm_part){i, -1};
    for (int k = 0; k < DIRECTIONS; k++) v[k] = 1;
    good = good && report_ok(&t->rep, "nonsmooth points", rvm_nonsmooth_points(m, &q, v, points, ROOM, &n, &e), &e);
    for (uint32_t k = 0; good && k < n && k < ROOM; k++) {
        const char *word = directive_word(d, d->arrow + 1 + k), *colon = strchr(word, ':');
        char text[40];
        snprintf(text, sizeof text, "%.*s", colon ? (int)(colon - word) : 0, word);
        if (!colon || directive_target(t->source, text) != points[k].line || strcmp(colon + 1, points[k].place) != 0)
            good = report_fail(&t->rep, "expected `%s`, got `%s` at line %u", word, points[k].place, points[k].line);
    }
    if (good && n != d->count - d->arrow - 1)
        good = report_fail(&t->rep, "expected %u places, got %u", d->count - d->arrow - 1, n);
    rvm_machine_free(m);
    args_free(&in);
    return good;
}

static bool do_lost(test_case *t, const directive *d) {
    subject s;
    args in;
    rvm_machine *m = NULL;
    rvm_error e = {0};
    bool good = begin(t, d, &s, &in) &&
                report_ok(&t->rep, "machine", rvm_machine_new(t->program, &t->options, &m, &e), &e) &&
                report_ok(&t->rep, "bind", rvm_machine_bind(m, s.fn, in.a, in.n, RVM_PRIMAL, false, &e), &e) &&
                report_ok(&t->rep, "forward", rvm_machine_forward(m, &e), &e);
    rvm_status st = good ? rvm_machine_backward(m, &e) : RVM_OK;
    if (good && st != RVM_ERR_NOT_RESTORABLE)
        good =
            report_fail(&t->rep, "expected NOT_RESTORABLE going back, got %s: %s", rvm_status_name(st), st ? e.message : "");
    if (good && !strstr(e.message, directive_word(d, d->arrow + 1)))
        good = report_fail(&t->rep, "expected a message with \"%s\", got: %s", directive_word(d, d->arrow + 1), e.message);
    rvm_machine_free(m);
    args_free(&in);
    return good;
}

static bool do_roles(test_case *t, const directive *d) {
    int64_t fn = function(t, d);
    if (fn < 0) return false;
    for (unsigned k = 2; k < d->count; k++) {
        char name[64];
        rvm_param_info info;
        const char *role = split_value(d->words[k], name, sizeof name);
        int64_t i = role ? args_find(t->program, fn, name) : -1;
        if (i < 0) return report_fail(&t->rep, "bad directive: %s", d->words[k]);
        rvm_program_param(t->program, (uint32_t)fn, (uint32_t)i, &info);
        if (strcmp(rvm_role_name(info.role), role) != 0)
            return report_fail(&t->rep, "%s: expected %s, got %s", name, role, rvm_role_name(info.role));
    }
    return true;
}

/* ---- directives that set up; read before assembling ---- */
static bool do_options(test_case *t, const directive *d) {
    for (unsigned k = 1; k < d->count; k++) {
        char name[64];
        const char *v = split_value(d->words[k], name, sizeof name);
        double x = v ? strtod(v, NULL) : NAN;
        if (v && !strcmp(name, "fuel"))
            t->options.fuel = (uint64_t)x;
        else if (v && !strcmp(name, "depth"))
            t->options.depth = (uint32_t)x;
        else if (v && !strcmp(name, "memory"))
            t->options.memory = (size_t)x;
        else if (v && !strcmp(name, "trail_limit"))
            t->options.trail_limit = (size_t)x;
        else if (v && !strcmp(name, "tolerance"))
            t->options.tolerance = x;
        else if (v && !strcmp(name, "restore"))
            t->restore = x;
        else if (v && !strcmp(name, "exact"))
            t->options.exact = t->assembler.exact = x != 0;
        else if (v && !strcmp(name, "orders"))
            t->orders = (int)x;
        else if (v && !strcmp(name, "real"))
            t->assembler.real = !strcmp(v, "fix") ? RVM_FIX : !strcmp(v, "f32") ? RVM_F32 : RVM_F64;
        else
            return report_fail(&t->rep, "unknown option %s", d->words[k]);
    }
    return true;
}

static bool do_without(test_case *t, const directive *d) {
    const char *what = directive_word(d, 1), *why = directive_word(d, 2);
    if (!strcmp(what, "differences") && *why)
        t->no_differences = why;
    else if (!strcmp(what, "derivatives") && *why)
        t->no_derivatives = why;
    else if (!strcmp(what, "products") && *why)
        t->no_products = why;
    else if (!strcmp(what, "transforms") && *why)
        t->no_transforms = why;
    else if (!strcmp(what, "undoing") && *why)
        t->no_undoing = why;
    else if (!strcmp(what, "erased") && *why)
        t->no_erased = why;
    else
        return report_fail(&t->rep,
                           "`without` takes differences, derivatives, products, transforms, undoing or erased, and why");
    return true;
}

/* ---- the same with another type for `real` ---- */

/* Whether a word "!fn" of the directive leaves this function out. */
static bool left_out(const directive *reals, const char *fn) {
    for (unsigned k = 1; k < reals->count; k++)
        if (reals->words[k][0] == '!' && !strcmp(reals->words[k] + 1, fn)) return true;
    return false;
}

/* Every `run` and `unrun` of the file, with all checks, every other one natively, too; derivatives not against differences,
 * which need more digits. */
static void run_with_real(test_case *t, const directive *reals, rvm_type real, double tolerance) {
    test_case u = *t;
    rvm_error e = {0};
    u.program = NULL;
    u.assembler.real = real;
    u.loose = tolerance;
    u.no_differences = "";
    u.few = true;
    u.restore = fmax(u.restore, real == RVM_F32 ? tolerance / F32_COARSER : tolerance);
    if (report_ok(&u.rep, rvm_type_name(real), rvm_assemble_file(t->path, &u.assembler, &u.program, &e, on_diagnostic, &u),
                  &e))
        for (unsigned k = 0; k < t->all.count; k++) {
            const directive *d = &t->all.list[k];
            const bool runs = !strcmp(directive_word(d, 0), "run") || !strcmp(directive_word(d, 0), "unrun");
            char about[400];
            snprintf(about, sizeof about, "%s: %.360s", rvm_type_name(real), d->text);
            if (!runs || left_out(reals, directive_word(d, 1))) continue;
            u.rep.about = about;
            u.rep.line = d->line;
            u.native = (d->line + (unsigned)real) % 2 ? t->native : NULL;
            do_run(&u, d);
        }
    t->rep = u.rep;
    rvm_program_free(u.program);
}

static bool do_reals(test_case *t, const directive *d) {
    for (unsigned k = 1; k < d->count; k++) {
        char word[64];
        snprintf(word, sizeof word, "%s", d->words[k]);
        if (*word == '!') continue;
        const double tolerance = cut_tolerance(word, 0);
        const rvm_type real = !strcmp(word, "fix") ? RVM_FIX : RVM_F32;
        if (!strcmp(word, "none") && k + 1 < d->count) return report_skip(&t->rep, "other reals: %s", d->words[k + 1]), true;
        if (strcmp(word, rvm_type_name(real)) != 0 || !(tolerance > 0))
            return report_fail(&t->rep, "`reals` takes fix~TOL, f32~TOL, !FN, or none \"why\"");
        run_with_real(t, d, real, tolerance);
    }
    return true;
}

typedef struct kind {
    const char *name;
    int phase; /* 0: before assembling, 1 errors, 3 warnings: needs the diagnostics, 2: needs the program */
    bool (*run)(test_case *t, const directive *d);
} kind;
static const kind kinds[] = {
    {"hessian", 2, do_hessian}, {"accident", 2, do_accident}, {"nonsmooth", 2, do_nonsmooth},
    {"options", 0, do_options}, {"without", 0, do_without},   {"error", 1, do_error},
    {"run", 2, do_run},         {"unrun", 2, do_run},         {"gradient", 2, do_shadow},
    {"tangent", 2, do_shadow},  {"fail", 2, do_fail},         {"unfail", 2, do_fail},
    {"lost", 2, do_lost},       {"roles", 2, do_roles},       {"reals", 2, do_reals},
    {"warning", 3, do_warning},
};

/* Run the directives of a phase; the answer is how many there were. */
static unsigned run_phase(test_case *t, int phase) {
    unsigned found = 0;
    for (unsigned k = 0; k < t->all.count; k++) {
        const directive *d = &t->all.list[k];
        const kind *which = NULL;
        for (unsigned j = 0; j < sizeof kinds / sizeof *kinds; j++)
            if (!strcmp(directive_word(d, 0), kinds[j].name)) which = &kinds[j];
        t->rep.about = d->text;
        t->rep.line = d->line;
        if (!which && phase == 0) report_fail(&t->rep, "unknown directive");
        if (!which || which->phase != phase) continue;
        found++;
        t->rep.checks++;
        which->run(t, d);
    }
    t->rep.about = NULL;
    t->rep.line = 0;
    return found;
}

enum { ORDERS, NATIVE, ENGINES, DEVICE, LIBM, LEVEL, OPTIONS };

static bool run_file(const char *path, const natives *native, const int option[OPTIONS]) {
    test_case t = {.path = path,
                   .native = native,
                   .native_orders = option[NATIVE],
                   .few = option[ENGINES] == 1,
                   .options = rvm_options_default(),
                   .restore = 1e-8,
                   .orders = 3,
                   .most_orders = option[ORDERS],
                   .rep = {.name = path}};
    if (option[LIBM]) t.options.math = RVM_MATH_LIBM;
    t.assembler = (rvm_asm_options){.real = RVM_F64, .math = t.options.math};
    t.source = read_file(path);
    if (!t.source) return report_fail(&t.rep, "cannot read");
    t.all = directives_parse(t.source);
    run_phase(&t, 0);
    rvm_error e = {0};
    rvm_status st = rvm_assemble_file(path, &t.assembler, &t.program, &e, on_diagnostic, &t);
    unsigned errors = run_phase(&t, 1), runs = run_phase(&t, 3);
    unexpected_diagnostics(&t);
    if (errors && st == RVM_OK) report_fail(&t.rep, "assembled, though errors are expected");
    if (st != RVM_OK && !t.ndiagnostics) report_fail(&t.rep, "%s without a diagnostic: %s", rvm_status_name(st), e.message);
    if (st == RVM_OK) {
        check_round_trips(t.program, &t.rep);
        runs += run_phase(&t, 2);
    }
    if (!errors && !runs) report_fail(&t.rep, "a case without a directive that tests something");
    printf("%s: %u checks, %u failures\n", path, t.rep.checks, t.rep.failures);
    rvm_program_free(t.program);
    directives_free(&t.all);
    free(t.source);
    return t.rep.failures == 0;
}

/* runner [--cpu NAME] [--orders N] [--native N] [--engines N] [--device 1] [--libm 1] [--level N] FILE...: derivatives of
 * order N at most are checked as programs; of order N, 0 or 1, natively, too; with -1 nothing is. --engines 1: what takes
 * long by one engine of the interpreter, another for another directive. --device N: natively, parallel blocks on N devices
 * (RVM_CUDA_DRIVER: tests/grid), 4 at most; of several, that some ran on more than one is wanted. --libm 1: with the C
 * library's elementary functions, where SLEEF's are there: without them, all are. --level N: of native code's optimisation,
 * 0 unless given. --cpu NAME: native code is limited to that processor, if this one can be it. */
int main(int argc, char **argv) {
    static const char *const names[OPTIONS] = {"--orders", "--native", "--engines", "--device", "--libm", "--level"};
    const char *cpu = argc > 2 && !strcmp(argv[1], "--cpu") ? argv[2] : NULL;
    int first = cpu ? 3 : 1, option[OPTIONS] = {INT_MAX, 1, 0, 0, 0, 0};
    for (; first + 2 < argc && argv[first][0] == '-'; first += 2)
        for (int k = 0; k < OPTIONS; k++)
            if (!strcmp(argv[first], names[k])) option[k] = atoi(argv[first + 1]);
    bool good = argc > first;
    rvm_jit *asked = NULL;
    const rvm_jit_options limited = {.cpu = cpu, .tiers = true};
    if (cpu && rvm_jit_new(&limited, &asked, NULL)) return 77;
    rvm_jit_free(asked);
    rvm_math math;
    if (option[LIBM] && rvm_math_choose(RVM_MATH_SLEEF, &math, NULL)) return 77;
    report rep = {.name = "runner"};
    natives native = {0};
    if (option[NATIVE] >= 0) native_open(&native, cpu, (unsigned)option[LEVEL], 2, !option[DEVICE], &rep);
    if (option[DEVICE] && native.any) good = native_open_device(&native, option[DEVICE], &rep) && good;
    for (int k = first; k < argc; k++) good = run_file(argv[k], &native, option) && good;
    if (native.device) good = native_device_ran(&native, option[DEVICE]) && good;
    native_close(&native);
    return good ? 0 : 1;
}
