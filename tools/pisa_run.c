/* pisa_run.c: the state of a processor, what std/pisa.rasm and a translation make of it, and what went wrong there. */
#include "errors.h"
#include "pisa.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int64_t pisa_cell(int32_t word) {
    return (int64_t)((uint64_t)(uint32_t)word << 32);
}

int32_t pisa_word_of(int64_t cell) {
    return (int32_t)(cell >> 32);
}

/* ---- what is run ---- */

enum { COLUMNS = 5, INSTRUCTION_CELL = 1 }; /* of code; a word of memory that is an instruction */

/* A row of code; constants go behind the registers. */
static void encode(const pisa_word *w, int64_t row[COLUMNS], int64_t *r, uint32_t *nr) {
    const char letter = w->is && *w->is->operands ? w->is->operands[strlen(w->is->operands) - 1] : ' ';
    int64_t from[3] = {0, PISA_ZERO, PISA_ZERO};
    int n = 0;
    for (; n < w->nregs; n++) from[n] = w->reg[n];
    if (letter == 'i' || letter == 'a') r[*nr] = pisa_cell(w->number), from[n] = (*nr)++;
    if (!n) from[0] = w->is && w->is->kind == PISA_BRANCH ? PISA_ZERO : 0;
    row[0] = w->is ? w->is->kind : PISA_DATA;
    row[1] = from[0], row[2] = from[1];
    row[3] = letter == 'l' ? w->number : from[2];
    row[4] = w->is ? w->is->k : 0;
}

rvm_status pisa_state_new(const pisa_source *s, uint64_t words, pisa_state *p, rvm_error *err) {
    if (words < s->n) words = s->n;
    *p = (pisa_state){.source = s, .words = words, .pc = s->start, .dir = 1, .most = -1, .nr = PISA_ZERO + 1};
    p->r = calloc((size_t)p->nr + s->n, sizeof *p->r);
    p->code = calloc(s->n, COLUMNS * sizeof *p->code);
    p->memory = calloc(words, sizeof *p->memory);
    p->output = calloc(words, sizeof *p->output);
    p->waste = calloc(words, sizeof *p->waste);
    p->kept = malloc((PISA_REGISTERS + 3 * words) * sizeof *p->kept);
    if (!p->r || !p->code || !p->memory || !p->output || !p->waste || !p->kept)
        return fail(err, RVM_ERR_MEMORY, NULL, "out of memory: a memory of %" PRIu64 " words", words);
    for (uint32_t a = 0; a < s->n; a++) {
        encode(&s->word[a], p->code + (size_t)a * COLUMNS, p->r, &p->nr);
        p->memory[a] = s->word[a].is ? INSTRUCTION_CELL : pisa_cell(s->word[a].number);
    }
    return RVM_OK;
}

void pisa_state_free(pisa_state *p) {
    free(p->r);
    free(p->code);
    free(p->memory);
    free(p->output);
    free(p->waste);
    free(p->kept);
    *p = (pisa_state){0};
}

/* ---- where it began ---- */

typedef struct part {
    int64_t *cells;
    size_t n;
} part;

static void parts_of(const pisa_state *p, part parts[4]) {
    parts[0] = (part){p->r, PISA_REGISTERS};
    parts[1] = (part){p->memory, p->words};
    parts[2] = (part){p->output, p->words};
    parts[3] = (part){p->waste, p->words};
}

void pisa_keep(pisa_state *p) {
    part parts[4];
    int64_t *to = p->kept;
    parts_of(p, parts);
    for (int k = 0; k < 4; to += parts[k++].n) memcpy(to, parts[k].cells, parts[k].n * sizeof *to);
    p->kept_shown = p->shown, p->kept_emitted = p->emitted;
    p->kept_pc = p->pc, p->kept_br = p->br, p->kept_dir = p->dir;
}

void pisa_go_back(pisa_state *p) {
    part parts[4];
    const int64_t *from = p->kept;
    parts_of(p, parts);
    for (int k = 0; k < 4; from += parts[k++].n) memcpy(parts[k].cells, from, parts[k].n * sizeof *from);
    p->shown = p->kept_shown, p->emitted = p->kept_emitted;
    p->pc = p->kept_pc, p->br = p->kept_br, p->dir = p->kept_dir;
    p->steps = 0;
}

