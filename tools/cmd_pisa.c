/* cmd_pisa.c: rvm pisa: a program for the Pendulum processor, forward to its FINISH, and back to where it began. What is
 * made of functions is translated; what is not, and what fails as a translation, is interpreted, step by step (pisa.h). */
#include "pisa.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
    pisa_source source;
    pisa_flow flow;
    pisa_state state;
    char *text; /* the translation; NULL: there is none */
    size_t size;
} job;

static void free_job(job *x) {
    pisa_state_free(&x->state);
    pisa_flow_free(&x->flow);
    pisa_free(&x->source);
    free(x->text);
}

static void say(const tool *t, const job *x, uint32_t line, const char *why) {
    if (t->o.verbose && line) fprintf(stderr, "rvm pisa: no translation: %s:%u: %s\n", x->source.file, line, why);
    if (t->o.verbose && !line) fprintf(stderr, "rvm pisa: the translation failed, the interpreter goes on: %s\n", why);
}

/* ---- what is asked for ---- */

/* --backward begins where a run ends. */
static rvm_status begin_at_finish(tool *t, job *x) {
    int64_t found = -1;
    for (uint32_t a = 0; a < x->source.n; a++) {
        if (pisa_kind_at(&x->source, a) != PISA_FINISH) continue;
        if (found >= 0)
            return tool_fail(t, RVM_ERR_USAGE, "--backward begins at FINISH, and %s has two: at lines %u and %u",
                             x->source.file, x->source.word[found].line, x->source.word[a].line);
        found = a;
    }
    if (found < 0) return tool_fail(t, RVM_ERR_USAGE, "--backward begins at FINISH, and %s has none", x->source.file);
    x->state.pc = found;
    x->state.dir = -1;
    return RVM_OK;
}

static rvm_status read_words(tool *t, job *x) {
    enum { WORDS = 1 << 16, MOST_WORDS = 1 << 28 };
    const uint64_t words = option_given(&t->o, words) ? t->o.words : WORDS;
    if (words > MOST_WORDS) return tool_fail(t, RVM_ERR_USAGE, "--words is at most %d", MOST_WORDS);
    if (t->o.stop_at > INT64_MAX) return tool_fail(t, RVM_ERR_USAGE, "--steps is at most %" PRId64, INT64_MAX);
    rvm_status st = pisa_state_new(&x->source, words, &x->state, &t->err);
    if (option_given(&t->o, stop_at)) x->state.most = (int64_t)t->o.stop_at;
    if (!st && t->o.backward) st = begin_at_finish(t, x);
    for (int k = 1; k < t->nwords && !st; k++) st = pisa_take(t, &x->state, t->words[k]);
    pisa_keep(&x->state);
    return st;
}

/* The translation, unless something is asked for that only the interpreter does. */
static rvm_status translate(tool *t, job *x) {
    rvm_status st = pisa_flow_find(&x->source, &x->flow, &t->err);
    if (!st && x->flow.line) say(t, x, x->flow.line, x->flow.why);
    if (st || x->flow.line || t->o.interpret || option_given(&t->o, stop_at)) return st;
    return pisa_translate(&x->source, &x->flow, &x->text, &x->size, &t->err);
}

static rvm_status print_translation(tool *t, const job *x) {
    if (x->text) {
        fwrite(x->text, 1, x->size, stdout);
        return RVM_OK;
    }
    if (!x->flow.line) return tool_fail(t, RVM_ERR_USAGE, "--rasm prints the translation: not with --interpret or --steps");
    tool_fail(t, RVM_ERR_UNSUPPORTED, "no translation: %s", x->flow.why);
    snprintf(t->err.file, sizeof t->err.file, "%s", x->source.file);
    t->err.line = x->flow.line, t->err.column = 1;
    return RVM_ERR_UNSUPPORTED;
}

/* ---- running ---- */

