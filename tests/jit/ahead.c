/* ahead.c: C functions of native code (rvm_jit_compile) against the interpreter, on every `run` and `fail` of case files, on
 * gradients and tangents as programs too: the same bits, and where a check fails, a status whose text names the line.
 *
 *     ahead [--sleef] [--lanes] FILE...
 *
 * --sleef: with SLEEF's elementary functions, where they are there. --lanes: parallel blocks go in lanes, where they may.
 */
#include "c_function.h"
#include "compile.h"
#include "directive.h"
#include "harness.h"
#include "lower.h"
#include "program.h"
#include "target.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 150 }; /* instructions of a function whose derivatives are compared: LLVM takes its time */

typedef struct sight { /* one file */
    report rep;
    char *source;
    rvm_program *program;
    rvm_asm_options assembler;
    rvm_options options;
    bool skipped; /* what the options limit, a C function has no limit for */
    bool lanes;
    unsigned compared, refused, grouped;
    bool derived[256]; /* by function: its derivatives were compared */
} sight;

/* ---- calling what was compiled ---- */

/* A function of IR that calls the C function with arguments from memory, each in 8 bytes. */
static void add_trampoline(rvm__build *k, const rvm_function *f, const rvm__c_lengths *lengths, const char *name) {
    LLVMValueRef called = LLVMGetNamedFunction(k->module, name), *v;
    const unsigned n = LLVMCountParams(called);
    LLVMTypeRef type = LLVMGlobalGetValueType(called);
    LLVMValueRef t = LLVMAddFunction(k->module, "trampoline", LLVMFunctionType(k->i32, &k->ptr, 1, false));
    LLVMPositionBuilderAtEnd(k->b, LLVMAppendBasicBlockInContext(k->context, t, "entry"));
    v = calloc(n + 1, sizeof *v);
    if (!v || n != f->nparams + lengths->n) abort();
    for (unsigned i = 0; i < n; i++) {
        LLVMValueRef at = rvm__build_int(k, i);
        LLVMValueRef place = LLVMBuildGEP2(k->b, k->i64, LLVMGetParam(t, 0), &at, 1, "");
        v[i] = LLVMBuildLoad2(k->b, LLVMTypeOf(LLVMGetParam(called, i)), place, "");
    }
    LLVMBuildRet(k->b, LLVMBuildCall2(k->b, type, called, v, n, ""));
    free(v);
}

typedef union word {
    int64_t i;
    double f;
    void *p;
} word;

static word argument(const rvm_param *p, rvm_arg *a) {
    if (p->ndim) return (word){.p = a->data};
    return rvm__c_by_value(p) ? (word){.i = a->value.i} : (word){.p = &a->value};
}

static word length(const rvm_function *f, const args *a, uint16_t slot) {
    for (uint32_t k = 0; k < f->nparams; k++)
        for (int d = 0; d < f->params[k].ndim; d++)
            if (f->params[k].dim[d] == slot) return (word){.i = a->a[k].shape[d]};
    abort();
}

/* Lowered, for this processor where in lanes. */
static rvm_status lower(sight *s, const rvm__lowering *what, rvm__build *k, rvm_error *e) {
    rvm__target t = {0};
    rvm_status status = what->lanes ? rvm__target_open_host(&t, "native", false, 2, e) : RVM_OK;
    if (status || !rvm__build_begin(k, what->lanes ? &t.traits : &plain, "test")) abort();
    if (what->lanes) rvm__target_prepare(&t, k->module);
    k->no_machine = true;
    k->sleef = what->math == RVM_MATH_SLEEF;
    k->small = what->unchecked ? 60 : 0; /* inlined, and not */
    status = rvm__lower(k, what, e);
    if (!status && what->lanes) status = rvm__target_group(&t, k, what, e);
    s->grouped += k->grouped;
    k->target = &plain;
    rvm__target_close(&t);
    return status;
}