bool pisa_is_back(const pisa_state *p) {
    part parts[4];
    const int64_t *kept = p->kept;
    bool same = p->shown == p->kept_shown && p->emitted == p->kept_emitted && p->pc == p->kept_pc && p->br == p->kept_br &&
                p->dir == p->kept_dir && !p->steps;
    parts_of(p, parts);
    for (int k = 0; k < 4; kept += parts[k++].n) same = same && !memcmp(parts[k].cells, kept, parts[k].n * sizeof *kept);
    return same;
}

/* ---- what went wrong ---- */

/* The interpreter's variables where it failed. */
static void look(const rvm_machine *m, pisa_state *p) {
    const struct {
        const char *name;
        int64_t *to;
    } wanted[] = {{"pc", &p->pc}, {"br", &p->br}, {"dir", &p->dir}, {"shown", &p->shown}, {"emitted", &p->emitted}};
    const uint32_t outermost = rvm_machine_frames(m) - 1;
    rvm_variable v;
    for (uint32_t k = 0; rvm_machine_variable(m, outermost, k, &v); k++)
        for (size_t j = 0; j < sizeof wanted / sizeof *wanted; j++)
            if (strcmp(v.name, wanted[j].name) == 0) *wanted[j].to = v.value.i;
}

static rvm_status fail_at(tool *t, const pisa_source *s, int64_t address, rvm_status code, const char *text) {
    const bool known = address >= 0 && address < s->n;
    t->err = (rvm_error){.code = code};
    snprintf(t->err.file, sizeof t->err.file, "%s", s->file);
    if (known) t->err.line = s->word[address].line, t->err.column = s->word[address].column;
    snprintf(t->err.message, sizeof t->err.message, "%s", text);
    return code;
}

/* Control came to a word that is none for it. */
static rvm_status fail_of_branch(tool *t, const pisa_state *p) {
    const pisa_source *s = p->source;
    const int64_t from = p->pc - (p->br ? p->br : p->dir);
    const pisa_kind kind = pisa_kind_at(s, p->pc);
    char text[300];
    if (p->pc < 0 || p->pc >= s->n)
        snprintf(text, sizeof text, "control goes to address %" PRId64 ", where there is no instruction", p->pc);
    else if (kind == PISA_DATA)
        snprintf(text, sizeof text, "control goes to line %u, which is DATA", s->word[p->pc].line);
    else if (kind != PISA_BRANCH && kind != PISA_TURN)
        snprintf(text, sizeof text, "the branch goes to line %u, which is no branch back but %s", s->word[p->pc].line,
                 s->word[p->pc].is->name);
    else if (p->pc + s->word[p->pc].number == from)
        snprintf(text, sizeof text,
                 "the branch goes to line %u, where the condition of %s does not hold: it does not come back",
                 s->word[p->pc].line, s->word[p->pc].is->name);
    else
        snprintf(text, sizeof text, "the branch goes to line %u, which is a branch, but not back", s->word[p->pc].line);
    return fail_at(t, s, from, RVM_ERR_TRAP, text);
}

static rvm_status fail_of_exchange(tool *t, const pisa_state *p, rvm_status st) {
    const pisa_source *s = p->source;
    const uint32_t at = (uint32_t)pisa_word_of(p->r[s->word[p->pc].reg[1]]);
    char text[160];
    if (st == RVM_ERR_INDEX)
        snprintf(text, sizeof text, "EXCH with address %u: the memory has %" PRIu64 " words (--words)", at, p->words);
    else
        snprintf(text, sizeof text, "EXCH with address %u, which is the instruction %s of line %u", at,
                 at < s->n && s->word[at].is ? s->word[at].is->name : "?", at < s->n ? s->word[at].line : 0);
    return fail_at(t, s, p->pc, st, text);
}

static rvm_status fail_of_output(tool *t, const pisa_state *p, rvm_status st) {
    const char *name = p->source->word[p->pc].is->name;
    char text[160];
    if (p->dir > 0 && st == RVM_ERR_INDEX) {
        snprintf(text, sizeof text, "%s: more than %" PRIu64 " words are put out (--words)", name, p->words);
        return fail_at(t, p->source, p->pc, RVM_ERR_LIMIT, text);
    }
    snprintf(text, sizeof text, "%s, backward, takes back a word that was not put out last", name);
    return fail_at(t, p->source, p->pc, st, text);
}

/* In terms of the program, where it is the program's fault; else as it is, with its line. */
static rvm_status explain(tool *t, pisa_state *p, rvm_status st) {
    const rvm_error e = t->err;
    if (!rvm_machine_frames(t->machine)) return st;
    look(t->machine, p);
    const pisa_kind kind = pisa_kind_at(p->source, p->pc);
    if (rvm_status_exit(st) != 1) return fail_at(t, p->source, p->pc, st, e.message);
    if (kind == PISA_DATA || (p->br && kind != PISA_SWAP)) return fail_of_branch(t, p);
    if (kind == PISA_EXCHANGE) return fail_of_exchange(t, p, st);
    if (kind == PISA_OUTPUT || kind == PISA_EMIT) return fail_of_output(t, p, st);
    return fail_at(t, p->source, p->pc, st, e.message);
}