/* A machine for the translation, or for the interpreter. */
static rvm_status open_machine(tool *t, const job *x) {
    enum { DEPTH = 1000000 };
    static const char interpreter[] = "include \"std/pisa.rasm\"\n";
    rvm_options o;
    rvm_machine_free(t->machine), t->machine = NULL;
    rvm_program_free(t->program), t->program = NULL;
    rvm_status st = tool_options(t, &o);
    if (!option_given(&t->o, depth)) o.depth = DEPTH;
    if (!st && x->text)
        st = rvm_assemble(x->text, x->size, x->source.file, NULL, &t->program, &t->err, NULL, NULL);
    else if (!st)
        st = rvm_assemble(interpreter, sizeof interpreter - 1, x->source.file, NULL, &t->program, &t->err, NULL, NULL);
    if (!st) st = rvm_machine_new(t->program, &o, &t->machine, &t->err);
    return st ? st : native_attach(t, t->machine);
}

/* Forward, or back to where that began. */
static rvm_status run(tool *t, job *x, bool back) {
    return x->text ? pisa_run_translated(t, &x->state, back != t->o.backward) : pisa_interpret(t, &x->state, back);
}

/* What the translation cannot do the interpreter may, or say why not. */
static rvm_status run_anyhow(tool *t, job *x) {
    rvm_status st = open_machine(t, x);
    if (!st) st = run(t, x, false);
    if (!st || !x->text || rvm_status_exit(st) == 4) return st;
    say(t, x, 0, t->err.message);
    free(x->text);
    x->text = NULL;
    pisa_go_back(&x->state);
    st = open_machine(t, x);
    return st ? st : run(t, x, false);
}

/* ---- what is printed ---- */

static bool has_ended(const job *x) {
    const pisa_kind kind = pisa_kind_at(&x->source, x->state.pc);
    return x->text || kind == (x->state.dir > 0 ? PISA_FINISH : PISA_START);
}

static uint64_t steps_of(const pisa_state *p) {
    return p->steps < 0 ? 0 - (uint64_t)p->steps : (uint64_t)p->steps; /* the translation counts down, backward */
}

static void print_text(const job *x) {
    const pisa_state *p = &x->state;
    pisa_show(p);
    printf("steps = %" PRIu64 "\n", steps_of(p));
    if (!has_ended(x))
        printf("stopped before line %u: %.*s\n", x->source.word[p->pc].line, x->source.word[p->pc].length,
               x->source.word[p->pc].text);
}

/* The members of what it has; *text is to be freed. */
static rvm_status members(tool *t, const job *x, char **text) {
    size_t size;
    json j = {.out = open_memstream(text, &size), .comma = true};
    if (!j.out) return tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    pisa_show_json(&j, &x->state);
    json_key(&j, "steps"), json_uint(&j, steps_of(&x->state));
    json_key(&j, "ended"), json_bool(&j, has_ended(x));
    json_key(&j, "translated"), json_bool(&j, x->text);
    return fclose(j.out) ? tool_fail(t, RVM_ERR_MEMORY, "out of memory") : RVM_OK;
}

static void print_json(tool *t, const char *text) {
    json j;
    tool_json_begin(&j, t, RVM_OK);
    fputs(text, j.out);
    json_key(&j, "restored"), json_bool(&j, true);
    tool_json_end(&j);
}

static rvm_status check_back(tool *t, job *x) {
    const rvm_status st = run(t, x, true);
    if (st || pisa_is_back(&x->state)) return st;
    return tool_fail(t, RVM_ERR_NOT_RESTORABLE, "running back does not restore all registers and words");
}

static rvm_status run_and_print(tool *t, job *x) {
    char *text = NULL;
    rvm_status st = native_open(t);
    if (!st) st = run_anyhow(t, x);
    if (!st && t->o.json) st = members(t, x, &text);
    if (!st && !t->o.json) print_text(x);
    if (!st) native_tell(t);
    if (!st) st = check_back(t, x);
    if (!st && t->o.json) print_json(t, text);
    if (!st && !t->o.json) puts("ran back to where it began: all registers and words are restored");
    free(text);
    return st;
}

rvm_status command_PISA(tool *t) {
    job x = {0};
    rvm_status st = pisa_read(t->words[0], &x.source, &t->err);
    if (!st) st = read_words(t, &x);
    if (!st) st = translate(t, &x);
    if (!st) st = t->o.rasm ? print_translation(t, &x) : run_and_print(t, &x);
    free_job(&x);
    return st;
}