/* The status of the call, its text in *text; -1: it could not be compiled, and *refused says whether that is allowed. */
static int call(sight *s, const rvm_program *p, uint32_t fn, const rvm_options *o, args *a, char text[400], bool *refused) {
    static rvm__c_lengths lengths;
    const rvm__lowering what = {.p = p,
                                .fn = fn,
                                .direction = 1,
                                .unchecked = o->unchecked,
                                .trust = o->trust,
                                .contiguous = true,
                                .lanes = s->lanes,
                                .math = (uint8_t)o->math,
                                .tolerance = o->tolerance,
                                .standalone = "c_function",
                                .depth = o->depth,
                                .stack = 1 << 20,
                                .lines = !o->unchecked}; /* LLVM refuses what has no place in them */
    const rvm_function *f = &p->functions[fn];
    compiled c = {0};
    rvm__build k;
    rvm_error e = {0};
    int result = -1;
    const rvm_status status = lower(s, &what, &k, &e);
    *refused = status == RVM_ERR_UNSUPPORTED;
    rvm__c_lengths_find(f, &lengths);
    if (!status) add_trampoline(&k, f, &lengths, what.standalone);
    if (!status && compile(&c, &k, false, 1)) {
        int (*run)(word *) = NULL;
        const char *(*explain)(int) = NULL;
        word *w = calloc(f->nparams + lengths.n + 1, sizeof *w);
        void *at = compiled_function(&c, "trampoline"), *message = compiled_function(&c, "c_function" RVM__C_MESSAGE);
        memcpy(&run, &at, sizeof at);
        memcpy(&explain, &message, sizeof message);
        for (uint32_t i = 0; i < f->nparams; i++) w[i] = argument(&f->params[i], &a->a[i]);
        for (uint32_t i = 0; i < lengths.n; i++) w[f->nparams + i] = length(f, a, lengths.slot[i]);
        result = run ? run(w) : -1;
        snprintf(text, 400, "%s", explain ? explain(result) : "");
        free(w);
    }
    if (result < 0 && !*refused) report_fail(&s->rep, "%s: %s%s", f->name, status ? e.message : "", c.why);
    compiled_end(&c);
    rvm__build_end(&k);
    return result;
}

/* ---- comparing ---- */

static void compare(sight *s, const rvm_program *p, uint32_t fn, const args *in, bool unchecked) {
    rvm_options o = s->options;
    rvm_machine *m = NULL;
    rvm_error e = {0};
    char text[400] = "", place[300];
    bool refused;
    o.unchecked = o.trust = unchecked;
    args want = args_copy(in), got = args_copy(in);
    const bool made = report_ok(&s->rep, "machine", rvm_machine_new(p, &o, &m, &e), &e);
    const rvm_status status = made ? rvm_call(m, fn, want.a, want.n, &e) : RVM_OK;
    const bool called = !status || rvm_machine_frames(m); /* else the arguments do not fit */
    if (made && called && !(status && unchecked)) {
        const int is = call(s, p, fn, &o, &got, text, &refused);
        s->refused += is < 0;
        s->compared += is >= 0;
        s->rep.checks++;
        snprintf(place, sizeof place, "%s:%u:", e.file, e.line);
        if (is > 0 && !status) report_fail(&s->rep, "the C function says: %s", text);
        if (is == 0 && status) report_fail(&s->rep, "the C function ends well, and must fail: %s", e.message);
        if (is > 0 && status && e.line && strncmp(text, place, strlen(place)) != 0)
            report_fail(&s->rep, "fails at %s the C function says: %s", place, text);
        if (is == 0 && !status)
            args_agree(&s->rep, unchecked ? "C function, unchecked" : "C function", p, fn, &want, &got, COMPARE_BITS, 0);
    }
    rvm_machine_free(m);
    args_free(&want);
    args_free(&got);
}

/* A copy of an argument; of a shadow, its values drawn at random. */
static rvm_arg copy_of(rvm_arg *from, rng *r, bool shadow) {
    const args one = {1, from};
    args copy = args_copy(&one);
    rvm_arg a = copy.a[0];
    for (size_t k = 0; shadow && k < arg_count(&a); k++) *arg_value(&a, k) = arg_from_real(a.type, rng_real(r, -1, 1));
    free(copy.a);
    return a;
}

static void compare_derived(sight *s, uint32_t fn, const char *tick, const args *in) {
    char name[300];
    rvm_program *p = NULL;
    rvm_error e = {0};
    uint32_t derived;
    rng r = {7};
    snprintf(name, sizeof name, "%s'%s", rvm_program_function_name(s->program, fn), tick);
    if (rvm_program_derive(s->program, name, &p, &derived, &e)) return; /* it has none */
    const rvm_function *f = &s->program->functions[fn], *g = &p->functions[derived];
    args a = args_new(p, derived);
    for (uint32_t k = 0, from = 0; k < a.n; k++) {
        const bool shadow = from == in->n || strcmp(g->params[k].name, f->params[from].name) != 0;
        from += !shadow;
        a.a[k] = copy_of(&in->a[from - 1], &r, shadow);
    }
    compare(s, p, derived, &a, tick[0] == 't'); /* each tick one way: LLVM takes its time */
    args_free(&a);
    rvm_program_free(p);
}

/* ---- files ---- */

