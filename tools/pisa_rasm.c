/* pisa_rasm.c: a program of functions in rasm. A register is a parameter; a word is what std/pisa.rasm holds it as. A pair
 * of branches is two jumps with their come-froms, on one condition register c, which both branches let appear and release:
 *
 *       steps += 1                                 A: BEQ $1 $2 B
 *       let.eq c, r1, r2                              ...
 *   O1: jt c, I2                                   B: BNE $1 $3 A
 *   I1: cft c, O2
 *       steps += c                                 a branch that is come to by its pair is a step, too
 *       unlet.eq c, r1, r2
 *       ...                                        and the same, with 1 and 2 exchanged, at B
 *
 * So what one branch takes has to hold at the other, or the release of c fails. */
#include "errors.h"
#include "pisa.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct emitter {
    const pisa_source *s;
    const pisa_flow *flow;
    FILE *out;
    uint64_t steps; /* that are run, and not counted yet */
} emitter;

static void say(emitter *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(emitter *e, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vfprintf(e->out, format, list);
    va_end(list);
    fputc('\n', e->out);
}

static void count_steps(emitter *e) {
    if (e->steps) say(e, "    steps += %" PRIu64, e->steps);
    e->steps = 0;
}

/* ---- names ---- */

static void function_name(const emitter *e, const pisa_function *f, char *name, size_t size) {
    const char *label = e->s->word[f->exit].label;
    bool good = label && strlen(label) < 100;
    for (const char *c = label; good && *c; c++) good = isalnum((unsigned char)*c) || *c == '_';
    if (f == e->flow->function)
        snprintf(name, size, "main");
    else if (good)
        snprintf(name, size, "sub_%s", label);
    else
        snprintf(name, size, "at_%u", f->exit);
}

uint32_t pisa_used(const pisa_source *s) {
    uint32_t used = 0;
    for (uint32_t a = 0; a < s->n; a++)
        for (int k = 0; k < s->word[a].nregs; k++) used |= UINT32_C(1) << s->word[a].reg[k];
    return used;
}

/* The parameters of each function, with or without their types. */
static void put_parameters(const emitter *e, bool typed) {
    static const char *const others[][2] = {{"mem", "i64[m]"}, {"out", "i64[o]"},  {"waste", "i64[o]"},
                                            {"shown", "i64"},  {"emitted", "i64"}, {"steps", "i64"}};
    const uint32_t used = pisa_used(e->s);
    for (int r = 0; r < PISA_REGISTERS; r++)
        if (used >> r & 1) fprintf(e->out, typed ? "r%d: i64, " : "r%d, ", r);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        fprintf(e->out, typed ? "%s%s: %s" : "%s%s", k ? ", " : "", others[k][0], others[k][1]);
}

/* ---- branches ---- */

static const char *row_of(int k) {
    static const char *const rows[] = {"", "lt", "eq", "le", "gt", "ne", "ge", "id"};
    return rows[k];
}

/* "let.eq c, r1, r2" */
static void say_condition(emitter *e, uint32_t address, const char *family) {
    const pisa_word *w = &e->s->word[address];
    const char *row = row_of(w->is->k);
    if (w->is->k == 7)
        say(e, "    %s.id c, 1", family);
    else if (w->nregs == 2)
        say(e, "    %s.%s c, r%d, r%d", family, row, w->reg[0], w->reg[1]);
    else
        say(e, "    %s.%s c, r%d, 0", family, row, w->reg[0]);
}

static void say_pair(emitter *e, uint32_t a) {
    const pisa_word *w = &e->s->word[a];
    const uint32_t b = (uint32_t)((int64_t)a + w->number);
    const bool falls = e->flow->arrives[a] & PISA_FALLS, lands = e->flow->arrives[a] & PISA_LANDS, always = w->is->k == 7;
    const bool plain = always && e->s->word[b].is->k == 7;
    e->steps += falls;
    count_steps(e);
    if (falls && !plain) say_condition(e, a, "let");
    if (falls) say(e, "O%u:", a), say(e, plain ? "    jmp I%u" : "    jt c, I%u", b);
    if (!plain && (!falls || always)) say(e, "    trap");
    if (lands) say(e, "I%u:", a), say(e, plain ? "    cf O%u" : "    cft c, O%u", b);
    if (lands && !plain) say(e, "    steps += c");
    if (!plain && (lands || !always)) say_condition(e, a, "unlet");
    e->steps += lands && plain;
}

/* ---- calls ---- */

static int64_t high(int64_t word) {
    return (int64_t)((uint64_t)word << 32);
}

/* What the routine finds in its register is how far it is to go back. */
static void say_call(emitter *e, uint32_t a, const char *indent) {
    const uint32_t at = (uint32_t)((int64_t)a + e->s->word[a].number);
    const bool turns = e->s->word[a].is->kind == PISA_TURN;
    const int r = e->s->word[at].reg[0];
    const int64_t there = (int64_t)at - a, before = turns ? -there : there;
    const pisa_function *f = &e->flow->function[e->flow->owner[at]];
    char name[120];
    function_name(e, f, name, sizeof name);
    say(e, "%sassert r%d == 0", indent, r);
    say(e, "%sr%d += %" PRId64, indent, r, high(before));
    if (turns) say(e, "%sneg steps", indent);
    fprintf(e->out, "%s%s %s(", indent, turns ? "uncall" : "call", name);
    put_parameters(e, false);
    say(e, ")");
    if (turns) say(e, "%sneg steps", indent);
    say(e, "%sr%d -= %" PRId64, indent, r, high(-before));
    say(e, "%sassert r%d == 0", indent, r);
}

static void say_branch(emitter *e, uint32_t a) {
    static const char *const operators[] = {"", "<", "==", "<=", ">", "!=", ">="};
    const pisa_word *w = &e->s->word[a];
    if (!pisa_calls(e->s, a)) {
        say_pair(e, a);
    } else if (w->is->kind == PISA_TURN || w->is->k == 7) {
        e->steps += 4; /* the branch and SWAPBR, and both again */
        say_call(e, a, "    ");
    } else {
        e->steps++;
        if (w->nregs == 2)
            say(e, "    if r%d %s r%d", w->reg[0], operators[w->is->k], w->reg[1]);
        else
            say(e, "    if r%d %s 0", w->reg[0], operators[w->is->k]);
        say(e, "        steps += 3");
        say_call(e, a, "        ");
        say(e, "    end");
    }
}

/* ---- the other instructions ---- */

/* The last operand as a word: a register, or a number. */
static void operand(const pisa_word *w, char text[32]) {
    const size_t n = strlen(w->is->operands);
    if (w->is->operands[n - 1] == 'i')
        snprintf(text, 32, "%" PRId64, high(w->number));
    else
        snprintf(text, 32, "r%d", w->reg[w->nregs - 1]);
}

/* The same as an amount to shift by. */
static void amount(const pisa_word *w, char text[32]) {
    const size_t n = strlen(w->is->operands);
    if (w->is->operands[n - 1] == 'a')
        snprintf(text, 32, "%d", w->number);
    else
        snprintf(text, 32, "(r%d >> 32 & 31)", w->reg[w->nregs - 1]);
}

static void say_logic(emitter *e, uint32_t a) {
    const pisa_word *w = &e->s->word[a];
    const int x = w->reg[0], y = w->reg[1];
    char b[32], by[32];
    operand(w, b), amount(w, by);
    switch (w->is->k) {
    case 0: say(e, "    r%d ^= %s", x, b); break;
    case 1: say(e, "    r%d ^= r%d & %s", x, y, b); break;
    case 2: say(e, "    r%d ^= r%d | %s", x, y, b); break;
    case 3: say(e, "    r%d ^= ~(r%d | %s) & HIGH", x, y, b); break;
    case 4: say(e, "    r%d ^= (r%d < %s) << 32", x, y, b); break;
    case 5: say(e, "    r%d ^= r%d << %s", x, y, by); break;
    case 6: say(e, "    r%d ^= lshr(r%d, %s) & HIGH", x, y, by); break;
    default: say(e, "    r%d ^= r%d >> %s & HIGH", x, y, by); break;
    }
}

static void say_instruction(emitter *e, uint32_t a) {
    const pisa_word *w = &e->s->word[a];
    char b[32];
    switch (w->is->kind) {
    case PISA_ADD:
        operand(w, b);
        say(e, "    r%d %c= %s", w->reg[0], w->is->k > 0 ? '+' : '-', b);
        break;
    case PISA_LOGIC: say_logic(e, a); break;
    case PISA_EXCHANGE: say(e, "    call pisa_exchange(r%d, r%d, mem)", w->reg[0], w->reg[1]); break;
    case PISA_NEG: say(e, "    neg r%d", w->reg[0]); break;
    case PISA_ROTATE:
        amount(w, b);
        say(e, "    %s pisa_rotate(r%d, %s)", w->is->k > 0 ? "call" : "uncall", w->reg[0], b);
        break;
    case PISA_OUTPUT: say(e, "    call pisa_output(r%d, out, shown)", w->reg[0]); break;
    case PISA_EMIT: say(e, "    call pisa_emit(r%d, waste, emitted)", w->reg[0]); break;
    case PISA_BRANCH:
    case PISA_TURN: say_branch(e, a); return;
    case PISA_START: break;
    case PISA_SWAP:
    case PISA_FINISH:
    case PISA_DATA: return; /* ends; where control never comes */
    }
    e->steps++;
}

/* ---- functions ---- */

static bool has_condition(const emitter *e, const pisa_function *f) {
    for (uint32_t a = f->first; a <= f->last; a++) {
        if (e->flow->owner[a] != (uint32_t)(f - e->flow->function) || e->s->word[a].is->kind != PISA_BRANCH) continue;
        const pisa_word *other = &e->s->word[a + (uint32_t)e->s->word[a].number];
        if (!pisa_calls(e->s, a) && (e->s->word[a].is->k != 7 || other->is->k != 7)) return true;
    }
    return false;
}

static void say_function(emitter *e, const pisa_function *f) {
    const uint32_t number = (uint32_t)(f - e->flow->function);
    char name[120];
    function_name(e, f, name, sizeof name);
    say(e, "%s", "");
    fprintf(e->out, "fn %s(", name);
    put_parameters(e, true);
    say(e, ")");
    if (has_condition(e, f)) say(e, "    reg c: i64");
    if (f->entry != f->first) say(e, "begin:"), say(e, "    jmp entry");
    for (uint32_t a = f->first; a <= f->last; a++) {
        if (e->flow->owner[a] != number) continue;
        if (a == f->entry && f->entry != f->first) say(e, "entry:"), say(e, "    cf begin");
        say(e, "    # %u: %.*s", e->s->word[a].line, e->s->word[a].length, e->s->word[a].text);
        if (a != f->exit)
            say_instruction(e, a);
        else
            count_steps(e);
        if (a == f->exit && a != f->last) say(e, "leave:"), say(e, "    jmp done");
    }
    if (f->exit != f->last) say(e, "done:"), say(e, "    cf leave");
    say(e, "end");
}

rvm_status pisa_translate(const pisa_source *s, const pisa_flow *flow, char **text, size_t *size, rvm_error *err) {
    *text = NULL;
    emitter e = {.s = s, .flow = flow, .out = open_memstream(text, size)};
    if (!e.out) return fail(err, RVM_ERR_MEMORY, NULL, "out of memory");
    say(&e, "# %s: words stand in the upper half of an i64; see std/pisa.rasm.", s->file);
    say(&e, "include \"std/pisa.rasm\"");
    for (uint32_t k = 0; k < flow->nfunctions; k++) say_function(&e, &flow->function[k]);
    if (!fclose(e.out)) return RVM_OK;
    free(*text);
    *text = NULL;
    return fail(err, RVM_ERR_MEMORY, NULL, "out of memory");
}