/* ---- running ---- */

static rvm_arg cells(int64_t *data, uint64_t n) {
    return rvm_arg_array_i64(data, 1, (int64_t[]){(int64_t)n});
}

static rvm_status run(tool *t, rvm_arg *args, uint32_t n, const char *name, bool backward) {
    const int64_t fn = rvm_program_find(t->program, name);
    progress_begin(&t->progress, t->machine);
    const rvm_status st = (backward ? rvm_uncall : rvm_call)(t->machine, fn, args, n, &t->err);
    progress_end(&t->progress);
    return st;
}

/* Where a run failed: back to where it began, if it had, and the arguments are the caller's again. Fuel is per run, and is
 * granted again as long as that gets on. */
static void run_back(tool *t, bool backward) {
    rvm_stats before, after;
    rvm_status st;
    rvm_error unused;
    if (!rvm_machine_frames(t->machine)) return;
    progress_begin(&t->progress, t->machine);
    do {
        rvm_machine_stats(t->machine, &before);
        st = (backward ? rvm_machine_forward : rvm_machine_backward)(t->machine, &unused);
        rvm_machine_stats(t->machine, &after);
    } while (st == RVM_ERR_FUEL && after.forward + after.backward > before.forward + before.backward);
    progress_end(&t->progress);
    rvm_machine_unbind(t->machine);
}

static void say_restored(tool *t, const pisa_state *p) {
    const bool back = pisa_is_back(p);
    t->restored = back ? RESTORED_YES : RESTORED_NO;
    snprintf(t->restored_text, sizeof t->restored_text, "%s",
             back ? "ran back to where it began: all registers and words are restored"
                  : "running back does not restore all registers and words");
}

rvm_status pisa_interpret(tool *t, pisa_state *p, bool backward) {
    const rvm_arg code = rvm_arg_array_i64(p->code, 2, (int64_t[]){p->source->n, COLUMNS});
    rvm_arg args[] = {cells(p->r, p->nr),        cells(p->memory, p->words), cells(p->output, p->words),
                      cells(p->waste, p->words), rvm_arg_i64(p->shown),      rvm_arg_i64(p->emitted),
                      rvm_arg_i64(p->pc),        rvm_arg_i64(p->br),         rvm_arg_i64(p->dir),
                      rvm_arg_i64(p->steps),     rvm_arg_i64(p->most),       code};
    int64_t *const scalars[] = {&p->shown, &p->emitted, &p->pc, &p->br, &p->dir, &p->steps};
    rvm_status st = run(t, args, sizeof args / sizeof *args, "pisa_run", backward);
    const bool began = st && rvm_machine_frames(t->machine);
    if (st) st = explain(t, p, st);
    if (st) run_back(t, backward);
    for (size_t k = 0; k < sizeof scalars / sizeof *scalars; k++) *scalars[k] = args[4 + k].value.i;
    if (began) say_restored(t, p);
    return st;
}

rvm_status pisa_run_translated(tool *t, pisa_state *p, bool backward) {
    rvm_arg args[PISA_REGISTERS + 6];
    const uint32_t used = pisa_used(p->source);
    uint32_t n = 0;
    for (int k = 0; k < PISA_REGISTERS; k++)
        if (used >> k & 1) args[n++] = rvm_arg_i64(p->r[k]);
    const uint32_t nregs = n;
    args[n++] = cells(p->memory, p->words);
    args[n++] = cells(p->output, p->words);
    args[n++] = cells(p->waste, p->words);
    args[n++] = rvm_arg_i64(p->shown);
    args[n++] = rvm_arg_i64(p->emitted);
    args[n++] = rvm_arg_i64(p->steps);
    const rvm_status st = run(t, args, n, "main", backward);
    if (st) rvm_machine_unbind(t->machine), t->err.line = t->err.column = 0; /* a line of the translation */
    n = 0;
    for (int k = 0; k < PISA_REGISTERS; k++)
        if (used >> k & 1) p->r[k] = args[n++].value.i;
    p->shown = args[nregs + 3].value.i, p->emitted = args[nregs + 4].value.i, p->steps = args[nregs + 5].value.i;
    return st;
}