static void run(sight *s, const directive *d) {
    static const char *const ticks[] = {"tan", "grad"};
    const int64_t fn = rvm_program_find(s->program, directive_word(d, 1));
    const char *why = NULL;
    const bool fails = !strcmp(directive_word(d, 0), "fail"); /* unchecked, anything may happen then */
    if (fn < 0) return;                                       /* derived: those are compared anyway */
    args in = args_new(s->program, fn);
    for (unsigned k = 2; k < d->arrow; k++) {
        char *equals = strchr(d->words[k], '=');
        if (!equals) continue;
        *equals = 0;
        args_set(&in, s->program, fn, d->words[k], equals + 1, &why);
        *equals = '=';
    }
    if (args_complete(&in, s->program, fn, &why)) {
        for (int unchecked = 0; unchecked < 2 - fails; unchecked++) compare(s, s->program, (uint32_t)fn, &in, unchecked);
        const bool again = fn >= 256 || s->derived[fn] || s->program->functions[fn].ncode > MOST;
        for (size_t k = 0; !fails && !again && k < sizeof ticks / sizeof *ticks; k++)
            compare_derived(s, (uint32_t)fn, ticks[k], &in);
        s->derived[fn & 255] |= !fails;
    } else
        report_fail(&s->rep, "bad directive: %s", why);
    args_free(&in);
}

static void set_option(sight *s, const char *text) {
    if (!strncmp(text, "real=", 5)) s->assembler.real = !strcmp(text + 5, "fix") ? RVM_FIX : RVM_F32;
    if (!strncmp(text, "tolerance=", 10)) s->options.tolerance = strtod(text + 10, NULL);
    if (!strncmp(text, "depth=", 6)) s->options.depth = (uint32_t)strtoul(text + 6, NULL, 10);
    s->skipped |= !strncmp(text, "fuel=", 5) || !strncmp(text, "memory=", 7) || !strncmp(text, "trail_limit=", 12);
    s->skipped |= !strncmp(text, "exact=", 6);
}

static char *read_file(const char *path) {
    char *text = NULL;
    size_t size = 0;
    FILE *in = fopen(path, "rb"), *out = open_memstream(&text, &size);
    for (int c; in && out && (c = getc(in)) >= 0;) putc(c, out);
    if (in) fclose(in);
    if (out) fclose(out);
    return text;
}

/* all_files: what was asked for; and what came of those before. */
static bool look_at(const char *path, rvm_math math, sight *all_files) {
    sight s = {.rep = {.name = path}, .assembler = {.real = RVM_F64, .math = math}, .options = rvm_options_default()};
    s.lanes = all_files->lanes;
    s.options.math = math;
    s.source = read_file(path);
    if (!s.source) return report_fail(&s.rep, "cannot be read");
    directives all = directives_parse(s.source);
    for (unsigned k = 0; k < all.count; k++)
        for (unsigned w = 1; !strcmp(directive_word(&all.list[k], 0), "options") && w < all.list[k].count; w++)
            set_option(&s, directive_word(&all.list[k], w));
    if (!s.skipped && !rvm_assemble_file(path, &s.assembler, &s.program, NULL, NULL, NULL))
        for (unsigned k = 0; k < all.count; k++) {
            const directive *d = &all.list[k];
            s.rep.about = d->text;
            s.rep.line = d->line;
            if (!strcmp(directive_word(d, 0), "run") || !strcmp(directive_word(d, 0), "fail")) run(&s, d);
        }
    all_files->compared += s.compared;
    all_files->refused += s.refused;
    all_files->grouped += s.grouped;
    rvm_program_free(s.program);
    directives_free(&all);
    free(s.source);
    return s.rep.failures == 0;
}

int main(int argc, char **argv) {
    sight all = {.lanes = false};
    int first = 1;
    const bool sleef = argc > first && !strcmp(argv[first], "--sleef");
    first += sleef;
    all.lanes = argc > first && !strcmp(argv[first], "--lanes");
    first += all.lanes;
    bool good = argc > first;
    rvm_math math;
    if (rvm_math_choose(sleef ? RVM_MATH_SLEEF : RVM_MATH_LIBM, &math, NULL)) return 77;
    for (int k = first; k < argc; k++) good = look_at(argv[k], math, &all) && good;
    printf("%u calls of C functions compared, %u blocks of them in lanes; %u not compiled: the stack, or what comes back "
           "from a "
           "trail\n",
           all.compared, all.grouped, all.refused);
    return good && all.compared && (all.grouped || !all.lanes) ? 0 : 1; /* nothing compared is no test */
}
